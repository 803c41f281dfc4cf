import { describe, expect, test } from "bun:test";
import { exchanges } from "./exchanges/index.ts";
import { expectedReadings } from "./testing/expected-readings.ts";
import { readExchangeFixtures } from "./testing/fixtures.ts";
import {
  meaningOfAnswer,
  meaningOfFrame,
  readRecording,
  recordedRequests,
  recordedSymbols,
} from "./testing/market-recordings.ts";
import { linesOf, linesOfAnswer, readAtMs, readFixture } from "./testing/readings.ts";

/** Equal lines in a row as one with their count. */
function counted(lines: readonly string[]): string[] {
  const runs: { line: string; times: number }[] = [];
  for (const line of lines) {
    const before = runs.at(-1);
    if (before?.line === line) before.times += 1;
    else runs.push({ line, times: 1 });
  }
  return runs.map(({ line, times }) => (times === 1 ? line : `${times} x ${line}`));
}

for (const exchange of exchanges) {
  const fixtures = readExchangeFixtures(exchange.id);
  describe.skipIf(fixtures.length === 0)(`recorded answers and streams of ${exchange.id} mean what they say`, () => {
    test.each(fixtures.map((fixture) => [fixture.name, fixture] as const))("%s", (name, fixture) => {
      const lines =
        fixture.received.length > 0
          ? fixture.received.flatMap((text) => linesOf(exchange.stream.read(text)))
          : linesOfAnswer(readFixture(exchange, fixture));
      const expected = expectedReadings[exchange.id]?.[name];
      expect(expected).toBeDefined();
      expect(counted(lines)).toEqual([...(expected ?? [])]);
    });
    test("and none is left out", () => {
      const names = Object.keys(expectedReadings[exchange.id] ?? {});
      expect(names.toSorted()).toEqual(fixtures.map(({ name }) => name).toSorted());
    });
  });
}

describe("recordings of the development market mean what stands in them", () => {
  for (const exchange of exchanges) {
    const { answers, frames } = readRecording(exchange.id);
    const requests = recordedRequests(exchange);
    test(`${exchange.id}: every answer and every frame`, () => {
      for (const { request: at, status, body, means } of answers) {
        const request = requests[at];
        if (request === undefined) throw new Error(`${exchange.id} makes no request ${at}`);
        expect(meaningOfAnswer(exchange, request, status, body)).toEqual([...means]);
      }
      expect(answers.length).toBe(requests.length);
      for (const { text, means } of frames) expect(meaningOfFrame(exchange, text)).toEqual([...means]);
    });
    test(`${exchange.id}: no row is dropped, and each market that it lists has a price by request and by stream`, () => {
      const listed = exchange.markets.filter(({ base }) => recordedSymbols.includes(base));
      const bases = (lines: readonly string[]): string[] => {
        const names = lines.filter((line) => line.includes("|")).map((line) => line.split(" ")[0] ?? "");
        const found = listed.filter((each) =>
          [each.name, each.streamName, ...each.aliases].some((name) => names.includes(name)),
        );
        return found.map(({ base }) => base).toSorted();
      };
      const expected = listed.map(({ base }) => base).toSorted();
      const answered = answers.flatMap(({ means }) => means);
      const streamed = frames.flatMap(({ means }) => means);
      const candled = (lines: readonly string[]) =>
        bases(lines.flatMap((line) => (/ candle /.test(line) ? `${line} |` : [])));
      expect(candled(answered)).toEqual(expected);
      // These have no candles on the stream that is read.
      const isByRequest = ["coinbase", "okx", "bitstamp"].includes(exchange.id);
      if (isByRequest) expect(candled(streamed)).toEqual([]);
      else expect(candled(streamed)).toContain("BTC");
      expect([...answered, ...streamed].filter((line) => /dropped|malformed|refused|unknown/.test(line))).toEqual([]);
      expect(bases(answered)).toEqual(expected);
      expect(bases(streamed)).toEqual(expected);
    });
  }
});

describe("names", () => {
  const marketsOf = (id: string) => exchanges.find((each) => each.id === id)?.markets ?? [];
  const named = (id: string, base: string) => marketsOf(id).find((market) => market.base === base);

  test("each exchange calls Bitcoin what it calls it", () => {
    const names = exchanges.map(({ id, markets }) => [id, markets[0]?.name, markets[0]?.streamName, markets[0]?.quote]);
    expect(names).toEqual([
      ["binance", "BTCUSDT", "BTCUSDT", "USDT"],
      ["coinbase", "BTC-USD", "BTC-USD", "USD"],
      ["kraken", "XBTUSD", "BTC/USD", "USD"],
      ["okx", "BTC-USDT", "BTC-USDT", "USDT"],
      ["bybit", "BTCUSDT", "BTCUSDT", "USDT"],
      ["kucoin", "BTC-USDT", "BTC-USDT", "USDT"],
      ["bitstamp", "btcusd", "btcusd", "USD"],
      ["gate", "BTC_USDT", "BTC_USDT", "USDT"],
    ]);
  });

  test("no name of an exchange means two of its markets, and no base is listed twice", () => {
    for (const { markets } of exchanges) {
      const names = markets.flatMap((market) => [...new Set([market.name, market.streamName, ...market.aliases])]);
      expect(new Set(names).size).toBe(names.length);
      expect(new Set(markets.map(({ base }) => base)).size).toBe(markets.length);
    }
  });

  test("Kraken's answers are matched under every key that it was seen to use", () => {
    expect(named("kraken", "BTC")?.aliases).toEqual(expect.arrayContaining(["XXBTZUSD", "BTC/USD"]));
    expect(named("kraken", "ETH")?.aliases).toContain("XETHZUSD");
    expect(named("kraken", "USDT")?.aliases).toContain("USDTZUSD");
  });

  test("no market is read that is another in disguise", () => {
    // USDC is a dollar in Coinbase's books, and Gate's names in USD are no spot markets.
    expect(named("coinbase", "USDC")).toBeUndefined();
    expect(marketsOf("gate").every(({ quote }) => quote === "USDT")).toBe(true);
  });
});

describe("traps", () => {
  const exchangeOf = (id: string) => {
    const found = exchanges.find((each) => each.id === id);
    if (found === undefined) throw new Error(id);
    return found;
  };
  const answer = (text: string, status = 200, headers: Record<string, string> = {}) => ({
    status,
    header: (name: string) => headers[name] ?? null,
    text,
    receivedAtMs: readAtMs,
  });
  const request = (id: string, count = 1) => ({
    method: "GET" as const,
    path: "",
    markets: exchangeOf(id).markets.slice(0, count),
    part: "price" as const,
  });

  test("a number of Kraken's stream keeps digits that a double has not", () => {
    const row =
      '{"symbol":"BTC/USD","bid":1.000000000000000001,"bid_qty":1,"ask":1.000000000000000003,"ask_qty":1,' +
      '"last":1.000000000000000002,"volume":3,"vwap":1,"low":1,"high":1,"change":0,"change_pct":0}';
    const lines = linesOf(exchangeOf("kraken").stream.read(`{"channel":"ticker","type":"update","data":[${row}]}`));
    expect(lines).toEqual([
      "BTC/USD 1.000000000000000002 1.000000000000000001 1.000000000000000003 | 1.000000000000000002 1 1 3 3 | - -",
    ]);
  });

  test("Kraken's single market is taken under whatever key it comes, several only under known ones", () => {
    const row = '{"a":["2","1","1"],"b":["2","1","1"],"c":["2","1"],"v":["1","1"],"p":["2","2"],"t":[1,1]}';
    const text = `{"error":[],"result":{"XBT.M/USD":${row}}}`;
    const kraken = exchangeOf("kraken");
    const one = kraken.rest.read(request("kraken"), answer(text));
    expect(one.kind === "rows" && one.rows.map(({ name }) => name)).toEqual(["XBTUSD"]);
    const two = kraken.rest.read(request("kraken", 2), answer(text));
    expect(two.kind === "rows" && two.rows.map(({ name }) => name)).toEqual(["XBT.M/USD"]);
  });

  test("warnings of Kraken are no errors, and a missing or empty result is no success", () => {
    const kraken = exchangeOf("kraken");
    expect(kraken.rest.read(request("kraken"), answer('{"error":["WGeneral:Danger"],"result":{"A":{}}}')).kind).toBe(
      "rows",
    );
    for (const text of ['{"error":[]}', '{"error":[],"result":null}', '{"error":[],"result":{}}', "[]", "null", ""])
      expect(kraken.rest.read(request("kraken"), answer(text)).kind).toBe("malformed");
  });

  test("Bitstamp's list of everything is never taken for the market asked", () => {
    const row = '{"last":"2","bid":"2","ask":"2","timestamp":"1790000000"}';
    const bitstamp = exchangeOf("bitstamp");
    expect(bitstamp.rest.read(request("bitstamp"), answer(`[${row}]`)).kind).toBe("unknown-market");
    expect(bitstamp.rest.read(request("bitstamp"), answer(row)).kind).toBe("rows");
    const perpetual = row.replace("{", '{"market_type":"PERPETUAL",');
    expect(bitstamp.rest.read(request("bitstamp"), answer(perpetual)).kind).toBe("unknown-market");
  });

  test("a derivative is no spot row on OKX and Bybit", () => {
    const swap = '{"instType":"SWAP","instId":"BTC-USDT","last":"2","bidPx":"2","askPx":"2","ts":"1790358564077"}';
    const pushed = exchangeOf("okx").stream.read(`{"arg":{"channel":"tickers","instId":"BTC-USDT"},"data":[${swap}]}`);
    expect(pushed).toEqual({ kind: "rows", rows: [], drops: ["wrong-kind"] });
    expect(exchangeOf("okx").rest.read(request("okx"), answer(`{"code":"0","data":[${swap}]}`)).kind).toBe("malformed");
    const linear = '{"retCode":0,"result":{"category":"linear","list":[{"symbol":"BTCUSDT"}]},"time":1790358564077}';
    expect(exchangeOf("bybit").rest.read(request("bybit"), answer(linear)).kind).toBe("malformed");
  });

  test("an empty side of Bybit's book is distinguished from a frame without one", () => {
    const frame = (sides: string) =>
      `{"topic":"orderbook.1.BTCUSDT","ts":1790358564077,"type":"snapshot","data":{"s":"BTCUSDT",${sides}"u":1}}`;
    const read = (sides: string) => linesOf(exchangeOf("bybit").stream.read(frame(sides)));
    expect(read('"b":[["2","1"]],"a":[["3","1"]],')).toEqual(["BTCUSDT dropped: wide-spread"]);
    expect(read('"b":[["2.99","1"]],"a":[["3","1"]],')).toEqual(["BTCUSDT - 2.99 3 | - | 1790358564077 -"]);
    expect(read('"b":[],"a":[["3","1"]],')).toEqual(["BTCUSDT dropped: empty-side"]);
    expect(read('"a":[["3","1"]],')).toEqual(["BTCUSDT dropped: missing-field"]);
  });

  test("waits that exchanges ask for are kept, within three days, and moments that are past are none", () => {
    const limited = (id: string, status: number, headers: Record<string, string>, text = "{}") =>
      exchangeOf(id).rest.read(request(id), answer(text, status, headers));
    const seconds = Math.floor(readAtMs / 1_000);
    expect(limited("binance", 429, { "retry-after": "13" })).toMatchObject({ waitMs: 13_000, banned: false });
    expect(limited("binance", 418, { "retry-after": "999999999" })).toMatchObject({
      waitMs: 259_200_000,
      banned: true,
    });
    const banned = JSON.stringify({ code: -1003, msg: `IP banned until ${readAtMs + 77_000}.` });
    expect(limited("binance", 418, {}, banned)).toMatchObject({ waitMs: 77_000, banned: true });
    expect(limited("gate", 429, { "x-gate-ratelimit-reset-timestamp": `${seconds + 9}` })).toMatchObject({
      waitMs: 9_000,
    });
    expect(limited("gate", 429, { "x-gate-ratelimit-reset-timestamp": `${seconds - 9}` })).toMatchObject({
      waitMs: null,
    });
    expect(limited("coinbase", 429, { "retry-after": new Date(readAtMs + 5_000).toUTCString() })).toMatchObject({
      waitMs: 5_000,
    });
    const lockout = '{"error":["EGeneral:Temporary lockout"]}';
    expect(limited("kraken", 200, {}, lockout)).toMatchObject({ waitMs: 900_000, banned: true });
    const throttled = `{"error":["EService:Throttled:${seconds + 4}"]}`;
    expect(limited("kraken", 200, {}, throttled)).toMatchObject({ waitMs: 4_000 });
    expect(limited("bybit", 403, {}, "403, access too frequent")).toMatchObject({ waitMs: 600_000, banned: true });
    expect(limited("okx", 200, {}, '{"code":"50011","data":[]}')).toMatchObject({ kind: "limited", waitMs: null });
    expect(limited("kucoin", 429, { "gw-ratelimit-reset": "14521" })).toMatchObject({ waitMs: 14_521 });
  });

  test("KuCoin's token is used at its own hosts or the configured one, and nowhere else", () => {
    const { ticket } = exchangeOf("kucoin").stream;
    const grant = (endpoint: string, ping = "18000") =>
      answer(
        `{"code":"200000","data":{"token":"t&k","instanceServers":[{"endpoint":"${endpoint}","pingInterval":${ping}}]}}`,
      );
    const live = exchangeOf("kucoin").endpoint;
    const read = (endpoint: string, ours = live, ping = "18000") => ticket?.read(grant(endpoint, ping), ours, "c1");
    expect(read("wss://ws-api-spot.kucoin.com/")).toEqual({
      kind: "ticket",
      url: "wss://ws-api-spot.kucoin.com/?token=t%26k&connectId=c1",
      pingEveryMs: 18_000,
      silenceMs: 28_000,
    });
    expect(read("wss://ws-api-spot.kucoin.com/", live, "1")).toMatchObject({ pingEveryMs: 1_000 });
    for (const elsewhere of [
      "ws://ws-api-spot.kucoin.com/",
      "wss://kucoin.com.example/",
      "wss://evilkucoin.com/",
      "http://169.254.169.254/",
      "no address",
    ])
      expect(read(elsewhere)?.kind).toBe("malformed");
    const local = { rest: "http://127.0.0.1:9/kucoin", ws: "ws://127.0.0.1:9/kucoin" };
    expect(read("ws://127.0.0.1:9/kucoin/ws", local)?.kind).toBe("ticket");
    expect(read("ws://127.0.0.1:8/kucoin/ws", local)?.kind).toBe("malformed");
    expect(read("wss://ws-api-spot.kucoin.com/", local)?.kind).toBe("malformed");
  });

  test("requests name every market that they were asked for, and no answer is awaited without a request", () => {
    for (const { markets, rest } of exchanges) {
      const asked = rest.requests(markets).filter(({ part }) => part === "price");
      expect(new Set(asked.flatMap((each) => each.markets))).toEqual(new Set(markets));
      for (const { path, markets: named } of asked)
        for (const { name } of named) expect(decodeURIComponent(path)).toContain(name);
    }
  });

  test("subscriptions name every market, in as many frames as one bad name may spoil", () => {
    const framesOf = (id: string) => {
      const { markets, stream } = exchangeOf(id);
      return { frames: stream.subscribe(markets, readAtMs), count: markets.length };
    };
    // At Gate a frame is of one channel as well.
    for (const [id, each] of [
      ["coinbase", 1],
      ["bybit", 1],
      ["gate", 2],
      ["bitstamp", 1],
    ] as const) {
      const { frames, count } = framesOf(id);
      expect(frames.length).toBe(count * each);
    }
    for (const id of ["binance", "okx"]) expect(framesOf(id).frames.length).toBe(1);
    // A channel of candles beside that of prices.
    for (const id of ["kraken", "kucoin"]) expect(framesOf(id).frames.length).toBe(2);
    expect(framesOf("binance").frames[0]).toContain('"btcusdt@ticker","btcusdt@kline_1m"');
    // Bitstamp cuts a connection that sends more than 512 bytes in a frame.
    for (const frame of framesOf("bitstamp").frames) expect(frame.length).toBeLessThan(512);
  });
});
