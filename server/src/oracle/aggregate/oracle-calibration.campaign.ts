import { type Random, seededRandom } from "@sluice/lib";
import type { PricedRound } from "../model/round.ts";
import { type SourceId, sourceIds } from "../model/tick.ts";
import { Aggregator } from "./aggregator.ts";
import { contaminated, laplace, type Noise, normal, student } from "./testing/noise.ts";
import { fromNumber, startMs, tickOf, toNumber } from "./testing/ticks.ts";

interface Regime {
  readonly sources: number;
  readonly noise: Noise;
  /** Basis points of one source's noise. */
  readonly sigma: number;
  /** Basis points by which the truth moves in a root second. */
  readonly movement: number;
  /** Basis points of an offset that each source keeps for a hundred rounds. */
  readonly offset: number;
  /** Basis points of the noise of each witness of USDT; five venues then quote in it. */
  readonly coin: number | null;
  /** Seconds at the end of each minute in which no source speaks. */
  readonly silentSeconds: number;
}

/** What the markets of one kind have beside noise of any size. */
const kinds = [
  "still",
  "moving",
  "with offsets of their own",
  "five through USDT",
  "moving and silent at times",
] as const;
type Kind = (typeof kinds)[number];

function drawRegime(kind: Kind, market: number, random: Random): Regime {
  const sigma = 10 ** (random.next() * 1.7);
  return {
    sources: kind === "five through USDT" ? 9 : 3 + Math.floor(random.next() * 7),
    noise: [normal, laplace, student, contaminated][market % 4] ?? normal,
    sigma,
    movement: kind.startsWith("moving") ? 10 ** (random.next() * 1.2 - 0.6) : 0,
    offset: kind === "with offsets of their own" ? sigma * random.next() : 0,
    coin: kind === "five through USDT" ? 2 * random.next() : null,
    silentSeconds: kind === "moving and silent at times" ? Math.floor(random.next() * 30) : 0,
  };
}

const basis = 1e-4;
/** A second of a market: every source speaks once, at its own moment, and a round is made at its end. */
class Market {
  readonly #regime: Regime;
  readonly #random: Random;
  readonly #aggregator = new Aggregator({ symbols: ["BTC", "USDT"] });
  #offsets: number[] = [];
  #second = 0;
  truth = 60_000;

  constructor(regime: Regime, random: Random) {
    this.#regime = regime;
    this.#random = random;
  }

  step(): PricedRound | null {
    const { sources, sigma, noise, offset, coin, silentSeconds } = this.#regime;
    const random = this.#random;
    this.#second += 1;
    const fromMs = startMs + this.#second * 1_000;
    if (this.#second % 100 === 1) this.#offsets = sourceIds.map(() => offset * normal(random));
    const rate = coin === null ? 1 : this.#coin(coin, fromMs);
    const turns = sourceIds.slice(0, sources).map((source, place) => ({ source, place, at: random.next() * 1_000 }));
    let nowMs = 0;
    const isSilent = this.#second % 60 >= 60 - silentSeconds;
    for (const { source, place, at } of isSilent ? [] : turns.toSorted((left, right) => left.at - right.at)) {
      this.#move(at - nowMs);
      nowMs = at;
      const error = (sigma * noise(random) + (this.#offsets[place] ?? 0)) * basis;
      const isCoin = coin !== null && coinVenues.has(source);
      const price = (this.truth * (1 + error)) / (isCoin ? rate : 1);
      const asOfMs = Math.floor(fromMs + at);
      const tick = tickOf(source, fromNumber(price), { asOfMs, quote: isCoin ? "USDT" : "USD" });
      this.#aggregator.accept({ kind: "tick", tick });
    }
    this.#move(1_000 - nowMs);
    const rounds = this.#aggregator.accept({ kind: "time", atMs: fromMs + 1_000 });
    const round = rounds.find(({ symbol }) => symbol === "BTC");
    return round?.kind === "price" ? round : null;
  }

  #move(durationMs: number): void {
    const { movement } = this.#regime;
    this.truth *= 1 + movement * basis * Math.sqrt(Math.max(0, durationMs) / 1_000) * normal(this.#random);
  }

  /** What USDT is worth; its witnesses say it with noise a moment before, so that the rate stands when it is used. */
  #coin(sigma: number, fromMs: number): number {
    const rate = 0.9995;
    for (const source of ["coinbase", "kraken", "bitstamp"] as const) {
      const said = rate * (1 + sigma * basis * normal(this.#random));
      const tick = tickOf(source, fromNumber(said), { base: "USDT", asOfMs: fromMs });
      this.#aggregator.accept({ kind: "tick", tick });
    }
    this.#aggregator.accept({ kind: "time", atMs: fromMs });
    return rate;
  }
}

const coinVenues: ReadonlySet<SourceId> = new Set(["binance", "okx", "bybit", "kucoin", "gate"]);

/** Rounds of one market: the first are left out, in which the speed of the price is not known yet. */
const warmUp = 60;
const counted = 60;

/** Mean absolute error in basis points by fifths of the confidence, lowest first. */
function errorsByConfidence(kind: Kind, n: number, random: Random): number[] {
  const seen: { confidence: number; error: number }[] = [];
  for (let market = 0; market * counted < n; market += 1) {
    const course = new Market(drawRegime(kind, market, random), random);
    for (let step = 0; step < warmUp + counted; step += 1) {
      const round = course.step();
      if (round === null || step < warmUp) continue;
      const error = Math.abs(toNumber(round.price) / course.truth - 1) / basis;
      seen.push({ confidence: toNumber(round.confidence), error });
    }
  }
  seen.sort((left, right) => left.confidence - right.confidence);
  return Array.from({ length: 5 }, (_, fifth) => {
    const part = seen.slice((fifth * seen.length) / 5, ((fifth + 1) * seen.length) / 5);
    return part.reduce((sum, { error }) => sum + error, 0) / part.length;
  });
}

/**
 * The higher the confidence, the smaller the real error, in markets of every size and noise: still ones, moving ones,
 * with sources that are off for long, and through a coin. `n` is the number of rounds of each kind.
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  let passed = true;
  const lines = kinds.map((kind, index) => {
    const errors = errorsByConfidence(kind, n, seededRandom(seed + index));
    const isMonotone = errors.every((error, fifth) => fifth === 0 || error < (errors[fifth - 1] ?? 0));
    passed &&= isMonotone;
    const figures = errors.map((each) => each.toFixed(2)).join(" > ");
    return `${isMonotone ? "  " : "! "}${kind}: mean error by fifths of the confidence ${figures} bp`;
  });
  return { passed, summary: lines.join("\n") };
}
