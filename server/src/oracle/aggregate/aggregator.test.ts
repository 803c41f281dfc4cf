import { describe, expect, test } from "bun:test";
import { decimal, formatDecimal, zero } from "../model/decimal.ts";
import { dataAtMs, type Round } from "../model/round.ts";
import { startMs, Table, tickOf, ticksOf, toNumber } from "./testing/ticks.ts";

const priceOf = (round: Round): string => (round.kind === "price" ? formatDecimal(round.price) : round.reason);
const sourcesOf = (round: Round): readonly string[] =>
  round.kind === "price" ? round.sources.map(({ source }) => source) : round.sources;
const second = 1_000;

describe("what is counted", () => {
  test("a price is the weighted median of its sources, reported with their shares", () => {
    const round = new Table().receive(...ticksOf(["100.1", "100", "100.2"])).round();
    if (round.kind !== "price") throw new Error(round.reason);
    expect(formatDecimal(round.price)).toBe("100.1");
    expect(round.sources.map(({ source, price }) => [source, formatDecimal(price)])).toEqual([
      ["binance", "100.1"],
      ["coinbase", "100"],
      ["kraken", "100.2"],
    ]);
    expect(round.sources.reduce((sum, { weight }) => sum + toNumber(weight), 0)).toBeCloseTo(1, 12);
    expect(formatDecimal(round.volume24h ?? zero)).toBe("3000000");
    expect([round.change24h, round.high24h, round.low24h]).toEqual([null, null, null]);
  });

  test("a source is out when its own time is older than three cadences, and a mark alone notices it", () => {
    const table = new Table({ cadenceMs: { binance: 2 * second } }).receive(...ticksOf(["100", "100", "100", "100"]));
    expect(sourcesOf(table.round())).toEqual(["binance", "coinbase", "kraken", "okx"]);
    expect(sourcesOf(table.round(startMs + 6 * second))).toEqual(["binance", "coinbase", "kraken", "okx"]);
    expect(sourcesOf(table.round(startMs + 6 * second + 1))).toEqual(["coinbase", "kraken", "okx"]);
    expect(priceOf(table.round(startMs + 61 * second))).toBe("too-few-sources");
    expect(table.mark(startMs + 99 * second)).toEqual([]);
  });

  test("confidence falls while no source speaks, every two seconds, and the price stays that of its data", () => {
    const table = new Table().receive(...ticksOf(["100", "100", "100", "100"]));
    const rounds = [0, 1, 2, 4, 6, 20, 29].map((seconds) =>
      table.mark(startMs + seconds * second).find(({ symbol }) => symbol === "BTC"),
    );
    const confidences = rounds.flatMap((round) => (round?.kind === "price" ? [round.confidence] : []));
    expect(rounds[1]).toBeUndefined();
    expect(confidences).toHaveLength(6);
    expect(confidences).toEqual(confidences.toSorted((one, other) => (one < other ? 1 : -1)));
    expect(new Set(confidences).size).toBe(6);
    const last = rounds.at(-1);
    expect(last?.kind === "price" && dataAtMs(last)).toBe(startMs);
  });

  test("patience ends at a minute, whatever the cadence", () => {
    const table = new Table({ cadenceMs: { binance: 3_600 * second } }).receive(...ticksOf(["100", "100", "100"]));
    table.mark();
    expect(priceOf(table.round(startMs + 60 * second + 1))).toBe("too-few-sources");
  });

  test("a message that goes on with a time that stands still does not keep a source fresh", () => {
    const table = new Table({ cadenceMs: { binance: 1_000 } }).receive(...ticksOf(["100", "100", "100", "100"]));
    for (let s = 1; s <= 10; s += 1) {
      table.receive(tickOf("binance", "100", { asOfMs: startMs, receivedAtMs: startMs + s * second }));
    }
    expect(sourcesOf(table.round(startMs + 10 * second))).toEqual(["coinbase", "kraken", "okx"]);
  });

  test("a clock that runs ahead buys no freshness, and what is older than what is known changes nothing", () => {
    const table = new Table({ cadenceMs: { binance: 1_000 } });
    table.receive(...ticksOf(["100", "100", "100", "100"]));
    table.receive(tickOf("binance", "101", { asOfMs: startMs + 3_600 * second, receivedAtMs: startMs }));
    table.receive(tickOf("binance", "55", { asOfMs: startMs - 1, receivedAtMs: startMs + 1 }));
    const round = table.round();
    expect(round.kind === "price" && formatDecimal(round.sources[0]?.price ?? decimal("0"))).toBe("101");
    expect(sourcesOf(table.round(startMs + 3 * second + 1))).not.toContain("binance");
  });

  test("after our clock was set back sources are counted again with their next tick, and not aged by the old clock", () => {
    const table = new Table().receive(...ticksOf(["100", "100", "100"]));
    table.mark();
    const backMs = startMs - 3_600 * second;
    expect(priceOf(table.receive(tickOf("binance", "101", { asOfMs: backMs })).round(backMs))).toBe("too-few-sources");
    const rest = [tickOf("coinbase", "101", { asOfMs: backMs }), tickOf("kraken", "101", { asOfMs: backMs })];
    expect(priceOf(table.receive(...rest).round(backMs + 1))).toBe("101");
    // A slewed clock is no set one.
    expect(sourcesOf(table.receive(tickOf("okx", "101", { asOfMs: backMs - 3 * second })).round(backMs))).toHaveLength(
      4,
    );
  });

  test("a source whose clock runs while it stands still is out once the price has left it", () => {
    const table = new Table({ cadenceMs: { binance: 1_000 } });
    const at = (ms: number, others: string): Round => {
      const when = { asOfMs: startMs + ms };
      table.receive(tickOf("binance", "100", when));
      table.receive(tickOf("coinbase", others, when), tickOf("kraken", others, when), tickOf("okx", others, when));
      return table.round(startMs + ms);
    };
    at(0, "100");
    // Standing still is no fault while the price does too.
    expect(sourcesOf(at(30 * second, "100.1"))).toContain("binance");
    at(31 * second, "100.4");
    expect(sourcesOf(at(32 * second, "100.4"))).not.toContain("binance");
  });

  test("majors need three sources, others two", () => {
    const table = new Table();
    expect(priceOf(table.receive(...ticksOf(["100", "100"])).round())).toBe("too-few-sources");
    expect(priceOf(table.receive(...ticksOf(["2", "2"], { base: "FTT" })).round(startMs, "FTT"))).toBe("2");
  });

  test("several markets of one exchange are one source", () => {
    const markets = new Table().receive(
      tickOf("coinbase", "100"),
      tickOf("coinbase", "100", { quote: "USDT" }),
      tickOf("coinbase", "100", { quote: "USDC" }),
    );
    expect(priceOf(markets.round())).toBe("too-few-sources");
  });

  test("an exchange's market in dollars speaks for it; without one its other markets do, by volume", () => {
    const volume = (text: string) => ({ quoteVolume24h: decimal(text) });
    const coin = (source: "coinbase" | "kraken" | "bitstamp") => [
      tickOf(source, "1", { base: "USDT" }),
      tickOf(source, "1", { base: "USDC" }),
    ];
    const table = new Table().receive(...coin("coinbase"), ...coin("kraken"), ...coin("bitstamp"));
    table.mark();
    const round = table
      .receive(
        tickOf("coinbase", "100", volume("1")),
        tickOf("coinbase", "100.3", { quote: "USDT", ...volume("1000") }),
        tickOf("binance", "100", { quote: "USDT", ...volume("300") }),
        tickOf("binance", "100.4", { quote: "USDC", ...volume("100") }),
        tickOf("kraken", "100", volume("1000")),
      )
      .round();
    if (round.kind !== "price") throw new Error(round.reason);
    expect(round.sources.map(({ source, price }) => `${source} ${toNumber(price).toFixed(3)}`)).toEqual([
      "binance 100.100",
      "coinbase 100.000",
      "kraken 100.000",
    ]);
    expect(toNumber(round.volume24h ?? zero)).toBeCloseTo(2_401, 9);
  });

  test("a price of which nothing is left in dollars is not counted, from any source", () => {
    const table = new Table().receive(...ticksOf(["0.9995", "0.9995", "0.9995"], { base: "USDT" }));
    table.mark();
    const crumbs = ticksOf(["1e-18", "1e-18", "1e-18"], { quote: "USDT" });
    expect(priceOf(table.receive(...crumbs).round())).toBe("too-few-sources");
    const turned = ticksOf(["1e23", "1e23", "1e23"], { base: "USDC", quote: "USDT" });
    expect(table.receive(...turned).round(startMs, "USDT").kind).toBe("price");
  });

  test("ticks of symbols that are not priced, without a price or with no time are not kept", () => {
    const table = new Table().receive(
      tickOf("binance", "1", { base: "DOGE" }),
      tickOf("binance", "0"),
      tickOf("binance", "1", { asOfMs: Number.NaN, receivedAtMs: startMs }),
    );
    expect(table.mark()).toEqual([]);
  });
});

describe("the day's figures", () => {
  const day = (open: string, high: string, low: string) => ({
    open24h: decimal(open),
    high24h: decimal(high),
    low24h: decimal(low),
  });

  test("change, high and low are medians, so that one source's nonsense does not show", () => {
    const round = new Table()
      .receive(
        tickOf("binance", "110", day("100", "112", "99")),
        tickOf("coinbase", "110", day("100", "112", "99")),
        tickOf("kraken", "110", day("1", "900000", "0.1")),
      )
      .round();
    if (round.kind !== "price") throw new Error(round.reason);
    const text = [round.change24h, round.high24h, round.low24h].map((value) => value && formatDecimal(value));
    expect(text).toEqual(["10", "112", "99"]);
  });

  test("high and low hold the price, and a volume in wrong units counts for a hundred medians at most", () => {
    const round = new Table()
      .receive(
        tickOf("binance", "110", day("100", "105", "99")),
        tickOf("coinbase", "110", day("100", "105", "99")),
        tickOf("kraken", "110", { ...day("100", "105", "99"), quoteVolume24h: decimal("1e20") }),
      )
      .round();
    if (round.kind !== "price") throw new Error(round.reason);
    expect(formatDecimal(round.high24h ?? decimal("0"))).toBe("110");
    expect(formatDecimal(round.volume24h ?? zero)).toBe("102000000");
  });
});

describe("jumps", () => {
  const all = (price: string, atMs: number) => ticksOf([price, price, price], { asOfMs: atMs });

  test("a jump beyond the breaker is refused until the sources have agreed for three rounds, a second apart", () => {
    const table = new Table();
    expect(priceOf(table.receive(...all("100", startMs)).round())).toBe("100");
    const seen = [0, 10, 500, 1_000, 1_500, 2_000, 2_500].map((ms) => {
      const atMs = startMs + 5 * second + ms;
      return priceOf(table.receive(...all("120", atMs)).round(atMs));
    });
    expect(seen).toEqual(["breaker", "breaker", "breaker", "breaker", "breaker", "120", "120"]);
  });

  test("a jump that does not hold begins anew, and one within the limit passes at once", () => {
    const table = new Table().receive(...all("100", startMs));
    table.mark();
    const seen = ["120", "122", "150", "122", "114"].map((price, index) => {
      const atMs = startMs + (index + 1) * second;
      return priceOf(table.receive(...all(price, atMs)).round(atMs));
    });
    expect(seen).toEqual(["breaker", "breaker", "breaker", "breaker", "114"]);
  });

  test("a price has the same confidence after a jump as before it, as soon as it is served", () => {
    const table = new Table();
    const confidences = [0, 5, 6, 7, 30].flatMap((seconds) => {
      const atMs = startMs + seconds * second;
      const round = table.receive(...all(seconds === 0 ? "100" : "140", atMs)).round(atMs);
      return round.kind === "price" ? [round.confidence] : [];
    });
    expect(confidences).toHaveLength(3);
    expect(new Set(confidences).size).toBe(1);
  });
});

describe("sides", () => {
  test("an even split is refused", () => {
    expect(priceOf(new Table().receive(...ticksOf(["100", "100", "103", "103"])).round())).toBe("disagreement");
    expect(priceOf(new Table().receive(...ticksOf(["2", "2.1"], { base: "FTT" })).round(startMs, "FTT"))).toBe(
      "disagreement",
    );
  });

  test("one source far away decides nothing", () => {
    expect(priceOf(new Table().receive(...ticksOf(["100", "100", "900"])).round())).toBe("100");
    expect(priceOf(new Table().receive(...ticksOf(["100", "100.1", "100.2", "0.0001"])).round())).toBe("100.05");
  });

  test("five of nine that jump away together are refused, five of nine that stay are not", () => {
    const nine = (low: number): string[] => [...Array<string>(low).fill("100"), ...Array<string>(9 - low).fill("104")];
    for (const [staying, expected] of [
      [4, "disagreement"],
      [5, "100"],
    ] as const) {
      const table = new Table().receive(...ticksOf(nine(9)));
      table.mark();
      expect(priceOf(table.receive(...ticksOf(nine(staying), { asOfMs: startMs + 1 })).round(startMs + 1))).toBe(
        expected,
      );
    }
  });

  test("two of five that claim boundless volumes are not believed, at the start not even against", () => {
    const lying = { quoteVolume24h: decimal("1e15") };
    const five = (atMs: number, lie: string) => [
      ...ticksOf(["100", "100", "100"], { asOfMs: atMs }),
      tickOf("okx", lie, { asOfMs: atMs, ...lying }),
      tickOf("bybit", lie, { asOfMs: atMs, ...lying }),
    ];
    expect(priceOf(new Table().receive(...five(startMs, "104")).round())).toBe("disagreement");
    const table = new Table().receive(...five(startMs, "100"));
    table.mark();
    expect(priceOf(table.receive(...five(startMs + 1, "104")).round(startMs + 1))).toBe("100");
  });

  test("prices scattered beyond each other's reach are no price", () => {
    expect(priceOf(new Table().receive(...ticksOf(["100", "102", "104", "106", "108"])).round())).toBe("disagreement");
  });

  test("books with wide spreads reach further", () => {
    const wide = { base: "FTT", bid: decimal("1.99"), ask: decimal("2.01") };
    const round = new Table().receive(...ticksOf(["1.99", "2.03"], wide)).round(startMs, "FTT");
    expect(priceOf(round)).toBe("2.01");
  });
});
