import { afterEach, describe, expect, test } from "bun:test";
import type { ExchangeId } from "./model/listings.ts";
import { Listener } from "./testing/listener.ts";
import { bootMarket, type TestMarket } from "./testing/market.ts";
import { differences, haveSamples, type Json, received } from "./testing/shape.ts";

const open: (AsyncDisposable | Disposable)[] = [];
afterEach(async () => {
  for (const each of open.splice(0).toReversed()) {
    if (Symbol.asyncDispose in each) await each[Symbol.asyncDispose]();
    else each[Symbol.dispose]();
  }
});

async function listen(exchange: ExchangeId, path: string): Promise<{ markets: TestMarket; socket: Listener }> {
  const markets = bootMarket();
  open.push(markets);
  return { markets, socket: await connect(markets, exchange, path) };
}

async function connect(markets: TestMarket, exchange: ExchangeId, path: string): Promise<Listener> {
  const socket = await Listener.open(`${markets.market.exchanges[exchange].ws}${path}`);
  open.push(socket);
  return socket;
}

const have = haveSamples();
/** The frame is shaped as the one of the sample that has these members alike. */
function expectShape(frame: unknown, exchange: ExchangeId, name: string, like: Record<string, Json>, rules = {}): void {
  if (!have) return;
  const real = received(exchange, name).find((each) => {
    const members = each as Record<string, Json>;
    return Object.entries(like).every(([member, value]) => JSON.stringify(members[member]) === JSON.stringify(value));
  });
  if (real === undefined) throw new Error(`${exchange}/${name} has no frame like ${JSON.stringify(like)}`);
  expect(differences(frame as Json, real, rules)).toEqual([]);
}

const at = (value: unknown, ...path: (string | number)[]): unknown =>
  path.reduce<unknown>((inner, name) => (inner as Record<string | number, unknown>)[name], value);

describe("binance", () => {
  test("subscribes, lists and leaves; a ticker comes each second, complete; unknown streams stay silent", async () => {
    const { markets, socket } = await listen("binance", "/ws");
    socket.send({ method: "SUBSCRIBE", params: ["btcusdt@ticker", "nothing@ticker"], id: 1 });
    expect(await socket.next()).toEqual({ result: null, id: 1 });
    await markets.step(1_000);
    const frame = await socket.next();
    expectShape(frame, "binance", "ws-ticker-session", { e: "24hrTicker" });
    expect(frame["s"]).toBe("BTCUSDT");
    expect(frame["E"]).toBe(markets.now());
    expect(Number(frame["L"]) - Number(frame["F"]) + 1).toBe(Number(frame["n"]));
    const row = (await markets.json("binance", "/api/v3/ticker/24hr?symbol=BTCUSDT")) as Record<string, unknown>;
    expect([frame["c"], frame["b"], frame["a"], frame["q"]]).toEqual([
      ...[row["lastPrice"], row["bidPrice"], row["askPrice"], row["quoteVolume"]],
    ]);
    socket.send({ method: "LIST_SUBSCRIPTIONS", id: 3 });
    expect(await socket.next()).toEqual({ result: ["btcusdt@ticker"], id: 3 });
    socket.send({ method: "UNSUBSCRIBE", params: ["btcusdt@ticker"], id: "x" });
    expect(await socket.next()).toEqual({ result: null, id: "x" });
    await markets.step(5_000);
    socket.send({ method: "LIST_SUBSCRIPTIONS", id: 4 });
    expect(await socket.next()).toEqual({ result: [], id: 4 });
  });

  test("streams named in the address come wrapped on /stream; book tickers have no time, candles have all columns", async () => {
    const { markets, socket } = await listen(
      "binance",
      "/stream?streams=ethusdt@bookTicker/ethusdt@kline_1m/ethusdt@miniTicker",
    );
    await markets.step(1_000);
    const frames = [await socket.next(), await socket.next(), await socket.next()];
    expect(frames.map((frame) => frame["stream"])).toEqual([
      "ethusdt@bookTicker",
      "ethusdt@kline_1m",
      "ethusdt@miniTicker",
    ]);
    expectShape(frames[0], "binance", "ws-combined-capture", { stream: "nknusdt@bookTicker" });
    expectShape(frames[2]?.["data"], "binance", "ws-ticker-session", { e: "24hrMiniTicker" });
    if (!have) return;
    const capture = received("binance", "ws-combined-capture").find((each) =>
      String(at(each, "stream")).endsWith("kline_1m"),
    );
    expect(differences((frames[1] ?? null) as Json, capture ?? null)).toEqual([]);
  });

  test("bad frames get an error in its own words, and the sixth frame of a second ends the connection", async () => {
    const { markets, socket } = await listen("binance", "/ws");
    socket.send("{");
    expect(await socket.next()).toMatchObject({ code: 3 });
    socket.send({ method: "SUBSCRIBE", params: [], id: -1 });
    expect(await socket.next()).toEqual({ code: 2, msg: "Invalid request: request ID must be an unsigned integer" });
    socket.send({ method: "FLY", id: 1 });
    expect(at(await socket.next(), "msg")).toStartWith(
      "Invalid request: unknown variant `FLY`, expected one of `SUBSCRIBE`",
    );
    markets.pass(1_000);
    for (let count = 0; count < 6; count += 1) socket.send({ method: "LIST_SUBSCRIPTIONS", id: count });
    for (let count = 0; count < 5; count += 1) expect(await socket.next()).toMatchObject({ id: count });
    expect((await socket.end()).code).toBe(1008);
  });

  test("a connection lives for a day", async () => {
    const { markets, socket } = await listen("binance", "/ws");
    await markets.step(86_400_000);
    expect((await socket.end()).code).toBe(1001);
  });
});

describe("coinbase", () => {
  const subscribe = (ids: readonly string[], channels: readonly unknown[]) => ({
    type: "subscribe",
    product_ids: ids,
    channels,
  });

  test("the whole set is acknowledged, the last trade reported at once, then each new one, and heartbeats carry its id", async () => {
    const { markets, socket } = await listen("coinbase", "/");
    socket.send(subscribe(["BTC-USD"], ["ticker", { name: "heartbeat", product_ids: ["ETH-USD"] }]));
    expect(await socket.next()).toEqual({
      type: "subscriptions",
      channels: [
        { name: "ticker", product_ids: ["BTC-USD"] },
        { name: "heartbeat", product_ids: ["BTC-USD", "ETH-USD"] },
      ],
    });
    const first = await socket.next();
    expectShape(first, "coinbase", "ws-ticker-docs", { type: "ticker" });
    await markets.step(2_000);
    const frames = [await socket.next(), await socket.next(), await socket.next()];
    const ticker = frames.find((frame) => frame["type"] === "ticker") ?? {};
    const heartbeat = frames.find((frame) => frame["type"] === "heartbeat" && frame["product_id"] === "BTC-USD") ?? {};
    expect(Number(ticker["trade_id"])).toBeGreaterThan(Number(first["trade_id"]));
    expect(Number(ticker["sequence"])).toBeGreaterThan(Number(first["sequence"]));
    expect(heartbeat["last_trade_id"]).toBe(ticker["trade_id"]);
    expectShape(heartbeat, "coinbase", "ws-heartbeat", { type: "heartbeat" });
    socket.send({ ...subscribe(["BTC-USD", "ETH-USD"], ["ticker", "heartbeat"]), type: "unsubscribe" });
    expect(await socket.next()).toEqual({ type: "subscriptions", channels: [] });
  });

  test("one bad product fails the whole frame, and so does a frame without channels", async () => {
    const { socket } = await listen("coinbase", "/");
    socket.send(subscribe(["BTC-USD", "NOTACOIN-USD"], ["ticker"]));
    const failure = { type: "error", message: "Failed to subscribe" };
    expect(await socket.next()).toEqual({ ...failure, reason: "NOTACOIN-USD is not a valid product" });
    socket.send({ type: "subscribe", product_ids: ["BTC-USD"] });
    expect(await socket.next()).toEqual({ ...failure, reason: "No channels provided" });
    socket.send(subscribe(["ETH-USD"], ["ticker"]));
    expect(at(await socket.next(), "channels")).toEqual([{ name: "ticker", product_ids: ["ETH-USD"] }]);
  });

  test("a client that does not subscribe within five seconds is disconnected, and one that does is not", async () => {
    const { markets, socket } = await listen("coinbase", "/");
    const quick = await connect(markets, "coinbase", "/");
    quick.send(subscribe(["BTC-USD"], ["heartbeat"]));
    await quick.next();
    await markets.step(5_000);
    await socket.end();
    expect(await quick.next()).toMatchObject({ type: "heartbeat" });
    expect(quick.closed).toBeNull();
  });
});

describe("kraken", () => {
  test("greets, acknowledges each symbol, refuses one alone, gives a snapshot and updates in numbers with their zeros", async () => {
    const { markets, socket } = await listen("kraken", "/v2");
    const status = await socket.text();
    expect(BigInt(/"connection_id":(\d+)/.exec(status)?.[1] ?? 0)).toBeGreaterThan(2n ** 53n);
    expectShape(JSON.parse(status), "kraken", "ws2-ticker-capture", { channel: "status" });
    const params = { channel: "ticker", symbol: ["BTC/USD", "XBT/USD"], event_trigger: "trades", snapshot: true };
    socket.send({ method: "subscribe", params, req_id: 1 });
    const ack = await socket.next();
    expect(ack).toMatchObject({
      success: true,
      req_id: 1,
      result: { channel: "ticker", snapshot: true, symbol: "BTC/USD" },
    });
    const text = await socket.text();
    expect(text).toMatch(/"bid":\d+\.\d,"bid_qty":\d+\.\d{8},/);
    expect(JSON.parse(text)).toMatchObject({ channel: "ticker", type: "snapshot" });
    const refusal = await socket.next();
    expectShape(refusal, "kraken", "ws2-ticker-capture", { success: false }, { optional: ["req_id"] });
    expect(refusal["error"]).toBe("Currency pair not supported XBT/USD");
    await markets.step(1_000);
    const update = await socket.next();
    expectShape(update, "kraken", "ws2-ticker-capture", { channel: "ticker" });
    const row = at(update, "data", 0) as Record<string, number>;
    expect(row["change_pct"]).toBeCloseTo(
      ((row["change"] ?? 0) / ((row["last"] ?? 0) - (row["change"] ?? 0))) * 100,
      1,
    );
    socket.send({ method: "unsubscribe", params: { channel: "ticker", symbol: ["BTC/USD"] }, req_id: 2 });
    expectShape(await socket.next(), "kraken", "ws2-ticker-docs", { method: "unsubscribe" });
  });

  test("a heartbeat comes when nothing else did, a ping is answered, a minute without anything ends it", async () => {
    const { markets, socket } = await listen("kraken", "/v2");
    await socket.next();
    socket.send({ method: "subscribe", params: { channel: "ticker", symbol: ["COMP/USD"], snapshot: false } });
    await socket.next();
    await markets.step(500);
    await socket.next();
    await markets.step(1_000);
    expect(await socket.next()).toEqual({ channel: "heartbeat" });
    socket.send({ method: "ping", req_id: 42 });
    expectShape(await socket.next(), "kraken", "ws2-ticker-docs", { method: "pong" });
    const idle = await connect(markets, "kraken", "/v2");
    await idle.next();
    await markets.step(60_000);
    await idle.end();
  });
});

describe("okx", () => {
  test("acknowledges and pushes each argument, refuses a bad one alone, and answers the text ping with a text", async () => {
    const { markets, socket } = await listen("okx", "/ws/v5/public");
    const channel = "tickers";
    socket.send({
      op: "subscribe",
      args: [
        { channel, instId: "BTC-USDT" },
        { channel: "candle1m", instId: "BTC-USDT" },
      ],
    });
    expectShape(await socket.next(), "okx", "ws-tickers-2026", { event: "subscribe" });
    expectShape(await socket.next(), "okx", "ws-tickers-2026", { event: undefined as unknown as Json });
    const refusal = await socket.next();
    expectShape(refusal, "okx", "ws-tickers-2026", { event: "error" });
    expect(refusal["code"]).toBe("60018");
    await markets.step(1_000);
    expect(at(await socket.next(), "data", 0, "ts")).toBe(String(markets.now()));
    socket.send("ping");
    expect(await socket.text()).toBe("pong");
    socket.send({ op: "subscribe", argss: [] });
    expect(await socket.next()).toMatchObject({ event: "error", code: "60012" });
    socket.send({ op: "unsubscribe", args: [{ channel, instId: "BTC-USDT" }] });
    expectShape(await socket.next(), "okx", "ws-control", { event: "unsubscribe" });
  });

  test("has candles at an address of their own, which knows nothing else, and rows there are those of answers", async () => {
    const { markets, socket } = await listen("okx", "/ws/v5/business");
    const args = [
      { channel: "candle1m", instId: "BTC-USDT" },
      { channel: "tickers", instId: "BTC-USDT" },
      { channel: "candle7m", instId: "BTC-USDT" },
    ];
    socket.send({ op: "subscribe", args });
    expectShape(await socket.next(), "okx", "ws-tickers-2026", { event: "subscribe" });
    expect(at(await socket.next(), "arg", "channel")).toBe("candle1m");
    for (let refused = 0; refused < 2; refused += 1) expect((await socket.next())["code"]).toBe("60018");
    await markets.step(1_000);
    const pushed = await socket.next();
    const answered = await markets.json("okx", "/api/v5/market/candles?instId=BTC-USDT&bar=1m&limit=1");
    expect(pushed).toMatchObject({ arg: args[0], data: (answered as { data: unknown[] }).data });
  });

  test("thirty seconds without traffic end a connection, a ping in between does not let them pass", async () => {
    const { markets, socket } = await listen("okx", "/ws/v5/public");
    const lively = await connect(markets, "okx", "/ws/v5/public");
    await markets.step(20_000);
    lively.send("ping");
    await lively.text();
    await markets.step(10_000);
    expect((await socket.end()).code).toBe(4004);
    expect(lively.closed).toBeNull();
  });
});

describe("bybit", () => {
  test("every spot ticker is a snapshot without bid and ask, the order book has them; a bad topic refuses the frame", async () => {
    const { markets, socket } = await listen("bybit", "/v5/public/spot");
    socket.send({ req_id: "test", op: "subscribe", args: ["tickers.BTCUSDT", "orderbook.1.BTCUSDT"] });
    expectShape(await socket.next(), "bybit", "ws-tickers-spot", { op: "subscribe" });
    const ticker = await socket.next();
    expectShape(ticker, "bybit", "ws-tickers-spot", { type: "snapshot" });
    expect(await socket.next()).toMatchObject({
      topic: "orderbook.1.BTCUSDT",
      type: "snapshot",
      data: { s: "BTCUSDT" },
    });
    await markets.step(2_000);
    const next = await socket.next();
    expect(next["type"]).toBe("snapshot");
    expect(Number(next["cs"])).toBeGreaterThan(Number(ticker["cs"]));
    await socket.next();
    socket.send({ op: "subscribe", args: ["tickers.ETHUSDT", "invalid.topic.BTCUSDT"] });
    const failure = await socket.next();
    expectShape(failure, "bybit", "ws-acks", { success: false });
    expect(failure["ret_msg"]).toBe("Invalid topic: invalid.topic.BTCUSDT");
    socket.send({ op: "subscribe", args: Array.from({ length: 11 }, () => "tickers.ETHUSDT") });
    expect(await socket.next()).toMatchObject({ success: false, ret_msg: "args size >10" });
    socket.send({ req_id: "100001", op: "ping" });
    expect(await socket.next()).toMatchObject({ success: true, ret_msg: "pong", op: "ping" });
  });

  test("ten minutes without a word of the client end the connection", async () => {
    const { markets, socket } = await listen("bybit", "/v5/public/spot");
    await markets.step(600_000);
    await socket.end();
  });
});

describe("kucoin", () => {
  async function session(): Promise<{ markets: TestMarket; socket: Listener; address: string }> {
    const markets = bootMarket();
    open.push(markets);
    const bullet = await markets.json("kucoin", "/api/v1/bullet-public", { method: "POST" });
    const endpoint = String(at(bullet, "data", "instanceServers", 0, "endpoint"));
    expect(endpoint).toStartWith(markets.market.exchanges.kucoin.ws);
    const address = `?token=${at(bullet, "data", "token")}&connectId=hQvf8jkno`;
    const socket = await Listener.open(`${endpoint}${address}`);
    open.push(socket);
    return { markets, socket, address };
  }

  test("a token opens, a welcome comes, ids come back as texts, an unknown symbol is acknowledged and stays silent", async () => {
    const { markets, socket } = await session();
    expect(await socket.next()).toEqual({ id: "hQvf8jkno", type: "welcome" });
    const topic = "/market/ticker:BTC-USDT,NOTACOIN-USDT";
    socket.send({ id: 1545910660739, type: "subscribe", topic, privateChannel: false, response: true });
    expect(await socket.next()).toEqual({ id: "1545910660739", type: "ack" });
    await markets.step(1_000);
    expectShape(await socket.next(), "kucoin", "ws-session-docs", { subject: "trade.ticker" });
    socket.send({ id: 7, type: "unsubscribe", topic, response: false });
    socket.send({ id: "9", type: "ping" });
    expect(await socket.next()).toEqual({ id: "9", type: "pong" });
    socket.send({ id: "1", type: "fly" });
    expect(await socket.next()).toEqual({ id: "1", type: "error", code: 415, data: "type is not supported" });
    socket.send({ id: 2, type: "subscribe", topic: "/market/ticker:all", response: true });
    await socket.next();
    await markets.step(1_000);
    expectShape(await socket.next(), "kucoin", "ws-session-docs", { topic: "/market/ticker:all" });
  });

  test("without a token that was issued within a day the connection is refused; without pings the connection ends", async () => {
    const { markets, socket, address } = await session();
    await expect(Listener.open(`${markets.market.exchanges.kucoin.ws}/?token=guess`)).rejects.toThrow("refused");
    await markets.step(27_999);
    expect(socket.closed).toBeNull();
    await markets.step(1);
    await expect(socket.end()).resolves.toBeDefined();
    markets.pass(86_400_000);
    await expect(Listener.open(`${markets.market.exchanges.kucoin.ws}/${address}`)).rejects.toThrow("refused");
  });
});

describe("bitstamp", () => {
  const subscribe = (channel: string) => ({ event: "bts:subscribe", data: { channel } });

  test("no ticker, but every trade, once, with price and amount as number and as text", async () => {
    const { markets, socket } = await listen("bitstamp", "/");
    socket.send(subscribe("live_trades_btcusd"));
    expectShape(await socket.next(), "bitstamp", "ws-live-trades-capture", { event: "bts:subscription_succeeded" });
    const market = markets.market.venues.bitstamp.find("btcusd");
    const before = markets.now();
    await markets.step(60_000);
    const trades = market?.tape.between(before, markets.now(), 100) ?? [];
    expect(trades.length).toBeGreaterThan(20);
    const ids: unknown[] = [];
    for (const _ of trades) {
      const frame = await socket.next();
      expectShape(frame, "bitstamp", "ws-live-trades-capture", { event: "trade" });
      ids.push(at(frame, "data", "id"));
      expect(Number(at(frame, "data", "price_str"))).toBe(Number(at(frame, "data", "price")));
    }
    expect(ids).toEqual(trades.map((trade) => trade.id));
  });

  test("heartbeats, errors, an unknown pair that stays silent, and a frame over 512 bytes", async () => {
    const { socket } = await listen("bitstamp", "/");
    socket.send({ event: "bts:heartbeat" });
    expectShape(await socket.next(), "bitstamp", "ws-control", { event: "bts:heartbeat" });
    socket.send(subscribe("live_trades_nothing"));
    expect(await socket.next()).toMatchObject({ event: "bts:subscription_succeeded" });
    socket.send(subscribe("live_trades_BTCUSD"));
    const error = (message: string) => ({ event: "bts:error", channel: "", data: { code: null, message } });
    expect(await socket.next()).toEqual(error("Invalid channel provided."));
    socket.send("{");
    expect(await socket.next()).toEqual(error("Incorrect JSON format."));
    socket.send({ event: "bts:unsubscribe", data: { channel: "live_trades_btcusd" } });
    expectShape(await socket.next(), "bitstamp", "ws-control", { event: "bts:unsubscription_succeeded" });
    socket.send({ event: "x".repeat(600) });
    expect((await socket.end()).code).not.toBe(1000);
  });
});

describe("gate", () => {
  const frame = (event: string, channel: string, payload: readonly string[]) => ({
    time: 1,
    id: 123456789,
    channel,
    event,
    payload,
  });

  test("a row a second at most, the sending time with it; one unknown pair refuses the whole payload", async () => {
    const { markets, socket } = await listen("gate", "/ws/v4/");
    socket.send(frame("subscribe", "spot.tickers", ["BTC_USDT"]));
    expectShape(await socket.next(), "gate", "ws-tickers-docs", { event: "subscribe" });
    await markets.step(1_000);
    const update = await socket.next();
    expectShape(update, "gate", "ws-tickers-docs", { event: "update" });
    expect(update["time_ms"]).toBe(markets.now());
    await markets.step(300);
    socket.send(frame("subscribe", "spot.tickers", ["ETH_USDT", "LUNARLENS_USDT"]));
    const refusal = await socket.next();
    expectShape(refusal, "gate", "ws-subscribe-refused", { event: "subscribe" });
    expect(refusal).toMatchObject({ error: { code: 2, message: "unknown currency pair: LUNARLENS_USDT" } });
    socket.send({ time: 1545404023, channel: "spot.ping" });
    expectShape(await socket.next(), "gate", "ws-tickers-docs", { channel: "spot.pong" }, { optional: ["time_ms"] });
    socket.send(frame("subscribe", "spot.book_ticker", ["BTC_USDT"]));
    await socket.next();
    await markets.step(700);
    await socket.next();
    expectShape(await socket.next(), "gate", "ws-book-ticker", { channel: "spot.book_ticker" });
  });
});

describe("all of them", () => {
  test("frames are the same bytes for two markets of one seed and clock", async () => {
    const framesOf = async (): Promise<string[]> => {
      const { markets, socket } = await listen("okx", "/ws/v5/public");
      socket.send({ op: "subscribe", args: [{ channel: "tickers", instId: "SOL-USDT" }] });
      const texts = [await socket.text(), await socket.text()];
      for (let count = 0; count < 5; count += 1) {
        await markets.step(1_000);
        texts.push(await socket.text());
      }
      return texts;
    };
    expect(await framesOf()).toEqual(await framesOf());
  });

  test("a path that is no stream's is refused, and so is a binary frame", async () => {
    const markets = bootMarket();
    open.push(markets);
    await expect(Listener.open(`${markets.market.exchanges.okx.ws}/ws/v5/private`)).rejects.toThrow("refused");
    const socket = new WebSocket(`${markets.market.exchanges.gate.ws}/ws/v4/`);
    const closed = new Promise<number>((resolve) => socket.addEventListener("close", ({ code }) => resolve(code)));
    await new Promise((resolve) => socket.addEventListener("open", resolve, { once: true }));
    socket.send(new Uint8Array([1, 2, 3]));
    expect(await closed).toBe(1003);
  });
});
