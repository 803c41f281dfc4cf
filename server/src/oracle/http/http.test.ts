import { describe, expect, test } from "bun:test";
import { oraclePaths, oracleSymbols, oracleTierTerms } from "@sluice/contract/oracle";
import { oracleTiers } from "@sluice/contract/tiers";
import { decimal } from "../model/decimal.ts";
import { oracleOfTest } from "../testing/oracle-of-test.ts";
import { tick } from "../testing/rounds.ts";

const boot = oracleOfTest();

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

  test("a volume of which no source says anything is null, as of a symbol that only the chain prices", async () => {
    const { get, feed, addKey, clock } = await boot();
    feed.play({ ...tick("chain", "XNT", clock.now(), decimal("0.5")), baseVolume24h: null });
    await new Promise((resolve) => setImmediate(resolve));
    const key = addKey({ oracle: "ultra", "oracle-v2": "enterprise" });
    expect((await get("/api/v1/price/XNT", key)).body).toMatchObject({ price: 0.5, volume24h: null });
    expect((await get("/v1/prices/XNT-USD", key)).body.volume_24h).toBeNull();
    expect((await get("/v1/market/summary", key)).body.data.total_volume_24h).toBe(0);
    const { data } = (await get("/v1/prices/XNT-USD/ohlcv?interval=1m&limit=1", key)).body;
    expect(data).toMatchObject([{ close: 0.5, volume: null }]);
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
      symbols: ["BTC", "ETH"],
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
    const { decimal } = await import("../model/decimal.ts");
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

  test("validation reports plan, limits and the month's usage, and costs none of it", async () => {
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

describe("every answer", () => {
  test("reports the deprecation, the end and the successor where they are known", async () => {
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
    expect(served).toMatchObject([
      { method: "/api/v1/price/:symbol", status: 404, accountId: "acct_1", code: "INVALID_SYMBOL" },
    ]);
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
