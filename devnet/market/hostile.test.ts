import { afterAll, describe, expect, test } from "bun:test";
import { startMarket } from "./market.ts";
import { exchangeIds } from "./model/listings.ts";
import { defaultOptions } from "./options.ts";
import { Listener } from "./testing/listener.ts";
import { bootMarket, marketStartMs } from "./testing/market.ts";

const markets = bootMarket();
afterAll(() => markets[Symbol.asyncDispose]());

const streams = {
  binance: "/ws",
  coinbase: "/",
  kraken: "/v2",
  okx: "/ws/v5/public",
  bybit: "/v5/public/spot",
  bitstamp: "/",
  gate: "/ws/v4/",
} as const;

describe("clients that mean no good", () => {
  test("no query makes an exchange fail: it answers with its own status below 500", async () => {
    const paths = {
      binance: [
        "/api/v3/klines?symbol=BTCUSDT&interval=1s&startTime=0&limit=999999",
        "/api/v3/ticker/24hr?symbols=[",
        "/api/v3/ticker/24hr?symbols=[1]",
        "/api/v3/klines?symbol=BTCUSDT&interval=1m&endTime=-5",
        "/api/v3/ticker/24hr?symbol=btcusdt",
      ],
      coinbase: [
        "/products/BTC-USD/candles?granularity=86400&start=x",
        "/products/%00/ticker",
        "/products/BTC-USD/candles?granularity=1e9",
        "/products/BTC-USD/candles?granularity=60&end=99999999999",
      ],
      kraken: [
        "/0/public/OHLC?pair=XBTUSD&interval=21600&since=-9",
        "/0/public/OHLC",
        "/0/public/Ticker?pair=,,,",
        "/0/public/__proto__",
        "/0/public/Ticker?pair=__proto__",
      ],
      okx: [
        "/api/v5/market/candles?instId=BTC-USDT&bar=3M&limit=300",
        "/api/v5/market/candles?instId=BTC-USDT&after=x",
        "/api/v5/market/candles?instId=BTC-USDT&after=-1&before=9999999999999999",
      ],
      bybit: [
        "/v5/market/kline?category=spot&symbol=BTCUSDT&interval=M&limit=1000",
        "/v5/market/kline?category=spot",
        "/v5/market/tickers",
        "/v5/market/kline?symbol=BTCUSDT&interval=1",
      ],
      kucoin: [
        "/api/v1/market/candles?symbol=BTC-USDT&type=1min&startAt=1&endAt=9999999999",
        "/api/v1/market/stats",
        "/api/v2/symbols/..%2f",
      ],
      bitstamp: [
        "/api/v2/ohlc/btcusd/?step=60&limit=0",
        "/api/v2/ohlc/nothing/?step=60&limit=1",
        "/api/v2/ticker",
        "/API/V2/TICKER/BTCUSD/",
      ],
      gate: [
        "/api/v4/spot/candlesticks?currency_pair=BTC_USDT&interval=30d&limit=1000",
        "/api/v4/spot/tickers?currency_pair=",
        "/api/v4/spot/candlesticks?currency_pair=BTC_USDT&interval=1s&from=0&to=999",
      ],
    };
    for (const id of exchangeIds) {
      for (const path of [...paths[id], "/", "/../..", `/${"x".repeat(9_000)}`]) {
        const response = await markets.get(id, path);
        expect([id, path.slice(0, 80), response.status < 500]).toEqual([id, path.slice(0, 80), true]);
        await response.text();
      }
      expect((await markets.get(id, "/", { method: "POST", body: "x".repeat(20_000) })).status).toBeOneOf([
        400, 404, 405, 413, 200,
      ]);
    }
  });

  test("no frame takes a stream down: each is answered or ignored, and others are served", async () => {
    const frames = [
      "",
      "null",
      "[]",
      "{",
      '{"op":1}',
      '{"method":"subscribe","params":null}',
      '{"event":"bts:subscribe","data":[]}',
      '{"op":"subscribe","args":[null,1,{}]}',
      '{"type":"subscribe","channels":[null]}',
      '{"channel":"spot.tickers","event":"subscribe","payload":{}}',
      "x".repeat(400),
    ];
    for (const [id, path] of Object.entries(streams)) {
      const url = `${markets.market.exchanges[id as keyof typeof streams].ws}${path}`;
      for (const frame of frames) {
        using socket = await Listener.open(url);
        socket.send(frame);
        socket.send("ping");
        await markets.step(0);
      }
      using last = await Listener.open(url);
      expect(last.closed).toBeNull();
    }
  });

  test("a frame over an exchange's length ends the connection", async () => {
    for (const [id, path] of Object.entries(streams)) {
      using socket = await Listener.open(`${markets.market.exchanges[id as keyof typeof streams].ws}${path}`);
      socket.send("x".repeat(70_000));
      expect([id, (await socket.end()).code === 1000]).toEqual([id, false]);
    }
  });
});

describe("streams that are left alone", () => {
  test("Binance ends a connection that answers no ping within a minute", async () => {
    await using own = bootMarket();
    const { hostname, port } = new URL(own.market.exchanges.binance.rest);
    let text = "";
    let wake: () => void = () => {};
    const until = async (isDone: () => boolean): Promise<void> => {
      while (!isDone()) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    };
    let isClosed = false;
    const socket = await Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        data(_, bytes) {
          text += bytes.toString("latin1");
          wake();
        },
        close() {
          isClosed = true;
          wake();
        },
      },
    });
    const key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n";
    socket.write(`GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n${key}\r\n`);
    await until(() => text.includes("\r\n\r\n"));
    await own.step(20_000);
    // 0x89 opens a ping, whose content is the time.
    await until(() => text.includes(`\x89\x0d${own.now()}`));
    await own.step(30_000);
    expect(isClosed).toBe(false);
    await own.step(30_000);
    await until(() => text.includes("\x88") || isClosed);
    socket.end();
  });

  test("a timer runs only while a client listens, and a tick without clients does nothing", async () => {
    const timers = { started: 0, running: 0 };
    const clock = {
      now: () => marketStartMs,
      sleep: () => Promise.resolve(),
      every() {
        timers.started += 1;
        timers.running += 1;
        return {
          [Symbol.dispose]() {
            timers.running -= 1;
          },
        };
      },
    };
    await using own = startMarket({ ...defaultOptions, seed: "test" }, { clock });
    expect(timers).toEqual({ started: 0, running: 0 });
    const first = await Listener.open(`${own.exchanges.okx.ws}/ws/v5/public`);
    const second = await Listener.open(`${own.exchanges.gate.ws}/ws/v4/`);
    second.send({ channel: "spot.ping" });
    await second.next();
    expect(timers).toEqual({ started: 1, running: 1 });
    await fetch(`${own.adminUrl}/close`, { method: "POST", body: "{}" });
    await Promise.all([first.end(), second.end()]);
    own.tick();
    expect(timers).toEqual({ started: 1, running: 0 });
  });

  test("connections beyond a thousand are refused until one of them ends", async () => {
    await using own = bootMarket();
    const url = `${own.market.exchanges.bybit.ws}/v5/public/spot`;
    const all = await Promise.all(Array.from({ length: 1_000 }, () => Listener.open(url)));
    await expect(Listener.open(url)).rejects.toThrow("refused");
    all[0]?.[Symbol.dispose]();
    await all[0]?.end();
    using late = await Listener.open(url);
    late.send({ op: "ping" });
    expect(await late.next()).toMatchObject({ ret_msg: "pong" });
  });
});

describe("request limits", () => {
  test("Binance counts weight, reports it, refuses over it, and bans for two minutes a client that goes on", async () => {
    await using strict = bootMarket({ limits: true });
    const all = () => strict.get("binance", "/api/v3/ticker/24hr");
    const first = await all();
    expect(first.headers.get("x-mbx-used-weight-1m")).toBe("80");
    for (let count = 1; count < 75; count += 1) await (await all()).text();
    const over = await all();
    expect([over.status, over.headers.get("retry-after")]).toEqual([429, "30"]);
    expect(((await over.json()) as { code: number }).code).toBe(-1003);
    for (let count = 0; count < 20; count += 1) await (await all()).text();
    const banned = await strict.get("binance", "/api/v3/time");
    expect([banned.status, banned.headers.get("retry-after")]).toEqual([418, "120"]);
    strict.pass(60_000);
    expect((await strict.get("binance", "/api/v3/time")).status).toBe(418);
    strict.pass(60_000);
    expect((await strict.get("binance", "/api/v3/time")).status).toBe(200);
  });

  test("Coinbase lets fifteen through at once and ten a second; Kraken one a second; OKX twenty a route in two", async () => {
    await using strict = bootMarket({ limits: true });
    const passed = async (ask: () => Promise<string>, count: number): Promise<number> => {
      const texts = await Promise.all(Array.from({ length: count }, ask));
      return texts.filter((text) => !/limit exceeded|Too many|Too Many/.test(text)).length;
    };
    const coinbase = async () => await (await strict.get("coinbase", "/time")).text();
    const kraken = async () => await (await strict.get("kraken", "/0/public/Time")).text();
    const okx = async () => await (await strict.get("okx", "/api/v5/public/time")).text();
    expect([await passed(coinbase, 20), await passed(kraken, 20), await passed(okx, 25)]).toEqual([15, 15, 20]);
    strict.pass(1_000);
    expect([await passed(coinbase, 20), await passed(kraken, 20)]).toEqual([10, 1]);
    strict.pass(1_000);
    expect(await passed(okx, 25)).toBe(20);
    expect(await (await strict.get("okx", "/api/v5/market/ticker?instId=BTC-USDT")).text()).toContain('"code":"0"');
  });

  test("Bybit, KuCoin and Gate report what is left", async () => {
    await using strict = bootMarket({ limits: true });
    const bybit = await strict.get("bybit", "/v5/market/time");
    expect([bybit.headers.get("x-bapi-limit"), bybit.headers.get("x-bapi-limit-status")]).toEqual(["50", "49"]);
    const kucoin = await strict.get("kucoin", "/api/v1/market/allTickers");
    expect([kucoin.headers.get("gw-ratelimit-limit"), kucoin.headers.get("gw-ratelimit-remaining")]).toEqual([
      "2000",
      "1985",
    ]);
    const gate = await strict.get("gate", "/api/v4/spot/time");
    expect([gate.headers.get("x-gate-ratelimit-limit"), gate.headers.get("x-gate-ratelimit-requests-remain")]).toEqual([
      "200",
      "199",
    ]);
    for (let count = 0; count < 49; count += 1) await (await strict.get("bybit", "/v5/market/time")).text();
    expect(await strict.json("bybit", "/v5/market/time")).toMatchObject({
      retCode: 10_006,
      retMsg: "Too many visits!",
    });
  });
});
