import { describe, expect, test } from "bun:test";
import { explainedRecords } from "@sluice/contract/pool";
import * as schemas from "@sluice/contract/schemas";
import type { Address } from "@sluice/wire/identifiers";
import { EngineChainError } from "../engine/index.ts";
import { LedgerUnavailableError } from "../ledger/index.ts";
import { noBundles, PoolStand } from "./testing/pool-stand.ts";

const day = 86_400_000;
const wallet = "2zW829aYk62MujHhVsbi9WtoZCUUtx1Y93Uzc43gjamf";
const shapes = {
  "/pool": schemas.poolRecord,
  [`/position/${wallet}`]: schemas.positionRecord,
  "/validators": schemas.validatorRecords,
  "/overview/1h": schemas.overviewRecord,
  "/overview/24h": schemas.overviewRecord,
  "/overview/7d": schemas.overviewRecord,
  "/overview/30d": schemas.overviewRecord,
  "/apy": schemas.apyRecord,
  "/exchange-rate": schemas.exchangeRateRecord,
  "/mev/breakdown": schemas.mevBreakdown,
  "/charts/tvl": schemas.chartPoints,
  "/charts/apy?period=all": schemas.chartPoints,
  "/dashboard": schemas.dashboardRecord,
  "/pnl": schemas.pnlRecord,
};

describe("where there is no pool and no bundle", () => {
  test("every path answers its record with numbers and no member more", async () => {
    const stand = new PoolStand();
    for (const [path, schema] of Object.entries(shapes)) {
      const { status, body, headers } = await stand.ask(path);
      expect([path, status, headers.get("content-type")]).toEqual([path, 200, "application/json"]);
      expect(schema.parse(body) as unknown).toEqual(body);
    }
    expect((await stand.ask("/pool")).body).toEqual({
      tvl: 0,
      exchangeRate: 0,
      apy: 0,
      validatorCount: 0,
      tokenSupply: 0,
      baseApy: 0,
      mevApy: 0,
    });
  });

  test("history begins now", async () => {
    const stand = new PoolStand();
    const now = new Date(stand.clock.now()).toISOString();
    const paths = ["/overview/24h", "/mev/breakdown", "/charts/tvl", "/dashboard", "/pnl"];
    for (const path of paths) expect((await stand.ask(path)).headers.get("x-data-since")).toBe(now);
    for (const path of ["/pool", "/validators"]) {
      expect((await stand.ask(path)).headers.get("x-data-since")).toBeNull();
    }
  });
});

describe("who may read", () => {
  test("a key is needed, must be known, and must hold `read`", async () => {
    const stand = new PoolStand();
    for (const path of Object.keys(shapes)) {
      const missing = await stand.ask(path, { key: "" });
      expect([missing.status, missing.body.code]).toEqual([401, "MISSING_API_KEY"]);
      const unknown = await stand.ask(path, { key: "bad" });
      expect([unknown.status, unknown.body.code]).toEqual([403, "INVALID_API_KEY"]);
    }
    stand.permissions = ["bundles:write"];
    expect((await stand.ask("/pool")).body.code).toBe("PERMISSION_DENIED");
  });

  test("each address has the rate of the port, whatever it asks for", async () => {
    const stand = new PoolStand();
    await stand.ask("/pool");
    await stand.ask("/charts/nothing", { key: "" });
    expect(stand.buckets).toEqual(["engine-address:10.0.0.1 100", "engine-address:10.0.0.1 100"]);
    stand.spent = true;
    const refused = await stand.ask("/apy");
    expect([refused.status, refused.body.code, refused.headers.get("retry-after")]).toEqual([
      429,
      "RATE_LIMIT_EXCEEDED",
      "3",
    ]);
    expect(stand.answered.at(-1)).toEqual(["*", 429]);
  });

  test("profits are of the key's account, and of everybody for who may do everything", async () => {
    const stand = new PoolStand();
    await stand.ask("/pnl?strategy=jit&period=7d");
    await stand.ask("/pnl?strategy=jit&period=7d", { key: "admin" });
    const asked = stand.asked.filter((question) => typeof question === "object");
    expect(asked).toEqual([
      expect.objectContaining({ accountId: "account", mevType: "jit", network: "devnet" }),
      expect.objectContaining({ accountId: null, mevType: "jit" }),
    ]);
    const [own] = asked as { fromMs: number; untilMs: number }[];
    expect((own?.untilMs ?? 0) - (own?.fromMs ?? 0)).toBe(7 * day + 1);
  });
});

describe("what is asked wrongly", () => {
  test("is refused with the parameter and what it may be", async () => {
    const stand = new PoolStand();
    const wrong: Readonly<Record<string, string>> = {
      "/position/nobody": "wallet",
      "/overview/2h": "period",
      "/charts/tvl?period=1h": "period",
      "/charts/apy?period=": "period",
      "/pnl?period=1y": "period",
      "/pnl?strategy=other": "strategy",
    };
    for (const [path, parameter] of Object.entries(wrong)) {
      const { status, body } = await stand.ask(path);
      expect([path, status, body.code]).toEqual([path, 400, "INVALID_INPUT"]);
      expect(body.errors).toEqual([{ path: parameter, message: expect.stringContaining("must be") }]);
    }
  });

  test("another method and an unknown path have their own statuses", async () => {
    const stand = new PoolStand();
    const posted = await stand.ask("/pool", { method: "POST" });
    expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    expect((await stand.ask("/charts/fees")).status).toBe(404);
    expect((await stand.ask("/overview")).status).toBe(404);
  });

  test("paths of bundles belong to the engine", () => {
    const stand = new PoolStand();
    const others = ["/api/v1/status", "/api/v1/bundles/x", "/api/v1/poolside", "/pool", "/api/v2/pool", "/api/v1/"];
    expect(others.filter((path) => stand.serves(path))).toEqual([]);
    expect(stand.serves("/api/v1/pool?x=1")).toBe(true);
  });
});

describe("explanations", () => {
  const records: Readonly<Record<string, string>> = {
    pool: "",
    position: `&wallet=${wallet}`,
    validators: "",
    overview: "&period=7d",
    apy: "",
    "exchange-rate": "",
    "mev/breakdown": "",
    "charts/tvl": "&period=all",
    "charts/apy": "",
    dashboard: "",
    pnl: "&strategy=jit&period=1h",
  };

  test("each record has one, by its path, also where there is no pool and no bundle", async () => {
    const stand = new PoolStand();
    expect(Object.keys(records)).toEqual([...explainedRecords]);
    for (const [record, query] of Object.entries(records)) {
      const { status, body } = await stand.ask(`/explain?record=${encodeURIComponent(record)}${query}`);
      expect([record, status, body.record]).toEqual([record, 200, record]);
      expect(schemas.explanationRecord.parse(body) as unknown).toEqual(body);
      expect(body.steps.length).toBeGreaterThan(0);
      expect(body.steps.join()).not.toMatch(/undefined|NaN/);
    }
  });

  test("say from when the record has all that there is, and are of the key's own account", async () => {
    const stand = new PoolStand();
    const explained = await stand.ask("/explain?record=overview");
    expect(explained.headers.get("x-data-since")).toBe(new Date(stand.clock.now()).toISOString());
    expect((await stand.ask("/explain?record=pool")).headers.get("x-data-since")).toBeNull();
    await stand.ask("/explain?record=pnl&strategy=jit");
    await stand.ask("/explain?record=pnl&strategy=jit", { key: "admin" });
    const asked = stand.asked.filter((question) => typeof question === "object" && "accountId" in (question ?? {}));
    expect(asked.map((question) => (question as { accountId: string | null }).accountId)).toEqual([
      "account",
      "account",
      null,
      null,
    ]);
  });

  test("what is asked wrongly is refused with the parameter, and no key gets none", async () => {
    const stand = new PoolStand();
    const wrong: Readonly<Record<string, string>> = {
      "": "record",
      "?record=mev": "record",
      "?record=position": "wallet",
      "?record=position&wallet=nobody": "wallet",
      "?record=overview&period=90d": "period",
      "?record=charts/tvl&period=1h": "period",
      "?record=pnl&strategy=other": "strategy",
    };
    for (const [query, parameter] of Object.entries(wrong)) {
      const { status, body } = await stand.ask(`/explain${query}`);
      expect([query, status, body.code]).toEqual([query, 400, "INVALID_INPUT"]);
      expect(body.errors).toEqual([{ path: parameter, message: expect.stringContaining("must be") }]);
    }
    expect((await stand.ask("/explain?record=pool", { key: "" })).status).toBe(401);
  });
});

describe("figures of bundles", () => {
  test("are what the ledger says, tips of overviews in lamports and all else in native tokens", async () => {
    const stand = new PoolStand();
    stand.firstAtMs = stand.clock.now() - 3 * day;
    stand.figures = { ...noBundles, ended: 3, landed: 2, tips: 3_000_000_001n };
    stand.byType = [
      { ...stand.figures, mevType: "unknown", landed: 1, tips: 1n },
      { ...stand.figures, mevType: "arbitrage", landed: 1, tips: 3n },
    ];
    const week = await stand.ask("/overview/7d");
    expect(week.body).toEqual({
      period: "7d",
      total_tips_earned: 3_000_000_001,
      total_bundles_landed: 2,
      avg_tip_per_bundle: 1_500_000_001,
      landing_rate: 0.666667,
    });
    expect(week.headers.get("x-data-since")).toBe(new Date(stand.firstAtMs).toISOString());
    // All of the day is known.
    expect((await stand.ask("/overview/24h")).headers.get("x-data-since")).toBeNull();
    expect((await stand.ask("/mev/breakdown")).body).toEqual([
      { type: "Sandwich", bundles: 0, revenue: 0, percentage: 0 },
      { type: "Arbitrage", bundles: 1, revenue: 0.000000003, percentage: 75 },
      { type: "Liquidation", bundles: 0, revenue: 0, percentage: 0 },
      { type: "JIT", bundles: 0, revenue: 0, percentage: 0 },
      { type: "Other", bundles: 1, revenue: 0.000000001, percentage: 25 },
    ]);
    expect((await stand.ask("/dashboard")).body).toMatchObject({
      bundlesLanded24h: 2,
      bundlesTotal: 2,
      landingRate: 0.666667,
      mevRevenue24h: 3.000000001,
    });
    stand.balances = { bundles: 2n, gained: -500_000_001n, fees: 10_000n, tips: 3_000_000_001n };
    const pnl = await stand.ask("/pnl?strategy=arbitrage&period=1h");
    expect(pnl.text).toBe(
      '{"strategy":"arbitrage","period":"1h","totalRevenue":2.50001,"totalCost":3.000010001,' +
        '"netProfit":-0.500000001,"bundleCount":2,"avgProfitPerBundle":-0.250000001}',
    );
  });

  test("are asked of the ledger once for many callers, and again after some seconds", async () => {
    const stand = new PoolStand();
    for (let call = 0; call < 5; call += 1) await stand.ask("/overview/1h");
    expect(stand.asked).toHaveLength(2);
    stand.clock.advance(6_000);
    await stand.ask("/overview/1h");
    await stand.ask("/overview/1h");
    expect(stand.asked).toHaveLength(4);
  });
});

describe("while something does not answer", () => {
  test("a node or the ledger that is away is 503, and recorded for the account", async () => {
    const stand = new PoolStand(wallet as Address);
    stand.chain = () => Promise.reject(new EngineChainError("secret address", null));
    const pool = await stand.ask("/pool");
    expect([pool.status, pool.body.code, pool.headers.get("retry-after")]).toEqual([503, "UNAVAILABLE", "1"]);
    expect(pool.text).not.toContain("secret");
    stand.ledgerError = new LedgerUnavailableError("away");
    expect((await stand.ask("/overview/1h")).status).toBe(503);
    expect(stand.facts.map(({ accountId, method, code }) => [accountId, method, code])).toEqual([
      ["account", "/api/v1/pool", "UNAVAILABLE"],
      ["account", "/api/v1/overview/:period", "UNAVAILABLE"],
    ]);
  });

  test("a defect shows a request id and nothing else", async () => {
    const stand = new PoolStand();
    stand.ledgerError = new TypeError("secret defect");
    const { status, body, text } = await stand.ask("/mev/breakdown");
    expect([status, body.code, body.instance]).toEqual([500, "INTERNAL_ERROR", "req_1"]);
    expect(text).not.toContain("secret");
  });
});
