import { afterEach, describe, expect, test } from "bun:test";
import { type ExchangeId, exchangeIds } from "../model/listings.ts";
import type { Listener } from "../testing/listener.ts";
import type { TestMarket } from "../testing/market.ts";
import { OpenedMarkets } from "../testing/opened-markets.ts";

const opened = new OpenedMarkets();
afterEach(() => opened.close());
const boot = (): TestMarket => opened.boot();
const connect = (...to: Parameters<OpenedMarkets["connect"]>): Promise<Listener> => opened.connect(...to);

type Row = Record<string, string>;
const tickerPath = "/api/v3/ticker/24hr?symbol=ETHUSDT";
const ticker = async (markets: TestMarket): Promise<Row> => (await markets.json("binance", tickerPath)) as Row;
const number = (row: Row, member: string): number => Number(row[member]);

/** Last prices of a pair on the exchanges that have it, by their own REST. */
async function lasts(markets: TestMarket): Promise<Partial<Record<ExchangeId, number>>> {
  const at = (value: unknown, ...path: (string | number)[]): number =>
    Number(path.reduce<unknown>((inner, name) => (inner as Record<string | number, unknown>)[name], value));
  const middle = (a: number, b: number): number => (a + b) / 2;
  const okx = await markets.json("okx", "/api/v5/market/ticker?instId=ETH-USDT");
  const bybit = await markets.json("bybit", "/v5/market/tickers?category=spot&symbol=ETHUSDT");
  const kucoin = await markets.json("kucoin", "/api/v1/market/stats?symbol=ETH-USDT");
  const gate = await markets.json("gate", "/api/v4/spot/tickers?currency_pair=ETH_USDT");
  const binance = await ticker(markets);
  const coinbase = await markets.json("coinbase", "/products/ETH-USD/ticker");
  const list = "list";
  return {
    binance: middle(at(binance, "bidPrice"), at(binance, "askPrice")),
    okx: middle(at(okx, "data", 0, "bidPx"), at(okx, "data", 0, "askPx")),
    bybit: middle(at(bybit, "result", list, 0, "bid1Price"), at(bybit, "result", list, 0, "ask1Price")),
    kucoin: middle(at(kucoin, "data", "buy"), at(kucoin, "data", "sell")),
    gate: middle(at(gate, 0, "highest_bid"), at(gate, 0, "lowest_ask")),
    coinbase: middle(at(coinbase, "bid"), at(coinbase, "ask")),
  };
}

const bpsApart = (a = 0, b = 0): number => (a / b - 1) * 10_000;

describe("prices that are moved", () => {
  test("an offset moves one exchange's pair by what it says, row and candles alike, and its end is seen as such", async () => {
    const markets = boot();
    const before = await ticker(markets);
    const id = await markets.fault({ kind: "offset", exchanges: ["binance"], symbols: ["ETH"], bps: 500 });
    markets.pass(120_000);
    const moved = await lasts(markets);
    expect(bpsApart(moved.binance, moved.okx)).toBeWithin(480, 520);
    expect(bpsApart(moved.bybit, moved.okx)).toBeWithin(-20, 20);
    const row = await ticker(markets);
    expect(number(row, "highPrice")).toBeGreaterThan(number(before, "highPrice"));
    expect(number(row, "highPrice")).toBeGreaterThanOrEqual(number(row, "lastPrice"));
    const candles = (await markets.json("binance", "/api/v3/klines?symbol=ETHUSDT&interval=1m&limit=3")) as string[][];
    expect(Math.max(...candles.map((candle) => Number(candle[2])))).toBeCloseTo(number(row, "highPrice"), 6);
    expect(await markets.json("binance", "/api/v3/klines?symbol=SOLUSDT&interval=1m&limit=1")).not.toEqual([]);
    await markets.admin("DELETE", `/faults/${id}`);
    markets.pass(120_000);
    const after = await lasts(markets);
    expect(bpsApart(after.binance, after.okx)).toBeWithin(-20, 20);
    expect(number(await ticker(markets), "highPrice")).toBe(number(row, "highPrice"));
  });

  test("a ramp drifts away little by little", async () => {
    const markets = boot();
    await markets.fault({ kind: "offset", exchanges: ["gate"], factor: 1.1, rampMs: 600_000 });
    const apart: number[] = [];
    for (let step = 0; step < 3; step += 1) {
      markets.pass(300_000);
      const now = await lasts(markets);
      apart.push(bpsApart(now.gate, now.okx));
    }
    expect(apart[0]).toBeWithin(480, 520);
    expect(apart[1]).toBeWithin(980, 1_020);
    expect(apart[2]).toBeWithin(980, 1_020);
  });

  test("colluding exchanges share one offset, and the seed says which they are", async () => {
    const markets = boot();
    const again = boot();
    const wish = { kind: "collusion", count: 3, bps: -300 };
    const set = async (from: TestMarket) =>
      (await (await from.admin("POST", "/faults", wish)).json()) as { exchanges: ExchangeId[] };
    const { exchanges } = await set(markets);
    expect(exchanges.length).toBe(3);
    expect((await set(again)).exchanges).toEqual(exchanges);
    await markets.admin("DELETE", "/faults");
    await markets.fault({ kind: "collusion", exchanges: ["okx", "gate"], bps: -300 });
    markets.pass(1_000);
    const now = await lasts(markets);
    expect(bpsApart(now.okx, now.binance)).toBeWithin(-320, -280);
    expect(bpsApart(now.okx, now.gate)).toBeWithin(-20, 20);
  });

  test("when USDT loses its peg, what is quoted in it becomes dearer everywhere, and dollars buy more of it", async () => {
    const markets = boot();
    const usdt = async () => Number(((await markets.json("coinbase", "/products/USDT-USD/ticker")) as Row)["bid"]);
    const before = { prices: await lasts(markets), usdt: await usdt() };
    await markets.fault({ kind: "depeg", asset: "USDT", factor: 0.95 });
    markets.pass(1_000);
    const after = { prices: await lasts(markets), usdt: await usdt() };
    expect(after.usdt / before.usdt).toBeWithin(0.949, 0.951);
    for (const id of ["binance", "okx", "bybit", "kucoin", "gate"] as const) {
      expect((after.prices[id] ?? 0) / (before.prices[id] ?? 1)).toBeWithin(1.05, 1.056);
    }
    expect((after.prices.coinbase ?? 0) / (before.prices.coinbase ?? 1)).toBeWithin(0.997, 1.003);
  });
});

describe("prices that stand still, lag, or are reported with other times", () => {
  test("frozen content with a running clock: times go on, the last trade does not", async () => {
    const markets = boot();
    await markets.fault({ kind: "freeze", mode: "content", exchanges: ["binance"] });
    const before = await ticker(markets);
    markets.pass(60_000);
    const after = await ticker(markets);
    expect(number(after, "closeTime")).toBe(number(before, "closeTime") + 60_000);
    const shown = ["lastId", "count", "lastPrice", "bidPrice", "volume"];
    expect(shown.map((member) => after[member])).toEqual(shown.map((member) => before[member]));
  });

  test("frozen whole: the same bytes, whenever they are asked for, and the stream repeats them", async () => {
    const markets = boot();
    const socket = await connect(markets, "binance", "/ws/ethusdt@ticker");
    await markets.fault({ kind: "freeze", mode: "whole", exchanges: ["binance"] });
    const before = await (await markets.get("binance", tickerPath)).text();
    const frames: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      await markets.step(1_000);
      frames.push(await socket.text());
    }
    expect(new Set(frames).size).toBe(1);
    expect(await (await markets.get("binance", tickerPath)).text()).toBe(before);
  });

  test("a frozen stream: heartbeats run ahead of the ticker, and REST goes on", async () => {
    const markets = boot();
    const socket = await connect(markets, "coinbase", "/");
    socket.send({ type: "subscribe", product_ids: ["ETH-USD"], channels: ["ticker", "heartbeat"] });
    await socket.next();
    const trade = await socket.next();
    await markets.fault({ kind: "freeze", mode: "stream", exchanges: ["coinbase"], symbols: ["ETH"] });
    await markets.step(10_000);
    const heartbeat = await socket.next();
    expect(heartbeat["type"]).toBe("heartbeat");
    expect(Number(heartbeat["last_trade_id"])).toBeGreaterThan(Number(trade["trade_id"]));
    expect(socket.frames).toEqual([]);
    const row = (await markets.json("coinbase", "/products/ETH-USD/ticker")) as Record<string, unknown>;
    expect(row["trade_id"]).toBe(heartbeat["last_trade_id"]);
  });

  test("lag reports what was true then, with the times of then", async () => {
    const markets = boot();
    const then = await (await markets.get("okx", "/api/v5/market/ticker?instId=ETH-USDT")).text();
    markets.pass(45_000);
    await markets.fault({ kind: "lag", ms: 45_000, exchanges: ["okx"] });
    expect(await (await markets.get("okx", "/api/v5/market/ticker?instId=ETH-USDT")).text()).toBe(then);
  });

  test("skew moves the clock of an exchange and nothing else", async () => {
    const markets = boot();
    const before = await ticker(markets);
    await markets.fault({ kind: "skew", ms: 90_000, exchanges: ["binance"] });
    const after = await ticker(markets);
    expect(number(after, "closeTime") - number(before, "closeTime")).toBe(90_000);
    expect(after["lastId"]).toBe(before["lastId"] ?? "");
    expect(await markets.json("binance", "/api/v3/time")).toEqual({ serverTime: markets.now() + 90_000 });
  });

  test("a clock that is set, forward or back, ends no stream and silences none", async () => {
    for (const ms of [3_600_000, -3_600_000]) {
      const markets = boot();
      const binance = await connect(markets, "binance", "/ws/ethusdt@ticker");
      const gate = await connect(markets, "gate", "/ws/v4/");
      const okx = await connect(markets, "okx", "/ws/v5/public");
      const kucoin = (await markets.json("kucoin", "/api/v1/bullet-public", { method: "POST" })) as {
        data: { token: string };
      };
      const pinged = await connect(markets, "kucoin", `/?token=${kucoin.data.token}&connectId=x`);
      await pinged.next();
      gate.send({ time: 1, channel: "spot.tickers", event: "subscribe", payload: ["BTC_USDT"] });
      await gate.next();
      await markets.step(1_000);
      await Promise.all([gate.next(), binance.next()]);
      await markets.fault({ kind: "skew", ms });
      await markets.step(1_000);
      expect((await gate.next())["time_ms"]).toBe(markets.now() + ms);
      expect((await binance.next())["E"]).toBe(markets.now() + ms);
      okx.send("ping");
      expect(await okx.text()).toBe("pong");
      expect([okx, pinged, gate, binance].map((socket) => socket.closed)).toEqual([null, null, null, null]);
    }
  });

  test("a dropped symbol is unknown and out of every list; crossed prices and inflated volume are as requested", async () => {
    const markets = boot();
    const honest = await ticker(markets);
    await markets.fault({ kind: "crossed", exchanges: ["binance"], symbols: ["ETH"] });
    await markets.fault({ kind: "volume", factor: 50, exchanges: ["binance"] });
    const row = await ticker(markets);
    expect([row["bidPrice"], row["askPrice"]]).toEqual([honest["askPrice"], honest["bidPrice"]]);
    expect(number(row, "volume") / number(honest, "volume")).toBeCloseTo(50, 6);
    await markets.fault({ kind: "drop", exchanges: ["binance"], symbols: ["ETH"] });
    expect((await markets.get("binance", tickerPath)).status).toBe(400);
    const all = (await markets.json("binance", "/api/v3/ticker/24hr")) as Row[];
    expect(all.map((each) => each["symbol"])).not.toContain("ETHUSDT");
    expect(all.length).toBe(11);
  });
});

describe("endpoints that fail", () => {
  test("a limit on demand is each exchange's own refusal, with its status and headers", async () => {
    const markets = boot();
    await markets.fault({ kind: "limited" });
    const seen: Record<string, unknown> = {};
    for (const id of exchangeIds) {
      const response = await markets.get(id, "/");
      const headers = [
        "retry-after",
        "x-bapi-limit-status",
        "gw-ratelimit-remaining",
        "x-gate-ratelimit-requests-remain",
      ];
      seen[id] = [
        response.status,
        (await response.text()).slice(0, 48),
        headers.filter((name) => response.headers.has(name)),
      ];
    }
    expect(seen).toEqual({
      binance: [429, '{"code":-1003,"msg":"Too much request weight use', ["retry-after"]],
      coinbase: [429, '{"message":"Public rate limit exceeded"}', []],
      kraken: [200, '{"error":["EGeneral:Too many requests"]}', []],
      okx: [429, '{"msg":"Too Many Requests","code":"50011"}', []],
      bybit: [200, '{"retCode":10006,"retMsg":"Too many visits!","re', ["x-bapi-limit-status"]],
      kucoin: [429, '{"code":"429000","msg":"Too Many Requests"}', ["gw-ratelimit-remaining"]],
      bitstamp: [400, '{"status":"error","reason":"Request limit exceed', []],
      gate: [429, '{"label":"TOO_MANY_REQUESTS","message":"Request ', ["x-gate-ratelimit-requests-remain"]],
    });
    await markets.fault({ kind: "limited", ban: true, exchanges: ["binance", "bybit"] });
    expect((await markets.get("binance", "/")).status).toBe(418);
    expect(await (await markets.get("bybit", "/")).text()).toBe("403, access too frequent");
  });

  test("an outage is a page of the edge or the exchange's own word", async () => {
    const markets = boot();
    const id = await markets.fault({ kind: "outage", exchanges: ["kraken"] });
    const response = await markets.get("kraken", "/0/public/Time");
    expect([response.status, response.headers.get("content-type")]).toEqual([502, "text/html; charset=utf-8"]);
    await markets.admin("DELETE", `/faults/${id}`);
    await markets.fault({ kind: "outage", form: "busy" });
    expect(await markets.json("kraken", "/0/public/Time")).toEqual({ error: ["EService:Unavailable"] });
    expect((await markets.get("okx", "/api/v5/public/time")).status).toBe(503);
  });

  test("refused connections are reset until the fault ends, on the old port; other exchanges and the admin endpoint go on", async () => {
    const markets = boot();
    const socket = await connect(markets, "gate", "/ws/v4/");
    await markets.fault({ kind: "refuse", exchanges: ["gate"] });
    await socket.end();
    await expect(markets.get("gate", "/api/v4/spot/time")).rejects.toThrow();
    expect((await markets.get("okx", "/api/v5/public/time")).status).toBe(200);
    await markets.admin("DELETE", "/faults");
    expect(await markets.json("gate", "/api/v4/spot/time")).toEqual({ server_time: markets.now() });
  });

  test("a body that is cut breaks off; a slow answer is whole", async () => {
    const markets = boot();
    const id = await markets.fault({ kind: "cut", exchanges: ["binance"] });
    await expect(ticker(markets)).rejects.toThrow();
    await markets.admin("DELETE", `/faults/${id}`);
    await markets.fault({ kind: "slow", ms: 500, exchanges: ["binance"] });
    expect((await ticker(markets))["symbol"]).toBe("ETHUSDT");
  });

  test("streams are closed with a code or reset at a word", async () => {
    const markets = boot();
    const first = await connect(markets, "okx", "/ws/v5/public");
    const closed = await markets.admin("POST", "/close", { exchanges: ["okx"], code: 4_999 });
    expect(await closed.json()).toEqual({ closed: 1 });
    expect((await first.end()).code).toBe(4_999);
    const second = await connect(markets, "okx", "/ws/v5/public");
    await markets.admin("POST", "/close", { how: "reset" });
    expect((await second.end()).code).toBe(1006);
  });

  test("streams are notified that they will end soon, in the words of those exchanges that have some", async () => {
    const markets = boot();
    const paths = {
      binance: "/ws",
      okx: "/ws/v5/public",
      bitstamp: "/",
      gate: "/ws/v4/",
      bybit: "/v5/public/spot",
    } as const;
    const sockets = await Promise.all(
      Object.entries(paths).map(async ([id, path]) => [id, await connect(markets, id as ExchangeId, path)] as const),
    );
    expect(await (await markets.admin("POST", "/notice", {})).json()).toEqual({ told: 4 });
    const said: Record<string, unknown> = {};
    for (const [id, socket] of sockets) if (id !== "bybit") said[id] = await socket.next();
    const msg = "The connection will soon be closed for a service upgrade. Please reconnect.";
    expect(said).toEqual({
      binance: { e: "serverShutdown", E: markets.now() },
      okx: { event: "notice", code: "64008", msg, connId: expect.any(String) },
      bitstamp: { event: "bts:request_reconnect", channel: "", data: "" },
      gate: { type: "upgrade", msg },
    });
  });

  test("a half-open stream says nothing at all, and goes on when the fault ends", async () => {
    const markets = boot();
    const socket = await connect(markets, "okx", "/ws/v5/public");
    socket.send({ op: "subscribe", args: [{ channel: "tickers", instId: "ETH-USDT" }] });
    await socket.next();
    await socket.next();
    const id = await markets.fault({ kind: "silence", exchanges: ["okx"] });
    await markets.step(5_000);
    socket.send("ping");
    expect((await markets.get("okx", "/api/v5/public/time")).status).toBe(504);
    await markets.admin("DELETE", `/faults/${id}`);
    await markets.step(1_000);
    expect(await socket.next()).toMatchObject({ arg: { channel: "tickers" } });
    expect(socket.frames).toEqual([]);
  });

  test("acknowledgements and the welcome can be withheld while data comes", async () => {
    const markets = boot();
    await markets.fault({ kind: "unacknowledged" });
    const socket = await connect(markets, "gate", "/ws/v4/");
    socket.send({ time: 1, channel: "spot.tickers", event: "subscribe", payload: ["BTC_USDT"] });
    socket.send({ time: 1, channel: "spot.ping" });
    expect(await socket.next()).toMatchObject({ channel: "spot.pong" });
    await markets.step(1_000);
    expect(await socket.next()).toMatchObject({ event: "update" });
    const bullet = (await markets.json("kucoin", "/api/v1/bullet-public", { method: "POST" })) as {
      data: { token: string };
    };
    const shy = await connect(markets, "kucoin", `/?token=${bullet.data.token}&connectId=x`);
    shy.send({ id: 1, type: "ping" });
    expect(await shy.next()).toEqual({ id: "1", type: "pong" });
    await markets.fault({ kind: "tokens", exchanges: ["kucoin"] });
    await expect(connect(markets, "kucoin", `/?token=${bullet.data.token}`)).rejects.toThrow("refused");
  });

  test("frames come twice, or one after the next", async () => {
    const markets = boot();
    const socket = await connect(markets, "binance", "/ws/ethusdt@ticker");
    const id = await markets.fault({ kind: "duplicate", exchanges: ["binance"] });
    await markets.step(1_000);
    expect(await socket.text()).toBe(await socket.text());
    await markets.admin("DELETE", `/faults/${id}`);
    await markets.fault({ kind: "reorder", exchanges: ["binance"] });
    await markets.step(1_000);
    await markets.step(1_000);
    const [first, second] = [await socket.next(), await socket.next()];
    expect(Number(first["E"])).toBe(Number(second["E"]) + 1_000);
  });
});

describe("the admin endpoint", () => {
  test("faults are listed as they were set, cleared one by one or all, and answers are whole again", async () => {
    const markets = boot();
    const honest = await (await markets.get("binance", tickerPath)).text();
    const lag = await markets.fault({ kind: "lag", ms: 1_000, exchanges: ["binance", "okx"], symbols: ["ETH"] });
    await markets.fault({ kind: "crossed" });
    const { faults } = (await (await markets.admin("GET", "/faults")).json()) as { faults: Record<string, unknown>[] };
    expect(faults[0]).toEqual({
      id: lag,
      kind: "lag",
      ms: 1_000,
      exchanges: ["binance", "okx"],
      symbols: ["ETH"],
      sinceMs: markets.now(),
    });
    expect(faults.length).toBe(2);
    expect(await (await markets.admin("DELETE", `/faults/${lag}`)).json()).toEqual({ cleared: 1 });
    expect((await markets.admin("DELETE", `/faults/${lag}`)).status).toBe(404);
    expect(await (await markets.admin("DELETE", "/faults")).json()).toEqual({ cleared: 1 });
    expect(await (await markets.get("binance", tickerPath)).text()).toBe(honest);
  });

  test("an unknown fault is refused with an error, and no fault is on", async () => {
    const markets = boot();
    const wishes: readonly (readonly [unknown, string])[] = [
      ["{", "the body is no JSON"],
      [[], "a fault is an object"],
      [{ kind: "fly" }, "unknown kind fly"],
      [{ kind: "lag" }, "ms must be a number from 1 to 2592000000"],
      [{ kind: "lag", ms: 1, exchanges: ["nyse"] }, "exchanges must be a list of some of binance"],
      [{ kind: "lag", ms: 1, symbols: [] }, "symbols must be a list of some of BTC"],
      [{ kind: "lag", ms: 1, extra: 1 }, "unknown member extra"],
      [{ kind: "offset", bps: -10_000 }, "bps must be a number above -10000, at most 1000000"],
      [{ kind: "offset", bps: "x" }, "bps must be a number above -10000, at most 1000000"],
      [{ kind: "offset", factor: 0 }, "factor must be a number from"],
      [{ kind: "garbage", form: "poem" }, "form must be one of malformed"],
      [{ kind: "depeg", asset: "BTC", factor: 2 }, "asset must be one of USDT, USDC"],
      [{ kind: "collusion", count: 9, bps: 1 }, "count must be a number from 1 to 8"],
    ];
    for (const [wish, word] of wishes) {
      const response = await markets.admin("POST", "/faults", wish);
      expect(response.status).toBe(400);
      expect(((await response.json()) as { error: string }).error).toStartWith(word);
    }
    expect(await (await markets.admin("GET", "/faults")).json()).toEqual({ faults: [] });
    expect((await markets.admin("PUT", "/faults", {})).status).toBe(405);
    expect((await markets.admin("GET", "/nothing")).status).toBe(404);
    const fromPage = await fetch(`${markets.market.adminUrl}/faults`, {
      method: "DELETE",
      headers: { origin: "https://example.com" },
    });
    expect(fromPage.status).toBe(403);
  });

  test("the truth is reported beside every false price, and the state names the listeners", async () => {
    const markets = boot();
    await markets.fault({ kind: "offset", factor: 2 });
    markets.pass(1_000);
    const truth = (await (await markets.admin("GET", "/truth")).json()) as { at: number; usd: Record<string, number> };
    expect(truth.at).toBe(markets.now());
    const { coinbase = 0 } = await lasts(markets);
    expect(coinbase / (truth.usd["ETH"] ?? 1)).toBeWithin(1.995, 2.005);
    await connect(markets, "okx", "/ws/v5/public");
    const state = (await (await markets.admin("GET", "/state")).json()) as {
      exchanges: Record<string, { connections: number }>;
    };
    expect(state.exchanges["okx"]?.connections).toBe(1);
    expect(state.exchanges["gate"]?.connections).toBe(0);
  });

  test("a fault too many is refused", async () => {
    const markets = boot();
    for (let count = 0; count < 256; count += 1) await markets.fault({ kind: "crossed", exchanges: ["gate"] });
    expect((await markets.admin("POST", "/faults", { kind: "crossed" })).status).toBe(409);
  });
});
