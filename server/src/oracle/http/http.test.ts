import { afterEach, describe, expect, test } from "bun:test";
import {
  oracleBounds,
  oracleErrorTable,
  oraclePaths,
  oracleSymbols,
  oracleTiers,
  oracleTierTerms,
  oracleV2Tiers,
  oracleV2TierTerms,
} from "@sluice/contract";
import { LedgerUnavailableError } from "../../ledger/index.ts";
import { type BootOptions, bootOracle } from "../testing/booted-oracle.ts";

type Booted = Awaited<ReturnType<typeof bootOracle>>;
let open: Booted | null = null;
const boot = async (options?: BootOptions): Promise<Booted> => {
  open = await bootOracle(options);
  return open;
};
afterEach(async () => {
  await open?.dispose();
  open = null;
});

describe("200", () => {
  test("a price record has the document's members in their types, and the price to its last digit", async () => {
    const { get, say, addKey, clock } = await boot();
    await say("BTC", "65000.123456789012345678");
    const { status, body, text, headers } = await get("/api/v1/price/BTC", addKey());
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual([
      "success",
      "symbol",
      "price",
      "confidence",
      "volume24h",
      "change24h",
      "high24h",
      "low24h",
      "sources",
      "timestamp",
      "source",
    ]);
    expect(text).toContain('"price":65000.123456789012345678,');
    expect(body).toMatchObject({ success: true, symbol: "BTC", change24h: null, sources: expect.any(Array) });
    expect(body.sources).toEqual(["Bitstamp", "Coinbase Exchange", "Kraken"]);
    expect(body.confidence).toBeGreaterThan(0);
    expect(body.confidence).toBeLessThanOrEqual(100);
    expect(body.timestamp).toBe(new Date(clock.now()).toISOString());
    for (const name of ["volume24h", "high24h", "low24h"]) expect(typeof body[name]).toBe("number");
    expect(headers.get("x-request-id")).toMatch(/^req_/);
    expect(headers.get("content-type")).toBe("application/json");
    expect(headers.get("access-control-allow-origin")).toBe("*");
  });

  test("the second variant's record has its own members", async () => {
    const { get, say, addKey } = await boot();
    await say("ETH", "3000.5");
    const { body, text } = await get("/v1/prices/ETH-USD", addKey());
    expect(Object.keys(body)).toEqual([
      "symbol",
      "price",
      "confidence",
      "timestamp",
      "sources",
      "change_24h",
      "volume_24h",
    ]);
    expect(text).toContain('"price":3000.5,');
    expect(body).toMatchObject({ symbol: "ETH-USD", sources: 3 });
  });

  test("several prices come in the order asked for, each once, in any letter case, and missing ones are named", async () => {
    const { get, say, addKey } = await boot();
    await say("BTC", "65000");
    await say("ETH", "3000");
    const key = addKey({ oracle: "enterprise" });
    const { body } = await get("/api/v1/prices?symbols=eth,%20BTC,Eth,sol", key);
    expect(body).toMatchObject({ success: true, count: 2 });
    expect(body.prices.map((price: { symbol: string }) => price.symbol)).toEqual(["ETH", "BTC"]);
    expect(body.unavailable).toMatchObject([{ symbol: "SOL", reason: "starting", last_price_age_seconds: null }]);
    const batch = await get("/v1/prices/batch?symbols=BTC-USD,ETH-usd", key);
    expect(batch.body.data.map((price: { symbol: string }) => price.symbol)).toEqual(["BTC-USD", "ETH-USD"]);
    expect(batch.body.unavailable).toBeUndefined();
    const all = await get("/v1/prices/all", key);
    expect(all.body.data).toHaveLength(2);
    expect(all.body.unavailable).toHaveLength(oracleSymbols.length - 2);
  });

  test("sources, their statistics and metrics have the document's members", async () => {
    const { get, say, addKey, clock } = await boot();
    await say("BTC", "65000");
    clock.advance(5_000);
    const key = addKey({ oracle: "enterprise" });
    const list = (await get("/api/v1/data-sources", key)).body;
    expect(list).toMatchObject({ success: true, count: 3 });
    expect(list.sources[0]).toEqual({
      id: "binance",
      name: "Binance",
      provider: "Binance",
      category: "cex",
      type: "api",
      enabled: true,
      status: "active",
      stats: { totalKeys: 0, activeKeys: 0, avgUptime24h: 100, avgResponseTime: 12.5 },
    });
    const stats = (await get("/api/v1/data-sources/stats", key)).body;
    expect(stats).toMatchObject({
      success: true,
      totalSources: 3,
      activeSources: 1,
      operationalSources: 2,
      totalApiKeys: 0,
      activeApiKeys: 0,
      totalRequests24h: 150,
      avgSuccessRate: 98,
      activeFeeds: 1,
    });
    expect(stats.avgConfidence).toBeGreaterThan(0);
    const metrics = (await get("/api/v1/metrics", key)).body;
    expect(Object.keys(metrics)).toEqual(["uptime", "timestamp", "system"]);
    expect(Object.keys(metrics.system)).toEqual([
      "activeFeeds",
      "totalSources",
      "systemHealth",
      "averageLatency",
      "requestRate",
      "errorRate",
    ]);
    expect(metrics).toMatchObject({ uptime: 5, system: { activeFeeds: 1, totalSources: 3, systemHealth: 6.67 } });
  });

  test("the market's summary counts what rose and fell; movers are sorted by their change", async () => {
    const { get, addKey, feed, clock } = await boot();
    const { tick } = await import("../testing/rounds.ts");
    const { decimal } = await import("../decimal.ts");
    const changes = { BTC: "110", ETH: "90", SOL: "150", ADA: "100", DOT: "99", UNI: "101" };
    for (const [symbol, price] of Object.entries(changes)) {
      for (const source of ["coinbase", "kraken", "bitstamp"] as const) {
        const plain = tick(source, symbol, clock.now(), decimal(price));
        feed.play({ ...plain, open24h: decimal("100"), baseVolume24h: decimal("2") });
      }
    }
    await new Promise((resolve) => setImmediate(resolve));
    const key = addKey({ "oracle-v2": "enterprise" });
    const { data } = (await get("/v1/market/summary", key)).body;
    expect(data).toMatchObject({ symbols: 6, gainers: 3, losers: 2 });
    expect(data.total_volume_24h).toBeGreaterThan(0);
    expect(data.updated).toBe(new Date(clock.now()).toISOString());
    const movers = (await get("/v1/market/movers", key)).body;
    expect(movers.data.gainers.map((record: { symbol: string }) => record.symbol)).toEqual([
      "SOL-USD",
      "BTC-USD",
      "UNI-USD",
    ]);
    expect(movers.data.losers.map((record: { symbol: string }) => record.symbol)).toEqual(["ETH-USD", "DOT-USD"]);
  });

  test("validation tells plan, limits and the month's usage, and costs none of it", async () => {
    const { get, say, addKey } = await boot();
    await say("BTC", "65000");
    const key = addKey({ "oracle-v2": "developer" });
    await get("/v1/prices/BTC-USD", key);
    const { body } = await get("/v1/auth/validate", key);
    expect(body).toEqual({
      valid: true,
      plan: "developer",
      limits: {
        requests_per_minute: 60,
        burst: 60,
        requests_per_month: 10_000,
        update_frequency_seconds: 30,
        history_retention_days: 90,
      },
      usage: { month: "2026-11", requests: 1, remaining: 9_999 },
    });
    expect((await get("/v1/auth/validate", key)).body.usage.requests).toBe(1);
  });

  test("HEAD answers as GET does, without the body", async () => {
    const { get, say, addKey } = await boot();
    await say("BTC", "65000");
    const key = addKey({ oracle: "enterprise" });
    const full = await get("/api/v1/price/BTC", key);
    const head = await get("/api/v1/price/BTC", key, { method: "HEAD" });
    expect([head.status, head.text]).toEqual([200, ""]);
    expect(head.headers.get("content-length")).toBe(String(full.text.length));
  });

  test("a tier is served a price no fresher than its update frequency, the highest the newest", async () => {
    const { get, say, addKey, clock } = await boot({ startMs: Date.UTC(2026, 10, 21, 12, 0, 1) });
    const keys = new Map(oracleTiers.map((tier) => [tier, addKey({ oracle: tier })]));
    const seen = new Map<string, Set<string>>();
    for (let second = 0; second < 240; second += 1) {
      await say("BTC", String(65_000 + second));
      for (const [tier, key] of keys) {
        if (tier === "community" && second % 2 === 1) continue;
        const { body } = await get("/api/v1/price/BTC", key);
        const ageMs = clock.now() - Date.parse(body.timestamp);
        expect(ageMs).toBeLessThanOrEqual(oracleTierTerms[tier].updateFrequencySeconds * 1_000 + 1_000);
        seen.set(tier, (seen.get(tier) ?? new Set()).add(body.timestamp));
      }
      clock.advance(1_000);
    }
    expect(oracleTiers.map((tier) => seen.get(tier)?.size)).toEqual([4, 9, 17, 240, 240]);
  });
});

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

describe("401", () => {
  test("no key and a wrong key are told apart, in the form of each variant", async () => {
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
    for (const path of [
      "/",
      "/api/v1",
      "/api/v1/price",
      "/api/v1/price/",
      "/api/v1/prices/",
      "/api/v1/price/BTC/x",
      "/api/v1/price/%ff",
    ]) {
      expect([path, (await get(path)).status, (await get(path)).body.error]).toEqual([path, 404, "NOT_FOUND"]);
    }
    for (const path of ["/v1", "/v1/nothing", "/v1/prices", "/v1/prices/a/b/c"]) {
      expect([path, (await get(path)).body.error.code]).toEqual([path, "NOT_FOUND"]);
    }
  });
});

describe("405 and preflight", () => {
  test("other methods on a known path name those it takes", async () => {
    const { get, addKey } = await boot();
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
      const { status, headers, body } = await get("/api/v1/price/BTC", addKey(), { method });
      expect([status, headers.get("allow"), body.error]).toEqual([405, "GET, HEAD", "METHOD_NOT_ALLOWED"]);
    }
  });

  test("OPTIONS is answered without a key for any origin", async () => {
    const { get } = await boot();
    const { status, headers } = await get("/v1/prices/all", null, {
      method: "OPTIONS",
      headers: { origin: "https://example.com", "access-control-request-headers": "authorization" },
    });
    expect(status).toBe(204);
    expect(headers.get("access-control-allow-origin")).toBe("*");
    expect(headers.get("access-control-allow-headers")).toBe("authorization");
    expect(headers.get("access-control-allow-methods")).toBe("GET, HEAD, OPTIONS");
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
  test("a symbol without a price tells how old the last good one is, and when to ask again", async () => {
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

  test("a fault of ours shows nothing of itself; a ledger that is away is temporary; neither costs a request", async () => {
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

describe("every answer", () => {
  test("tells of the deprecation, of the end and of the successor where they are known", async () => {
    const plain = await boot();
    const first = await plain.get("/api/v1/price/BTC");
    expect(first.headers.get("deprecation")).toBe(`@${Date.UTC(2026, 0, 1) / 1_000}`);
    expect(first.headers.has("sunset")).toBe(false);
    await plain.dispose();
    const { get } = await boot({ sunsetMs: Date.UTC(2027, 5, 30), successorUrl: "https://example.com/next" });
    const { headers } = await get("/v1/prices/all");
    expect(headers.get("sunset")).toBe("Wed, 30 Jun 2027 00:00:00 GMT");
    expect(headers.get("link")).toBe('<https://example.com/next>; rel="successor-version"');
    const exposed = headers.get("access-control-expose-headers")?.split(", ");
    expect(exposed).toEqual(expect.arrayContaining(["Deprecation", "Sunset", "Link", "Retry-After"]));
  });

  test("is counted under the pattern of its path, never under what a caller made up", async () => {
    const { get, addKey, served } = await boot();
    await get("/api/v1/price/DOGE", addKey());
    expect(served).toMatchObject([{ method: "/api/v1/price/:symbol", status: 404, accountId: "acct_1" }]);
  });
});

test("the routes are the paths of the contract's table, all of them and no other", async () => {
  const { get, addKey } = await boot();
  const key = addKey({ oracle: "ultra", "oracle-v2": "enterprise" });
  for (const path of oraclePaths) {
    const { status } = await get(path.replace(":symbol", "NONE").replace(":tier", "none"), key, { method: "DELETE" });
    expect([path, status]).toEqual([path, 405]);
  }
  expect((await get("/api/v1/ws", key)).status).toBe(426);
});

describe("resources", () => {
  test("show the limits that are enforced, tier by tier", async () => {
    const { get, addKey } = await boot();
    const key = addKey({ oracle: "ultra" });
    const { tiers } = (await get("/api/v1/resources/tiers", key)).body;
    const pricing = (await get("/api/v1/resources/pricing", key)).body;
    expect(tiers).toHaveLength(oracleTiers.length);
    for (const [index, tier] of oracleTiers.entries()) {
      const terms = oracleTierTerms[tier];
      const { body } = await get(`/api/v1/resources/tiers/${tier.toUpperCase()}`, key);
      expect(Object.keys(body)).toEqual([
        "name",
        "price_monthly_usd",
        "requests_per_month",
        "requests_per_second",
        "rate_limit_method",
        "support",
        "data_sources",
        "update_frequency_seconds",
        "history_retention_days",
        "websocket",
      ]);
      // What the door itself says of a request of this tier.
      const { headers } = await get("/api/v1/metrics", addKey({ oracle: tier }));
      expect(String(body.requests_per_second)).toBe(`${headers.get("x-ratelimit-limit")}`);
      expect(String(tiers[index].features.burst)).toBe(`${headers.get("x-ratelimit-burst")}`);
      expect(tiers[index]).toMatchObject({ tier, requests_per_month: terms.requestsMonthly });
      expect(pricing.tiers[index]).toMatchObject({ tier, price_monthly_usd: terms.priceMonthlyUsd });
    }
    expect((await get("/api/v1/resources/tiers/gold", key)).body.error).toBe("NOT_FOUND");
  });

  test("describe every path of the variant, each of which answers, and every error code", async () => {
    const { get, addKey, say } = await boot();
    await say("BTC", "1");
    const key = addKey({ oracle: "ultra" });
    const { endpoints, errors } = (await get("/api/v1/resources/api-docs", key)).body;
    const paths: string[] = endpoints.map((endpoint: { path: string }) => endpoint.path);
    expect(paths).toHaveLength(13);
    for (const path of paths) {
      const filled = path.replace(":symbol", "BTC").replace(":tier", "ultra");
      const query = path.endsWith("/prices") ? "?symbols=BTC" : "";
      expect([path, (await get(filled + query, key)).status]).toEqual([path, 200]);
    }
    expect(errors.map((error: { code: string }) => error.code)).toEqual(Object.keys(oracleErrorTable));
  });
});
