import { describe, expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import fc from "fast-check";
import { type Decimal, decimal, formatDecimal, multiply, zero } from "../model/decimal.ts";
import type { SourceId } from "../model/tick.ts";
import type { TradedMinute } from "../model/traded-minute.ts";
import { priced } from "../testing/rounds.ts";
import { DayWindow } from "./day-window.ts";
import { TradedVolumes, volumeLimits } from "./traded-volumes.ts";

const minute = 60_000;
const startMs = Date.UTC(2026, 10, 1, 12);
const sources = ["binance", "coinbase", "kraken", "okx", "bybit", "kucoin", "bitstamp", "gate"] as const;

/** One hour and a minute in which BTC stands at 100 dollars and USDT at 0.5, both within a dollar cent. */
function stand(atMs = startMs) {
  const clock = new ManualClock(atMs + minute + volumeLimits.settleMs);
  const day = new DayWindow();
  for (let at = atMs - 60 * minute; at <= atMs; at += minute) {
    day.add(priced({ symbol: "BTC", atMs: at, price: "100" }));
    day.add(priced({ symbol: "USDT", atMs: at, price: "0.5" }));
  }
  const reported: string[] = [];
  const volumes = new TradedVolumes({
    clock,
    day,
    recorded: (source, outcome) => reported.push(`${source} ${outcome}`),
  });
  const unrecorded = (endMs = clock.now()): string[] =>
    volumes.unrecorded("BTC", endMs).map(({ volume }) => formatDecimal(volume));
  return { clock, day, volumes, reported, unrecorded };
}

const claim = (
  source: SourceId,
  baseVolume: string,
  changes: Partial<TradedMinute> & { readonly price?: string } = {},
): TradedMinute => {
  const { price = "100", ...rest } = changes;
  const base = decimal(baseVolume);
  const quoteVolume = multiply(base, decimal(price));
  return {
    ...{ source, base: "BTC", quote: "USD", atMs: startMs, baseVolume: base, quoteVolume },
    ...{ statedAtMs: startMs + minute },
    ...rest,
  };
};

describe("a minute's volume", () => {
  test("is the sum of what the exchanges said, in dollars by the price of their coin in that minute", () => {
    const { volumes, unrecorded } = stand();
    volumes.accept(claim("kraken", "1"));
    volumes.accept(claim("coinbase", "2"));
    // A hundred dollars are two hundred of a coin that is worth half of one.
    volumes.accept(claim("okx", "3", { quote: "USDT", price: "200" }));
    expect(unrecorded()).toEqual(["600"]);
  });

  test("is unknown without an agreed price of the minute, and where a coin had none nobody is converted", () => {
    const { volumes, unrecorded } = stand();
    volumes.accept(claim("kraken", "1", { atMs: startMs - 90 * minute }));
    expect(unrecorded()).toEqual([]);
    volumes.accept(claim("okx", "3", { quote: "USDC" }));
    volumes.accept(claim("kraken", "1"));
    expect(unrecorded()).toEqual(["100"]);
  });

  test("leaves out whose mean price of the minute is none that was agreed on", () => {
    const { volumes, reported } = stand();
    volumes.accept(claim("kraken", "1"));
    volumes.accept(claim("coinbase", "1", { price: "100.4" }));
    volumes.accept(claim("gate", "1", { price: "101" }));
    volumes.accept(claim("bitstamp", "1", { price: "99" }));
    // Nothing traded is at no price.
    volumes.accept(claim("kucoin", "0"));
    const [recorded] = volumes.take();
    expect(recorded).toMatchObject({ volume: decimal("200.4"), claims: 5, sources: ["coinbase", "kraken", "kucoin"] });
    expect(reported.toSorted()).toEqual([
      "bitstamp off-price",
      "coinbase counted",
      "gate off-price",
      "kraken counted",
      "kucoin counted",
    ]);
  });

  test("cannot be set by a minority, whatever it claims: each of it counts at most ten times the median one", () => {
    const honest = sources.slice(3).map((source) => claim(source, "10"));
    for (const lie of ["0", "1", "1000000000", "1000000000000000"]) {
      for (let liars = 1; liars <= 3; liars += 1) {
        const { volumes, unrecorded } = stand();
        for (const each of [...honest, ...sources.slice(0, liars).map((source) => claim(source, lie))]) {
          volumes.accept(each);
        }
        const [volume] = unrecorded().map(Number);
        expect(volume).toBeGreaterThanOrEqual(5_000);
        expect(volume).toBeLessThanOrEqual(5_000 + liars * 10_000);
      }
    }
  });

  test("of one exchange is not capped by itself, and of two the smaller is the measure", () => {
    const alone = stand();
    alone.volumes.accept(claim("kraken", "1000"));
    expect(alone.unrecorded()).toEqual(["100000"]);
    alone.volumes.accept(claim("gate", "1"));
    expect(alone.unrecorded()).toEqual(["1100"]);
  });

  test("in which few traded is measured by what they trade in a mean minute, so that a large trade counts whole", () => {
    const { volumes, unrecorded } = stand();
    for (let back = 1; back < 60; back += 1) {
      for (const source of sources) volumes.accept(claim(source, "1", { atMs: startMs - back * minute }));
    }
    for (const source of sources.slice(1)) volumes.accept(claim(source, "0"));
    volumes.accept(claim("binance", "9"));
    expect(unrecorded().at(-1)).toBe("900");
  });
});

describe("claims", () => {
  test("in any order, twice, late and replayed, lead to the one that was stated last of each exchange", () => {
    const statement = fc.record({
      source: fc.constantFrom(...sources),
      second: fc.integer({ min: 1, max: 100 }),
    });
    const property = fc.property(
      fc.array(statement, { minLength: 1, maxLength: 60 }),
      fc.infiniteStream(fc.nat()),
      (all, draws) => {
        // What an exchange says grows with its time, as the volume of a minute does.
        const claims = all.map(({ source, second }) =>
          claim(source, String(second), { statedAtMs: startMs + second * 1_000 }),
        );
        const shuffled = [...claims, ...claims.slice(0, 10)]
          .map((each) => ({ each, place: draws.next().value as number }))
          .toSorted((left, right) => left.place - right.place)
          .map(({ each }) => each);
        const [ordered, mixed] = [stand(), stand()];
        for (const each of claims.toSorted((left, right) => left.statedAtMs - right.statedAtMs))
          ordered.volumes.accept(each);
        for (const each of shuffled) mixed.volumes.accept(each);
        expect(mixed.volumes.take()).toEqual(ordered.volumes.take());
      },
    );
    fc.assert(property, { numRuns: 200, seed: 1 });
  });

  test("that correct an exchange's own downwards are believed, and the row is written again", () => {
    const { volumes } = stand();
    volumes.accept(claim("kraken", "5"));
    expect(volumes.take().map(({ volume }) => volume)).toEqual([decimal("500")]);
    expect(volumes.take()).toEqual([]);
    volumes.accept(claim("kraken", "4", { statedAtMs: startMs + minute + 1 }));
    expect(volumes.take().map(({ volume }) => volume)).toEqual([decimal("400")]);
  });

  test("about the past are heard from who had said nothing, and from nobody else", () => {
    const { volumes, clock } = stand();
    volumes.accept(claim("kraken", "5"));
    volumes.take();
    clock.advance(volumeLimits.finalMs);
    volumes.accept(claim("kraken", "900", { statedAtMs: clock.now() }));
    volumes.accept(claim("gate", "1", { statedAtMs: clock.now() }));
    expect(volumes.take()).toMatchObject([{ volume: decimal("600"), claims: 2 }]);
  });

  test("about times that nobody is asked about leave nothing behind", () => {
    const { volumes, clock } = stand();
    for (const atMs of [0, startMs - 126 * minute, startMs + 10 * minute, clock.now() + 365 * 24 * 60 * minute]) {
      volumes.accept(claim("kraken", "5", { atMs }));
    }
    expect(volumes.unrecorded("BTC", Number.MAX_SAFE_INTEGER)).toEqual([]);
    expect(volumes.take(true)).toEqual([]);
  });
});

describe("what is recorded", () => {
  test("waits until a minute is settled", () => {
    const { volumes, clock, day } = stand();
    const present = Math.floor(clock.now() / minute) * minute;
    day.add(priced({ symbol: "BTC", atMs: present, price: "100" }));
    volumes.accept(claim("kraken", "5", { atMs: present, statedAtMs: present }));
    clock.advance(present + minute + volumeLimits.settleMs - 1 - clock.now());
    expect(volumes.take()).toEqual([]);
    clock.advance(1);
    expect(volumes.take()).toMatchObject([{ atMs: present, claims: 1 }]);
  });

  test("at the end of a process has the open minute so far, which any other answer replaces", () => {
    const { volumes, clock, day } = stand();
    const present = Math.floor(clock.now() / minute) * minute;
    day.add(priced({ symbol: "BTC", atMs: present, price: "100" }));
    volumes.accept(claim("kraken", "5", { atMs: present, statedAtMs: present }));
    expect(volumes.take(true)).toMatchObject([{ atMs: present, volume: decimal("500"), claims: 0 }]);
  });

  test("by an earlier process stands until as many exchanges have spoken again", () => {
    const { volumes } = stand();
    const recorded = {
      symbol: "BTC",
      atMs: startMs,
      volume: decimal("777"),
      sources: ["gate", "kraken"],
      claims: 2,
    } as const;
    volumes.recall([recorded]);
    volumes.accept(claim("kraken", "5"));
    expect(volumes.take()).toEqual([]);
    volumes.accept(claim("gate", "4"));
    expect(volumes.take()).toMatchObject([{ volume: decimal("900"), claims: 2 }]);
  });

  test("is forgotten after two hours, whoever goes on about it", () => {
    const { volumes, clock } = stand();
    for (const source of sources) volumes.accept(claim(source, "1"));
    clock.advance(volumeLimits.heldMinutes * minute);
    volumes.take();
    expect(volumes.unrecorded("BTC", Number.MAX_SAFE_INTEGER)).toEqual([]);
  });
});

test("tiers that are served what is older see the open minute as it was when their window began", () => {
  const { volumes, clock, day } = stand();
  const present = Math.floor(clock.now() / minute) * minute;
  day.add(priced({ symbol: "BTC", atMs: present, price: "100" }));
  const volumeAt = (endMs: number): Decimal =>
    volumes.unrecorded("BTC", endMs).find(({ atMs }) => atMs === present)?.volume ?? zero;
  const say = (afterMs: number, amount: string): void => {
    clock.advance(present + afterMs - clock.now());
    volumes.accept(claim("kraken", amount, { atMs: present, statedAtMs: clock.now() }));
  };
  say(12_000, "1");
  say(14_000, "2");
  say(16_000, "3");
  say(44_000, "4");
  expect([15_000, 30_000, 45_000].map((end) => volumeAt(present + end))).toEqual(
    ["200", "300", "400"].map((text) => decimal(text)),
  );
  expect(volumeAt(clock.now() + 1)).toBe(decimal("400"));
});
