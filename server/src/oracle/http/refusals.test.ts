import { describe, expect, test } from "bun:test";
import { oracleBounds, oracleSymbols, oracleTierTerms, oracleV2TierTerms } from "@sluice/contract/oracle";
import { oracleTiers, oracleV2Tiers } from "@sluice/contract/tiers";
import { LedgerUnavailableError } from "../../ledger/index.ts";
import { oracleOfTest } from "../testing/oracle-of-test.ts";

const boot = oracleOfTest();

describe("400", () => {
  test("parameters outside their bounds, said twice or malformed are refused by name", async () => {
    const { get, addKey, say } = await boot();
    await say("BTC", "1");
    const key = addKey({ oracle: "ultra", "oracle-v2": "enterprise" });
    const wrong: readonly (readonly [string, string])[] = [
      ["/api/v1/prices", "symbols"],
      ["/api/v1/prices?symbols=", "symbols"],
      ["/api/v1/prices?symbols=BTC,,ETH", "symbols"],
      ["/api/v1/prices?symbols=BTC&symbols=ETH", "symbols"],
      ["/api/v1/price/BTC/history?hours=0", "hours"],
      ["/api/v1/price/BTC/history?hours=169", "hours"],
      ["/api/v1/price/BTC/history?hours=1.5", "hours"],
      ["/api/v1/price/BTC/history?hours=abc", "hours"],
      ["/api/v1/price/BTC/history?hours=-1", "hours"],
      ["/api/v1/price/BTC/history?limit=0", "limit"],
      ["/api/v1/price/BTC/history?limit=1001", "limit"],
      ["/api/v1/price/BTC/history?limit=", "limit"],
    ];
    for (const [path, parameter] of wrong) {
      const { status, body } = await get(path, key);
      expect([path, status, body.error, body.details.parameter]).toEqual([path, 400, "INVALID_PARAMETER", parameter]);
    }
    for (const [path, parameter] of [
      ["/v1/prices/BTC-USD/history?period=2h", "period"],
      ["/v1/prices/BTC-USD/history?period=toString", "period"],
      ["/v1/prices/BTC-USD/ohlcv?interval=1w", "interval"],
      ["/v1/prices/BTC-USD/ohlcv?limit=9999999", "limit"],
      ["/v1/prices/batch", "symbols"],
    ]) {
      const { status, body } = await get(path ?? "", key);
      expect([path, status, body.error?.code, body.error?.details.parameter]).toEqual([
        path,
        400,
        "INVALID_PARAMETER",
        parameter,
      ]);
    }
  });

  test("a path that is no percent-encoded UTF-8 is refused by the name of its parameter, in the form of its variant", async () => {
    const { get, addKey } = await boot();
    const key = addKey({ oracle: "ultra", "oracle-v2": "enterprise" });
    const details = { expected: "percent-encoded UTF-8" };
    for (const [path, parameter] of [
      ["/api/v1/price/%ZZ", "symbol"],
      ["/api/v1/price/%ff/history", "symbol"],
      ["/api/v1/resources/tiers/%C4", "tier"],
    ] as const) {
      const { status, body } = await get(path, key);
      expect([path, status, body.error, body.details]).toEqual([
        path,
        400,
        "INVALID_PARAMETER",
        { parameter, ...details },
      ]);
    }
    const { status, body } = await get("/v1/prices/%", key);
    expect([status, body.error.code, body.error.details]).toEqual([
      400,
      "INVALID_PARAMETER",
      { parameter: "symbol", ...details },
    ]);
  });

  test("50 symbols are answered and 51 are too many, named twice or not", async () => {
    const { get, addKey, say } = await boot();
    await say("BTC", "1");
    const key = addKey({ oracle: "ultra" });
    const list = (count: number): string => Array.from({ length: count }, () => "BTC").join(",");
    expect((await get(`/api/v1/prices?symbols=${list(oracleBounds.symbolsMax)}`, key)).body.count).toBe(1);
    const { status, body } = await get(`/api/v1/prices?symbols=${list(oracleBounds.symbolsMax + 1)}`, key);
    expect([status, body.error]).toEqual([400, "TOO_MANY_SYMBOLS"]);
  });
});

describe("letters of a symbol", () => {
  test("only those of ASCII have two cases: what would become ASCII in upper case names no symbol", async () => {
    const { get, say, addKey } = await boot();
    for (const symbol of ["UNI", "USDT"]) await say(symbol, "1");
    const key = addKey({ oracle: "ultra", "oracle-v2": "enterprise" });
    for (const path of ["/api/v1/price/uNi", "/v1/prices/usdt-Usd"]) expect((await get(path, key)).status).toBe(200);
    for (const path of ["/api/v1/price/un%C4%B1", "/api/v1/price/u%C5%BFdt", "/v1/prices/u%C5%BFdt-USD"]) {
      expect([path, (await get(path, key)).status]).toEqual([path, 404]);
    }
  });

  test("what is repeated of a caller's text ends with a whole character", async () => {
    const { get, addKey } = await boot();
    const long = `${"A".repeat(31)}${"\u{1f600}".repeat(3)}`;
    const { body, text } = await get(`/api/v1/price/${encodeURIComponent(long)}`, addKey({ oracle: "ultra" }));
    expect(body.details.symbol).toBe(`${"A".repeat(31)}\u{1f600}`);
    expect(text.isWellFormed()).toBe(true);
  });
});

describe("401", () => {
  test("no key and a wrong key are distinguished, in the form of each variant", async () => {
    const { get, counts } = await boot();
    const none = await get("/api/v1/price/BTC");
    expect([none.status, none.body.error]).toEqual([401, "MISSING_API_KEY"]);
    expect(Object.keys(none.body)).toEqual(["success", "error", "message", "details", "timestamp"]);
    expect(none.body.success).toBe(false);
    expect(none.headers.get("www-authenticate")).toContain("Bearer");
    const wrong = await get("/v1/prices/all", "sk_dev_wrong");
    expect(wrong.status).toBe(401);
    expect(Object.keys(wrong.body)).toEqual(["error", "timestamp"]);
    expect(Object.keys(wrong.body.error)).toEqual(["code", "message", "details"]);
    expect(wrong.body.error.code).toBe("INVALID_API_KEY");
    expect(counts.get("refused")).toBe(2);
  });

  test("every known path needs a key, the resources too", async () => {
    const { get } = await boot();
    for (const path of ["/api/v1/resources/pricing", "/resources/guides", "/api/v1/metrics", "/v1/auth/validate"]) {
      expect((await get(path)).status).toBe(401);
    }
  });
});

describe("403", () => {
  test("history beyond the tier's retention is refused, up to it answered", async () => {
    const { get, addKey } = await boot();
    const community = addKey({}, "acct_old");
    const professional = addKey({ oracle: "professional", "oracle-v2": "professional" });
    expect((await get("/api/v1/price/BTC/history?hours=24", community)).status).toBe(200);
    const { status, body } = await get("/api/v1/price/BTC/history?hours=25", community);
    expect([status, body.error, body.details.history_retention_days]).toEqual([403, "INSUFFICIENT_TIER", 1]);
    expect((await get("/api/v1/price/BTC/history?hours=168", professional)).status).toBe(200);
    expect((await get("/v1/prices/BTC-USD/history?period=7d", community)).body.error.code).toBe("INSUFFICIENT_TIER");
    expect((await get("/v1/prices/BTC-USD/ohlcv?interval=1h", community)).status).toBe(200);
    expect((await get("/v1/prices/BTC-USD/ohlcv?interval=1h&limit=25", community)).status).toBe(403);
    expect((await get("/v1/prices/BTC-USD/ohlcv?interval=1d&limit=181", professional)).status).toBe(403);
    expect((await get("/v1/prices/BTC-USD/ohlcv?interval=1d&limit=180", professional)).status).toBe(200);
  });

  test("candles that begin before what is kept are answered, and say from when on all of them are", async () => {
    const keptSince = Date.UTC(2026, 10, 21, 12) - 731 * 86_400_000;
    const { get, addKey } = await boot({ candlesKeptSince: () => keptSince });
    const key = addKey({ oracle: "enterprise", "oracle-v2": "enterprise" });
    for (const [limit, since] of [
      [732, new Date(keptSince).toISOString()],
      [731, null],
    ] as const) {
      const { status, headers } = await get(`/v1/prices/BTC-USD/ohlcv?interval=1d&limit=${limit}`, key);
      expect([status, headers.get("x-data-since")]).toEqual([200, since]);
    }
  });

  test("a key without permission to read, or used from where it may not be, is refused", async () => {
    const { get, addKey, restrict } = await boot();
    const { status, body } = await get("/api/v1/price/BTC", addKey({}, "acct_w", ["webhooks:write"]));
    expect([status, body.error]).toEqual([403, "PERMISSION_DENIED"]);
    restrict("IP_NOT_ALLOWED");
    expect((await get("/api/v1/price/BTC", addKey())).body.details.reason).toBe("IP_NOT_ALLOWED");
  });
});

describe("404", () => {
  test("an unsupported symbol names itself and the supported ones, and repeats no long text", async () => {
    const { get, addKey } = await boot();
    const key = addKey({ oracle: "ultra", "oracle-v2": "enterprise" });
    const { status, body } = await get("/api/v1/price/DOGE", key);
    expect([status, body.error, body.details]).toEqual([
      404,
      "INVALID_SYMBOL",
      { symbol: "DOGE", supported: [...oracleSymbols] },
    ]);
    expect((await get(`/api/v1/price/${"x".repeat(5_000)}`, key)).text.length).toBeLessThan(500);
    expect((await get("/v1/prices/BTC", key)).body.error.code).toBe("INVALID_SYMBOL");
    expect((await get("/api/v1/price/BTC-USD", key)).body.error).toBe("INVALID_SYMBOL");
    expect((await get("/api/v1/prices?symbols=BTC,DOGE", key)).status).toBe(404);
  });

  test("an unknown path has the form of its variant and needs no key", async () => {
    const { get } = await boot();
    for (const path of ["/", "/api/v1", "/api/v1/price", "/api/v1/price/", "/api/v1/prices/", "/api/v1/price/BTC/x"]) {
      expect([path, (await get(path)).status, (await get(path)).body.error]).toEqual([path, 404, "NOT_FOUND"]);
    }
    for (const path of ["/v1", "/v1/nothing", "/v1/prices", "/v1/prices/a/b/c"]) {
      expect([path, (await get(path)).body.error.code]).toEqual([path, "NOT_FOUND"]);
    }
  });
});

describe("429", () => {
  test("each tier of each variant gives exactly its burst at once and its rate after that, and says so", async () => {
    const { get, addKey, say, clock } = await boot();
    await say("BTC", "1");
    const cases = [
      ...oracleTiers.map((tier) => ({
        key: addKey({ oracle: tier }),
        path: "/api/v1/price/BTC",
        terms: oracleTierTerms[tier],
        unitMs: 1_000,
      })),
      ...oracleV2Tiers.map((tier) => ({
        key: addKey({ "oracle-v2": tier }),
        path: "/v1/prices/BTC-USD",
        terms: oracleV2TierTerms[tier],
        unitMs: 60_000,
      })),
    ];
    for (const { key, path, terms, unitMs } of cases) {
      const burst = async (held: number): Promise<number> => {
        let answered = 0;
        for (;;) {
          const { status, headers, body } = await get(path, key);
          expect(headers.get("x-ratelimit-limit")).toBe(String(terms.rate));
          expect(headers.get("x-ratelimit-burst")).toBe(String(terms.burst));
          if (status === 200) {
            answered += 1;
            expect(headers.get("x-ratelimit-remaining")).toBe(String(held - answered));
            continue;
          }
          expect(status).toBe(429);
          expect(body.error.code ?? body.error).toBe("RATE_LIMIT_EXCEEDED");
          expect(Number(headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
          expect(headers.get("x-ratelimit-remaining")).toBe("0");
          expect(Number(headers.get("x-ratelimit-reset"))).toBeGreaterThan(clock.now() / 1_000);
          return answered;
        }
      };
      expect([terms.name, await burst(terms.burst)]).toEqual([terms.name, terms.burst]);
      clock.advance(unitMs);
      await say("BTC", "1");
      const refilled = Math.min(terms.rate, terms.burst);
      expect([terms.name, await burst(refilled)]).toEqual([terms.name, refilled]);
    }
  }, 20_000);

  test("both keys of an account share its rate, and the variants do not", async () => {
    const { get, addKey, say } = await boot();
    await say("BTC", "1");
    const [first, second] = [addKey({}, "acct_same"), addKey({}, "acct_same")];
    expect((await get("/api/v1/price/BTC", first)).status).toBe(200);
    expect((await get("/api/v1/price/BTC", second)).status).toBe(200);
    expect((await get("/api/v1/price/BTC", first)).status).toBe(429);
    expect((await get("/v1/prices/BTC-USD", first)).status).toBe(200);
  });
});

describe("500 and 503", () => {
  test("a symbol without a price reports how old the last good one is, and when to ask again", async () => {
    const { get, addKey, say, clock } = await boot();
    const key = addKey({ oracle: "enterprise" });
    const starting = await get("/api/v1/price/SOL", key);
    expect([starting.status, starting.body.error, starting.body.details.reason]).toEqual([
      503,
      "PRICE_UNAVAILABLE",
      "starting",
    ]);
    await say("SOL", "150");
    expect((await get("/api/v1/price/SOL", key)).status).toBe(200);
    const goodAt = clock.now();
    clock.advance(75_000);
    const { status, body, headers } = await get("/api/v1/price/SOL", key);
    expect(status).toBe(503);
    expect(body.details).toMatchObject({
      symbol: "SOL",
      last_price_at: new Date(goodAt).toISOString(),
      last_price_age_seconds: 75,
    });
    expect(body.details).not.toHaveProperty("price");
    expect(Number(headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    await say("SOL", "150");
    expect((await get("/api/v1/price/SOL", key)).status).toBe(200);
  });

  test("an internal error shows none of its text; a ledger that is away is temporary; neither costs a request", async () => {
    let fault: Error = new Error("secret");
    const ledger = {
      insert: async () => undefined,
      query: async () => {
        throw fault;
      },
    };
    const { get, addKey, faults } = await boot({ ledger });
    const key = addKey({ "oracle-v2": "enterprise" });
    const { status, text, body } = await get("/v1/prices/BTC-USD/history", key);
    expect([status, body.error.code]).toEqual([500, "INTERNAL_ERROR"]);
    expect(text).not.toContain("secret");
    expect(faults.length).toBeGreaterThan(0);
    fault = new LedgerUnavailableError("away");
    const away = await get("/v1/prices/BTC-USD/ohlcv", key);
    expect([away.status, away.body.error.code, away.headers.get("retry-after")]).toEqual([
      503,
      "SERVICE_UNAVAILABLE",
      "1",
    ]);
    expect((await get("/v1/auth/validate", key)).body.usage.requests).toBe(0);
  });
});
