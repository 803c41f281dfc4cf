import { describe, expect, test } from "bun:test";
import { decimal, formatDecimal } from "../model/decimal.ts";
import type { Round } from "../model/round.ts";
import type { SourceId, Tick } from "../model/tick.ts";
import { indexOf, type StablecoinIndex, unsure, type Witnesses } from "./stablecoin-index.ts";
import { startMs, Table, tickOf } from "./testing/ticks.ts";

const reported = (index: StablecoinIndex): string =>
  index.state === "unsure" ? index.state : `${index.state} ${formatDecimal(index.price)}`;
const pegged = (price: string): StablecoinIndex => ({ state: "pegged", price: decimal(price), band: decimal("0") });
const index = (direct: string[], crosses: string[] = [], other: StablecoinIndex = unsure): string =>
  reported(indexOf({ direct: direct.map(decimal), crosses: crosses.map(decimal), other } satisfies Witnesses));

describe("a coin's index", () => {
  test("is the median of the venues that quote it in dollars", () => {
    expect(index(["0.9995", "0.9998", "1.0001"])).toBe("pegged 0.9998");
    expect(index(["0.9995", "0.9999"])).toBe("pegged 0.9997");
  });

  test("is not moved by one witness, however far it goes", () => {
    for (const lie of ["0.2", "0.98", "1.02", "3"]) expect(index(["0.9995", "0.9998", lie])).toMatch(/^pegged 0.999/);
  });

  test("leaves the peg only when all witnesses agree, and then reports a wider band", () => {
    expect(index(["0.95", "0.951", "0.9505"])).toBe("depegged 0.9505");
    expect(index(["0.95", "0.951", "0.9995"])).toBe("unsure");
    const falling = indexOf({ direct: [decimal("0.95"), decimal("0.95")], crosses: [], other: unsure });
    expect(falling.state !== "unsure" && formatDecimal(falling.band)).toBe("0.0025");
  });

  test("two witnesses that contradict each other are none", () => {
    expect(index(["0.9995", "0.96"])).toBe("unsure");
  });

  test("crosses are one witness together, through the other coin's index before", () => {
    expect(index(["0.999"], ["1.001", "1.001", "1.001"], pegged("0.999"))).toBe("pegged 0.9994995");
    // However many crosses there are, two venues in dollars outvote them.
    expect(index(["0.9995", "0.9996"], Array<string>(5).fill("1.004"), pegged("1"))).toBe("pegged 0.9996");
    expect(index(["0.9995", "0.9996", "0.9997"], ["1.004"], pegged("1"))).toBe("pegged 0.9996");
  });

  test("begins at parity with the other coin only near it, and never without a venue in dollars", () => {
    expect(index(["0.9995"], ["1.0001"])).toBe("pegged 0.9998");
    expect(index(["0.9995"], ["1.02"])).toBe("unsure");
    expect(index([], ["1.0001", "1", "1"], pegged("1"))).toBe("unsure");
  });
});

const venues: readonly SourceId[] = ["binance", "okx", "bybit", "kucoin", "gate"];
const dollars: readonly SourceId[] = ["coinbase", "kraken", "bitstamp"];

/** Bitcoin at 60,000 dollars everywhere, with USDT at `coin` dollars; the index is known before the quotes come. */
function quotes(coin: number, atMs = startMs): { witnesses: Tick[]; bitcoin: Tick[] } {
  const when = { asOfMs: atMs };
  return {
    witnesses: dollars.map((source) => tickOf(source, `${coin}`, { base: "USDT", ...when })),
    bitcoin: [
      ...dollars.map((source) => tickOf(source, "60000", when)),
      ...venues.map((source) => tickOf(source, (60_000 / coin).toFixed(8), { quote: "USDT", ...when })),
    ],
  };
}

function bitcoin(table: Table, coin: number, atMs: number): Round {
  const { witnesses, bitcoin: ticks } = quotes(coin, atMs);
  table.receive(...witnesses).mark(atMs);
  return table.receive(...ticks).round(atMs);
}

const summary = (round: Round): string =>
  round.kind === "price"
    ? `${Math.round(Number(round.price) / 1e18)} of ${round.sources.length}`
    : `${round.reason} of ${round.sources.length}`;

describe("a price through a coin", () => {
  test("follows the coin down: bitcoin's price in dollars does not move while USDT falls to 0.93", () => {
    const table = new Table();
    const seen = [1, 0.999, 0.99, 0.97, 0.95, 0.93].map((coin, step) =>
      summary(bitcoin(table, coin, startMs + step * 1_000)),
    );
    expect(seen).toEqual(Array(6).fill("60000 of 8"));
  });

  test("is known less surely through a coin that has left its peg", () => {
    const table = new Table();
    const [calm, fallen] = [bitcoin(table, 1, startMs), bitcoin(table, 0.95, startMs + 1_000)];
    if (calm.kind !== "price" || fallen.kind !== "price") throw new Error("no price");
    expect(fallen.band > calm.band).toBe(true);
    expect(fallen.confidence < calm.confidence).toBe(true);
  });

  test("is converted by the index of the round before, whatever came first in this one", () => {
    const { witnesses, bitcoin: ticks } = quotes(0.999);
    const table = new Table().receive(...witnesses);
    table.mark();
    const later = quotes(0.998, startMs + 1);
    const round = table.receive(...later.witnesses, ...ticks).round(startMs + 1);
    expect(summary(round)).toBe("60000 of 8");
    expect(reported(table.aggregator.index("USDT"))).toBe("pegged 0.998");
  });

  test("leaves converted quotes out while the witnesses contradict each other, and says so where too few remain", () => {
    const table = new Table();
    bitcoin(table, 1, startMs);
    const atMs = startMs + 1_000;
    const torn = ["1", "0.9", "0.8"].map((price, place) =>
      tickOf(dollars[place] ?? "chain", price, { base: "USDT", asOfMs: atMs }),
    );
    table.receive(...torn).mark(atMs);
    expect(reported(table.aggregator.index("USDT"))).toBe("unsure");
    // The next mark uses it without any tick: three venues in dollars remain.
    expect(summary(table.round(atMs + 1))).toBe("60000 of 3");
    const only = new Table().receive(...quotes(1).bitcoin.filter(({ quote }) => quote === "USDT"));
    expect(summary(only.round())).toBe("depeg of 5");
  });

  test("moves by three tenths of a percent at most when two of three witnesses of the coin collude", () => {
    for (const lie of [0.9999, 0.998, 0.9972, 0.9969, 0.99, 0.5, 1.0028, 1.01, 9]) {
      const table = new Table();
      bitcoin(table, 1, startMs);
      const atMs = startMs + 1_000;
      const lying = dollars.slice(1).map((source) => tickOf(source, `${lie}`, { base: "USDT", asOfMs: atMs }));
      table.receive(...lying).mark(atMs);
      const round = table.receive(...quotes(1, atMs).bitcoin).round(atMs + 1);
      if (round.kind !== "price") throw new Error(round.reason);
      expect(Math.abs(Number(round.price) / 60_000e18 - 1)).toBeLessThan(0.003);
    }
  });

  test("is refused as depegged where dollars and converted quotes part and the last price lies with neither majority", () => {
    const table = new Table();
    bitcoin(table, 1, startMs);
    const atMs = startMs + 1_000;
    // The venues in USDT move together by one percent, as they do when their coin does and its witnesses sleep.
    const { bitcoin: ticks } = quotes(1, atMs);
    const moved = ticks.map((tick) =>
      tick.quote === "USDT" ? { ...tick, price: decimal("60600"), asOfMs: atMs } : tick,
    );
    expect(summary(table.receive(...moved).round(atMs))).toBe("depeg of 8");
  });
});

describe("the coins themselves", () => {
  test("USDC has venues in dollars and crosses through USDT's index, one vote an origin", () => {
    const table = new Table();
    table.receive(...quotes(0.999).witnesses).mark();
    table.receive(
      tickOf("kraken", "1.0001", { base: "USDC" }),
      tickOf("bitstamp", "1.0001", { base: "USDC" }),
      ...(["kraken", "binance", "okx"] as const).map((source) =>
        tickOf(source, "1.001", { base: "USDC", quote: "USDT" }),
      ),
    );
    const round = table.round(startMs, "USDC");
    if (round.kind !== "price") throw new Error(round.reason);
    const prices = round.sources.map(({ source, price }) => `${source} ${formatDecimal(price)}`);
    expect(prices).toEqual(["binance 0.999999", "kraken 1.0001", "okx 0.999999", "bitstamp 1.0001"]);
  });

  test("USDT is also what USDC costs in it, turned round", () => {
    const table = new Table();
    const usdc = (["kraken", "bitstamp"] as const).map((source) => tickOf(source, "1", { base: "USDC" }));
    table.receive(...usdc).mark();
    table.receive(
      ...(["binance", "okx", "bybit"] as const).map((source) =>
        tickOf(source, "1.25", { base: "USDC", quote: "USDT" }),
      ),
    );
    const round = table.round(startMs, "USDT");
    expect(round.kind === "price" && formatDecimal(round.price)).toBe("0.8");
  });

  test("an index whose witnesses fall silent is unsure", () => {
    const table = new Table({ symbols: ["BTC"] });
    table.receive(...quotes(1).witnesses).mark();
    expect(reported(table.aggregator.index("USDT"))).toBe("pegged 1");
    table.mark(startMs + 60_001);
    expect(reported(table.aggregator.index("USDT"))).toBe("unsure");
  });
});
