import { expect, setDefaultTimeout, test } from "bun:test";
import { formatDecimal } from "../model/decimal.ts";
import { binance } from "./exchanges/binance.ts";
import { bitstamp } from "./exchanges/bitstamp.ts";
import { coinbase } from "./exchanges/coinbase.ts";
import { kucoin } from "./exchanges/kucoin.ts";
import { okx } from "./exchanges/okx.ts";
import { Bench } from "./testing/fake-exchange.ts";

// What is waited for decides; this only ends a run that waits in vain on a busy machine.
setDefaultTimeout(60_000);

const startMs = Date.parse("2026-11-01T00:00:00Z");
const hourMs = 3_600_000;

const binanceRow = (at: number, last: string, id: number) => ({
  e: "24hrTicker",
  E: at,
  s: "BTCUSDT",
  c: last,
  b: last,
  B: "1",
  a: last,
  A: "1",
  o: last,
  h: last,
  l: last,
  v: "1",
  q: last,
  L: id,
});
const binanceAnswer = (at: number, last: string, id: number) =>
  Response.json([
    {
      symbol: "BTCUSDT",
      lastPrice: last,
      bidPrice: last,
      bidQty: "1",
      askPrice: last,
      askQty: "1",
      closeTime: at,
      lastId: id,
    },
  ]);
const openBinance = () => new Bench(binance, { bases: ["BTC"], startMs });
const prices = (bench: Bench): string[] => bench.ticks.map(({ price }) => formatDecimal(price));

test("a source subscribes at once and publishes what the stream says", async () => {
  await using bench = openBinance();
  await bench.reach(() => bench.fake.received.length > 0);
  expect(JSON.parse(bench.fake.received[0] ?? "")).toEqual({
    method: "SUBSCRIBE",
    params: ["btcusdt@ticker", "btcusdt@kline_1m"],
    id: 1,
  });
  bench.fake.push(binanceRow(bench.clock.now() - 40, "50000", 1));
  await bench.until(() => bench.ticks.length === 1);
  expect(bench.ticks[0]).toMatchObject({
    source: "binance",
    base: "BTC",
    quote: "USDT",
    asOfMs: bench.clock.now() - 40,
  });
  bench.source.step();
  expect(bench.source.health()).toMatchObject({ status: "active", transport: "stream", delayMs: 40 });
});

test("a lost connection is taken again, each time later, and answers stand in meanwhile", async () => {
  await using bench = openBinance();
  bench.fake.answer = () => binanceAnswer(bench.clock.now(), "50001", 1);
  bench.fake.accepts = () => false;
  await bench.reach(() => bench.ticks.length === 1 && bench.count("sourceStreamEnded", "connect-failed") >= 1);
  bench.source.step();
  expect(bench.source.health()).toMatchObject({ status: "degraded", transport: "rest" });
  // Six attempts at 0.5, 1, 2, 4 s and so on take longer than six at a steady pace.
  const before = bench.clock.monotonic();
  await bench.reach(() => bench.count("sourceStreamEnded", "connect-failed") >= 6);
  expect(bench.clock.monotonic() - before).toBeGreaterThan(7_000);
  bench.fake.accepts = () => true;
  await bench.reach(() => bench.fake.received.length > 0);
  bench.fake.push(binanceRow(bench.clock.now(), "50002", 2));
  await bench.until(() => prices(bench).at(-1) === "50002");
  bench.source.step();
  expect(bench.source.health()).toMatchObject({ status: "active", transport: "stream" });
  expect(bench.source.health().restarts24h).toBeGreaterThanOrEqual(6);
});

test("a peer that vanished without a word is noticed, and no frame of the old connection is received again", async () => {
  await using bench = openBinance();
  await bench.reach(() => bench.fake.received.length > 0);
  const [old] = bench.fake.sockets;
  // Nothing comes, not even the answer to a ping, but the connection stands.
  await bench.reach(() => bench.count("sourceStreamEnded", "silent") === 1);
  expect(bench.fake.received.some((frame) => frame.includes("LIST_SUBSCRIPTIONS"))).toBe(true);
  await bench.reach(() => bench.fake.opened.length === 2);
  old?.send(JSON.stringify(binanceRow(bench.clock.now(), "1", 9)));
  await bench.reach(() => bench.count("sourceStreamOpened") === 2);
  bench.fake.push(binanceRow(bench.clock.now(), "50000", 1));
  await bench.until(() => bench.ticks.length === 1);
  expect(prices(bench)).toEqual(["50000"]);
});

test("answers to pings alone keep a connection, but markets it is silent about are asked for", async () => {
  await using bench = openBinance();
  bench.fake.onFrame = (socket, frame) => socket.send(JSON.stringify({ result: null, id: JSON.parse(frame).id }));
  bench.fake.answer = () => binanceAnswer(bench.clock.now(), "50000", 1);
  await bench.reach(() => bench.fake.requests.length >= 3);
  expect(bench.count("sourceStreamEnded")).toBe(0);
  expect(bench.fake.requests[0]).toBe("GET /api/v3/ticker/24hr?symbols=%5B%22BTCUSDT%22%5D");
  expect(bench.ticks.length).toBe(1);
});

test("a stream that stands still while answers report trades is replaced", async () => {
  await using bench = openBinance();
  bench.fake.onFrame = (socket, frame) => socket.send(JSON.stringify({ result: null, id: JSON.parse(frame).id }));
  let id = 10;
  bench.fake.answer = () => binanceAnswer(bench.clock.now(), String(50_000 + id), id++);
  await bench.reach(() => bench.fake.received.length > 0);
  bench.fake.push(binanceRow(bench.clock.now(), "50000", 1));
  await bench.until(() => bench.ticks.length > 0);
  await bench.reach(() => bench.count("sourceStreamEnded", "no-rows") === 1);
  await bench.reach(() => bench.fake.opened.length === 2);
});

test("frames whose clock runs while nothing in them moves vouch for nothing", async () => {
  await using bench = openBinance();
  await bench.reach(() => bench.fake.received.length > 0);
  const asOfMs = bench.clock.now();
  for (let second = 0; second < 70; second++) {
    await bench.push(binanceRow(bench.clock.now(), "50000", 1));
    bench.advance(1_000);
  }
  expect(bench.ticks.length).toBe(1);
  expect(bench.ticks[0]?.asOfMs).toBe(asOfMs);
  expect(bench.source.health().status).toBe("down");
  expect(bench.source.health().markets[0]).toMatchObject({ state: "stale" });
});

test("a ban is kept to the second and the stream goes on", async () => {
  await using bench = openBinance();
  let answers = 0;
  bench.fake.answer = () => {
    answers += 1;
    return answers === 1
      ? Response.json({ code: -1003, msg: "banned" }, { status: 418, headers: { "retry-after": "120" } })
      : binanceAnswer(bench.clock.now(), "50000", 1);
  };
  await bench.reach(() => bench.count("sourceRequestEnded", "banned") === 1);
  const bannedAtMs = bench.clock.monotonic();
  const { pausedForMs } = bench.source.health();
  expect(pausedForMs).toBeGreaterThan(120_000);
  await bench.reach(() => bench.fake.received.length > 0);
  bench.fake.push(binanceRow(bench.clock.now(), "50000", 1));
  await bench.until(() => bench.ticks.length === 1);
  await bench.reach(() => bench.fake.requests.length === 2);
  expect(bench.clock.monotonic() - bannedAtMs).toBeGreaterThan(120_000);
});

test("before a session's end a second connection is opened, and the first is closed at its first row", async () => {
  // The clock leaps by minutes here, which would be silence.
  const patient = { ...binance, stream: { ...binance.stream, silenceMs: hourMs } };
  await using bench = new Bench(patient, { bases: ["BTC"], startMs });
  await bench.reach(() => bench.fake.received.length > 0);
  const row = (id: number) => binanceRow(bench.clock.now(), "50000", id);
  let id = 0;
  while (bench.clock.monotonic() < 23.6 * hourMs) {
    id += 1;
    bench.fake.push(row(id));
    await bench.until(() => bench.ticks.length === id);
    bench.clock.advance(60_000);
    bench.source.step();
  }
  expect(bench.fake.opened.length).toBe(1);
  await bench.reach(() => bench.count("sourceStreamOpened") === 2);
  expect(bench.clock.monotonic()).toBeLessThan(23.8 * hourMs);
  expect(bench.count("sourceStreamEnded")).toBe(0);
  // Both are received, and the first row by the second one ends the first.
  const [first, second] = bench.fake.sockets;
  first?.send(JSON.stringify(row(id + 1)));
  await bench.reach(() => bench.ticks.length === id + 1);
  second?.send(JSON.stringify(row(id + 1)));
  await bench.until(() => bench.count("sourceStreamEnded", "replaced") === 1);
  await bench.until(() => bench.fake.sockets.length === 1);
  expect(bench.fake.sockets[0]).toBe(second as never);
  expect(bench.ticks.length).toBe(id + 1);
  expect(bench.source.health().restarts24h).toBe(0);
});

test("OKX is pinged by bare text and keeps a connection that answers so; its notice brings a second one", async () => {
  await using bench = new Bench(okx, { bases: ["BTC"], startMs });
  bench.fake.onFrame = (socket, frame) => void (frame === "ping" && socket.send("pong"));
  await bench.reach(() => bench.fake.received.includes("ping"));
  bench.fake.push({ event: "notice", code: "64008", msg: "service upgrade", connId: "a" });
  await bench.reach(() => bench.fake.opened.length === 2);
  expect(bench.count("sourceStreamEnded")).toBe(0);
  expect(bench.count("sourceDropped")).toBe(0);
});

const grant = (bench: Bench, token: string) =>
  Response.json({
    code: "200000",
    data: {
      token,
      instanceServers: [{ endpoint: `${bench.fake.endpoint.ws}/ws`, pingInterval: 18_000, pingTimeout: 10_000 }],
    },
  });

test("KuCoin gets a new token for every connection, and waits for its welcome before it speaks", async () => {
  await using bench = new Bench(kucoin, { bases: ["BTC", "ETH"], startMs });
  let tokens = 0;
  let valid = "";
  bench.fake.answer = (path) => {
    if (!path.startsWith("/api/v1/bullet-public")) return new Response("", { status: 503 });
    tokens += 1;
    valid = `token-${tokens}`;
    return grant(bench, valid);
  };
  bench.fake.accepts = (url) => url.searchParams.get("token") === valid;
  await bench.reach(() => bench.fake.sockets.length === 1);
  expect(bench.fake.received).toEqual([]);
  bench.fake.push({ id: bench.fake.opened[0]?.searchParams.get("connectId"), type: "welcome" });
  await bench.until(() => bench.fake.received.length === 2);
  const topics = ["/market/ticker:BTC-USDT,ETH-USDT", "/market/candles:BTC-USDT_1min,ETH-USDT_1min"];
  for (const [index, topic] of topics.entries()) {
    expect(JSON.parse(bench.fake.received[index] ?? "")).toMatchObject({ type: "subscribe", topic, response: true });
  }
  // The exchange drops the session, and the token with it.
  valid = "none";
  bench.fake.cutAll();
  await bench.reach(() => bench.fake.opened.length === 2);
  expect(bench.fake.opened.map((url) => url.searchParams.get("token"))).toEqual(["token-1", "token-2"]);
});

test("a KuCoin connection whose welcome never comes is given up in time", async () => {
  await using bench = new Bench(kucoin, { bases: ["BTC"], startMs });
  bench.fake.answer = (path) => (path.includes("bullet") ? grant(bench, "t") : new Response("", { status: 503 }));
  await bench.reach(() => bench.count("sourceStreamEnded", "connect-timeout") === 1);
  expect(bench.fake.received).toEqual([]);
});

test("Coinbase's heartbeats vouch for the last trade, and one that is ahead of the ticker ends the connection", async () => {
  await using bench = new Bench(coinbase, { bases: ["BTC"], startMs });
  await bench.reach(() => bench.fake.received.length > 0);
  const time = () => new Date(bench.clock.now()).toISOString();
  const ticker = (tradeId: number, price: string) => ({
    type: "ticker",
    sequence: tradeId * 10,
    product_id: "BTC-USD",
    price,
    best_bid: price,
    best_ask: price,
    time: time(),
    trade_id: tradeId,
  });
  const heartbeat = (tradeId: number, sequence: number) => ({
    type: "heartbeat",
    last_trade_id: tradeId,
    product_id: "BTC-USD",
    sequence,
    time: time(),
  });
  await bench.push(ticker(7, "60000"));
  for (let second = 1; second <= 25; second++) {
    bench.advance(1_000);
    await bench.push(heartbeat(7, 1_000 + second));
  }
  expect(bench.ticks.at(-1)?.asOfMs).toBe(bench.clock.now());
  expect(prices(bench).at(-1)).toBe("60000");
  // An engine that stands still repeats its sequence, whatever its clock says.
  bench.advance(1_000);
  await bench.push(heartbeat(7, 1_025));
  expect(bench.ticks.at(-1)?.asOfMs).toBe(bench.clock.now() - 1_000);
  // Nor do they vouch for more than half a minute in which nothing else moved.
  bench.advance(5_000);
  await bench.push(heartbeat(7, 1_100));
  expect(bench.ticks.at(-1)?.asOfMs).toBe(bench.clock.now() - 6_000);
  for (let second = 1; second <= 7; second++) {
    bench.advance(1_000);
    await bench.push(heartbeat(9, 2_000 + second));
    if (bench.count("sourceStreamEnded", "frozen") === 1) break;
  }
  expect(bench.count("sourceStreamEnded", "frozen")).toBe(1);
});

test("Bitstamp's trades get their book and their day from answers, and a list of all markets makes a market absent", async () => {
  await using bench = new Bench(bitstamp, { bases: ["BTC", "FTT"], startMs });
  const row = {
    timestamp: String(startMs / 1_000),
    last: "60000",
    bid: "59990",
    ask: "60010",
    high: "61000",
    low: "59000",
    vwap: "60000",
    volume: "10",
    open_24: "59500",
    market_type: "SPOT",
  };
  bench.fake.answer = (path) =>
    Response.json(path.includes("btcusd") ? row : [{ ...row, pair: "BTC/USD", market: "BTC/USD" }]);
  await bench.reach(() => bench.ticks.length === 1 && bench.source.health().markets[1]?.state === "absent");
  await bench.reach(() => bench.fake.received.length === 2);
  const trade = { id: 5, microtimestamp: String(bench.clock.now() * 1_000), price: 60_020, price_str: "60020.00" };
  bench.fake.push({ event: "trade", channel: "live_trades_btcusd", data: trade });
  await bench.until(() => bench.ticks.length === 2);
  // Held within the book that was read just before.
  expect(prices(bench)).toEqual(["60000", "60010"]);
  expect(bench.ticks.map(({ base }) => base)).toEqual(["BTC", "BTC"]);
  expect(bench.ticks[1]).toMatchObject({ asOfMs: bench.clock.now() });
  expect(bench.source.health()).toMatchObject({ status: "active" });
});

test("one name that an exchange does not know costs the others one request", async () => {
  await using bench = new Bench(binance, { bases: ["BTC", "FTT"], startMs });
  bench.fake.answer = (path) =>
    path.includes("FTT")
      ? Response.json({ code: -1121, msg: "Invalid symbol." }, { status: 400 })
      : binanceAnswer(bench.clock.now(), "50000", 1);
  await bench.reach(() => bench.ticks.length === 1 && bench.source.health().markets[1]?.state === "absent");
  expect(bench.fake.requests.length).toBeLessThanOrEqual(3);
});

test("frames and answers of any size or kind leave a source running", async () => {
  await using bench = openBinance();
  bench.fake.answer = () => new Response("x".repeat(3 * 1024 * 1024));
  await bench.reach(() => bench.count("sourceRequestEnded", "malformed") === 1);
  await bench.reach(() => bench.fake.sockets.length === 1 && bench.fake.received.length === 1);
  bench.fake.sockets[0]?.send(new Uint8Array([1, 2, 3]));
  bench.fake.push("{");
  bench.fake.push("[".repeat(50_000));
  await bench.until(() => bench.count("sourceDropped") === 3);
  bench.fake.push(`"${"x".repeat(70_000)}"`);
  await bench.until(() => bench.count("sourceStreamEnded", "oversized") === 1);
  expect(bench.reported.filter(({ event }) => event === "sourceDropped").map(({ detail }) => detail)).toEqual([
    "binary-frame",
    "not-json",
    "not-json",
    "oversized",
  ]);
  await bench.reach(() => bench.fake.opened.length === 2);
  expect(bench.count("sourceFault")).toBe(0);
});

test("an answer that does not end is given up in time, and disposing waits for nothing", async () => {
  const bench = openBinance();
  bench.fake.answer = () => new Promise(() => {});
  await bench.reach(() => bench.fake.requests.length === 1);
  await bench.reach(() => bench.count("sourceRequestEnded", "timeout") === 1);
  await bench.reach(() => bench.fake.requests.length === 2);
  await bench[Symbol.asyncDispose]();
  const reported = bench.reported.length;
  bench.advance(60_000);
  expect(bench.reported.length).toBe(reported);
  expect(bench.fake.sockets.length).toBe(0);
});

test("requests keep to the exchange's gap whatever is due", async () => {
  await using bench = new Bench(okx, { bases: okx.markets.map(({ base }) => base), startMs });
  bench.fake.answer = (path) => {
    const instId = new URLSearchParams(path.split("?")[1]).get("instId");
    return Response.json({ code: "51001", data: [], msg: `${instId}` });
  };
  await bench.reach(() => bench.fake.requests.length === okx.markets.length);
  // Twelve at 150 ms each, of which a second's worth may come at once.
  expect(bench.clock.monotonic()).toBeGreaterThanOrEqual((okx.markets.length - 1) * 150 - 1_000);
  expect(new Set(bench.fake.requests).size).toBe(okx.markets.length);
});
