import { describe, expect, test } from "bun:test";
import { type Random, seededRandom } from "@sluice/lib";
import { type Decimal, decimal } from "../model/decimal.ts";
import type { PricedRound, Round } from "../model/round.ts";
import { type QuoteCurrency, type SourceId, sourceIds, type Tick } from "../model/tick.ts";
import { Aggregator } from "./aggregator.ts";
import type { Input } from "./inputs.ts";
import { serialiseInput, serialiseRound } from "./inputs.ts";
import { replay } from "./testing/replay.ts";
import { fromNumber, startMs, Table, tickOf, toNumber } from "./testing/ticks.ts";
import { sourceCap, weightsOf } from "./weights.ts";

const cases = 400;
const upTo = (random: Random, limit: number): number => Math.floor(random.next() * limit);
const pick = <T>(random: Random, items: readonly T[]): T => items[upTo(random, items.length)] as T;

function shuffled<T>(random: Random, items: readonly T[]): T[] {
  const result = [...items];
  for (let last = result.length - 1; last > 0; last -= 1) {
    const other = upTo(random, last + 1);
    [result[last], result[other]] = [result[other] as T, result[last] as T];
  }
  return result;
}

/** Three to nine sources around one price, with volumes over six orders of magnitude. */
function market(random: Random, spread = 0.002): Tick[] {
  const sources = shuffled(random, sourceIds).slice(0, 3 + upTo(random, 7));
  const middle = 10 ** (random.next() * 6 - 1);
  return sources.map((source) =>
    tickOf(source, fromNumber(middle * (1 + (random.next() - 0.5) * spread)), {
      quoteVolume24h: random.next() < 0.2 ? null : fromNumber(10 ** (random.next() * 6)),
      asOfMs: startMs - upTo(random, 5_000),
      receivedAtMs: startMs,
    }),
  );
}

function priced(round: Round): PricedRound {
  if (round.kind !== "price") throw new Error(round.reason);
  return round;
}

const roundOf = (ticks: readonly Tick[]): PricedRound => priced(new Table().receive(...ticks).round());

describe("a round of any agreeing market", () => {
  test("does not depend on the order in which the sources spoke", () => {
    const random = seededRandom(1);
    for (let index = 0; index < cases; index += 1) {
      const ticks = market(random);
      const expected = serialiseRound(roundOf(ticks));
      expect(serialiseRound(roundOf(shuffled(random, ticks)))).toBe(expected);
    }
  });

  test("scales with its prices", () => {
    const random = seededRandom(2);
    const times = (ticks: readonly Tick[], factor: bigint): Tick[] =>
      ticks.map((tick) => ({ ...tick, price: (tick.price * factor) as Decimal }));
    for (let index = 0; index < cases; index += 1) {
      const ticks = market(random);
      const [one, thousand] = [roundOf(ticks), roundOf(times(ticks, 1_000n))];
      expect(toNumber(thousand.price) / toNumber(one.price)).toBeCloseTo(1_000, 9);
      expect(thousand.confidence).toBe(one.confidence);
      expect(thousand.sources.map(({ weight }) => weight)).toEqual(one.sources.map(({ weight }) => weight));
    }
  });

  test("is the price itself where all say the same, however they are weighed", () => {
    const random = seededRandom(3);
    for (let index = 0; index < cases; index += 1) {
      const price = fromNumber(10 ** (random.next() * 6));
      const round = roundOf(market(random).map((tick) => ({ ...tick, price })));
      expect(round.price).toBe(price);
    }
  });

  test("never falls when a source's price rises", () => {
    const random = seededRandom(4);
    for (let index = 0; index < cases; index += 1) {
      const ticks = market(random);
      const which = upTo(random, ticks.length);
      const raised = ticks.map((tick, place) =>
        place === which ? { ...tick, price: ((tick.price * 10_004n) / 10_000n) as Decimal } : tick,
      );
      expect(roundOf(raised).price >= roundOf(ticks).price).toBe(true);
    }
  });

  test("lies among the honest prices while fewer than half lie, wherever they lie and whatever volume they claim", () => {
    const random = seededRandom(5);
    let served = 0;
    for (let index = 0; index < cases; index += 1) {
      const ticks = market(random);
      const table = new Table().receive(...ticks);
      table.mark();
      const liars = 1 + upTo(random, Math.floor((ticks.length - 1) / 2));
      const distance = 10 ** (random.next() * 8 - 5);
      const volume = pick(random, ["0", "1", "1e6", "1e20"]);
      const lying = ticks.map((tick, place) => {
        const factor = 1 + distance * (random.next() < 0.8 ? 1 : random.next() - 0.5);
        const price = fromNumber(toNumber(tick.price) * Math.max(factor, 1e-6));
        const changes = place < liars ? { price, quoteVolume24h: decimal(volume) } : {};
        return { ...tick, ...changes, asOfMs: startMs, receivedAtMs: startMs + 1 };
      });
      const honest = lying.slice(liars).map(({ price }) => price);
      const round = table.receive(...lying).round(startMs + 1);
      if (round.kind !== "price") continue;
      served += 1;
      expect(honest.some((price) => price <= round.price)).toBe(true);
      expect(honest.some((price) => price >= round.price)).toBe(true);
    }
    // A minority cannot take the price away either.
    expect(served).toBe(cases);
  });
});

describe("shares", () => {
  test("no source exceeds its cap, no minority half, and all shares together are one", () => {
    const random = seededRandom(6);
    for (let index = 0; index < cases * 5; index += 1) {
      const count = 1 + upTo(random, 9);
      const volumes = Array.from({ length: count }, () =>
        random.next() < 0.2 ? null : random.next() < 0.1 ? (0n as Decimal) : fromNumber(10 ** (random.next() * 9)),
      );
      const weights = weightsOf(volumes).map(toNumber);
      const cap = toNumber(sourceCap(count));
      for (const weight of weights) expect(weight).toBeWithin(0, cap + 1e-15);
      expect(weights.reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(1, 12);
      const minority = weights.toSorted((left, right) => right - left).slice(0, Math.floor((count - 1) / 2));
      expect(minority.reduce((sum, weight) => sum + weight, 0)).toBeLessThan(0.49 + 1e-12);
    }
  });

  test("more volume never means a smaller share than a source with less", () => {
    const random = seededRandom(7);
    for (let index = 0; index < cases; index += 1) {
      const volumes = Array.from({ length: 9 }, () => fromNumber(10 ** (random.next() * 4))).toSorted((left, right) =>
        left < right ? -1 : 1,
      );
      const weights = weightsOf(volumes);
      expect(weights).toEqual(weights.toSorted((left, right) => (left < right ? -1 : left > right ? 1 : 0)));
    }
  });
});

/** A log in which everything happens: several symbols and quotes, silence, jumps, nonsense, marks at odd moments. */
function log(random: Random, length: number): Input[] {
  const inputs: Input[] = [];
  let nowMs = startMs;
  const bases = ["BTC", "FTT", "USDT", "USDC"];
  for (let index = 0; index < length; index += 1) {
    nowMs += random.next() < 0.01 ? 40_000 : upTo(random, 200);
    if (random.next() < 0.3) {
      inputs.push({ kind: "time", atMs: nowMs - (random.next() < 0.05 ? 10_000 : 0) });
      continue;
    }
    const base = pick(random, bases);
    const isCrashed = index > length / 2;
    const level = base === "BTC" ? (isCrashed ? 40_000 : 60_000) : base === "FTT" ? 2 : 1;
    const factor = random.next() < 0.02 ? 1.2 : 1 + (random.next() - 0.5) * 0.004;
    const price = fromNumber(level * factor);
    const half = (price / 2_000n) as Decimal;
    const tick = tickOf(pick<SourceId>(random, sourceIds), price, {
      base,
      quote: pick<QuoteCurrency>(random, ["USD", "USD", "USDT", "USDC"]),
      bid: random.next() < 0.5 ? ((price - half) as Decimal) : null,
      ask: random.next() < 0.5 ? ((price + half) as Decimal) : null,
      open24h: random.next() < 0.5 ? fromNumber(level) : null,
      high24h: fromNumber(level * 1.1),
      low24h: fromNumber(level * 0.9),
      baseVolume24h: fromNumber(random.next() * 1e6),
      quoteVolume24h: random.next() < 0.5 ? fromNumber(random.next() * 1e9) : null,
      asOfMs: nowMs - upTo(random, 3_000),
      receivedAtMs: nowMs,
    });
    inputs.push({ kind: "tick", tick });
  }
  return inputs;
}

test("a replay of the same inputs gives the same rounds to the byte, every kind among them", () => {
  const inputs = log(seededRandom(8), 8_000);
  const options = { symbols: ["BTC", "FTT", "USDT", "USDC"] };
  const live = new Aggregator(options);
  const lines = inputs.flatMap((input) => live.accept(input).map(serialiseRound));
  expect([...replay(inputs, options)].map(serialiseRound)).toEqual(lines);
  const kinds = new Set(lines.map((line) => /"reason":"([a-z-]+)"/.exec(line)?.[1] ?? "price"));
  expect([...kinds].toSorted()).toEqual(["breaker", "disagreement", "price", "too-few-sources", "unknown-rate"]);
});

test("one line holds a whole input, so that other inputs have other lines", () => {
  const inputs = log(seededRandom(9), 300);
  expect(new Set(inputs.map(serialiseInput)).size).toBe(
    new Set(
      inputs.map((input) => JSON.stringify(input, (_, value) => (typeof value === "bigint" ? `${value}` : value))),
    ).size,
  );
});
