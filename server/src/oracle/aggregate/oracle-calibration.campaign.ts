import { type Random, seededRandom } from "@sluice/lib";
import { add, subtract } from "../model/decimal.ts";
import type { PricedRound } from "../model/round.ts";
import { type SourceId, sourceIds } from "../model/tick.ts";
import { Aggregator } from "./aggregator.ts";
import { contaminated, laplace, type Noise, normal, student } from "./testing/noise.ts";
import { fromNumber, startMs, tickOf, toNumber } from "./testing/ticks.ts";

interface Regime {
  readonly name: string;
  readonly sources: number;
  readonly noise: Noise;
  /** Basis points of one source's noise, by its place; the last goes on. */
  readonly sigmas: readonly number[];
  /** Basis points by which the truth moves in a root second. */
  readonly movement?: number;
  /** Basis points of an offset that each source keeps for a hundred rounds. */
  readonly offset?: number;
  /** Basis points of the noise of each witness of USDT; five venues then quote in it. */
  readonly coin?: number;
  /** Dollars between two prices that venues can print; their books are as wide. */
  readonly grid?: number;
}

const regimes: readonly Regime[] = [
  { name: "nine, normal", sources: 9, noise: normal, sigmas: [5] },
  { name: "nine, Laplace", sources: 9, noise: laplace, sigmas: [5] },
  { name: "nine, Student", sources: 9, noise: student, sigmas: [5] },
  { name: "eight, one draw in ten wild", sources: 8, noise: contaminated, sigmas: [5] },
  { name: "nine, of which some twice as noisy", sources: 9, noise: normal, sigmas: [4, 8, 4, 8, 4, 4, 8, 4, 8] },
  { name: "seven, normal", sources: 7, noise: normal, sigmas: [5] },
  { name: "five, normal", sources: 5, noise: normal, sigmas: [10] },
  { name: "five, Student", sources: 5, noise: student, sigmas: [10] },
  { name: "three, normal", sources: 3, noise: normal, sigmas: [10] },
  { name: "three, Student", sources: 3, noise: student, sigmas: [10] },
  { name: "nine with offsets of their own", sources: 9, noise: normal, sigmas: [2], offset: 5 },
  { name: "nine, five of them through USDT", sources: 9, noise: normal, sigmas: [3], coin: 2 },
  { name: "nine, moving with the noise", sources: 9, noise: normal, sigmas: [3], movement: 1 },
  { name: "nine, moving faster than the noise", sources: 9, noise: normal, sigmas: [3], movement: 4 },
  { name: "nine on one coarse grid", sources: 9, noise: normal, sigmas: [1], movement: 0.5, grid: 24 },
];

const basis = 1e-4;
const toleranceAt = (n: number): number => 0.03 + 1.5 / Math.sqrt(n);

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
    const { sources, sigmas, noise, offset = 0, coin, grid } = this.#regime;
    const random = this.#random;
    this.#second += 1;
    const fromMs = startMs + this.#second * 1_000;
    if (this.#second % 100 === 1) this.#offsets = sourceIds.map(() => offset * normal(random));
    const rate = coin === undefined ? 1 : this.#coin(coin, fromMs);
    const turns = sourceIds.slice(0, sources).map((source, place) => ({ source, place, at: random.next() * 1_000 }));
    let nowMs = 0;
    for (const { source, place, at } of turns.toSorted((left, right) => left.at - right.at)) {
      this.#move(at - nowMs);
      nowMs = at;
      const sigma = sigmas[Math.min(place, sigmas.length - 1)] ?? 0;
      const error = (sigma * noise(random) + (this.#offsets[place] ?? 0)) * basis;
      const isCoin = coin !== undefined && coinVenues.has(source);
      const price = (this.truth * (1 + error)) / (isCoin ? rate : 1);
      const asOfMs = Math.floor(fromMs + at);
      const shown = fromNumber(grid === undefined ? price : Math.round(price / grid) * grid);
      const book =
        grid === undefined ? {} : { bid: subtract(shown, fromNumber(grid / 2)), ask: add(shown, fromNumber(grid / 2)) };
      const tick = tickOf(source, shown, { asOfMs, quote: isCoin ? "USDT" : "USD", ...book });
      this.#aggregator.accept({ kind: "tick", tick });
    }
    this.#move(1_000 - nowMs);
    const rounds = this.#aggregator.accept({ kind: "time", atMs: fromMs + 1_000 });
    const round = rounds.find(({ symbol }) => symbol === "BTC");
    return round?.kind === "price" ? round : null;
  }

  #move(durationMs: number): void {
    const { movement = 0 } = this.#regime;
    this.truth *= 1 + movement * basis * Math.sqrt(Math.max(0, durationMs) / 1_000) * normal(this.#random);
  }

  /** What USDT is worth; its witnesses say it with noise a moment before, so that the index stands when it is used. */
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

/** The share of rounds whose band holds the truth. */
function coverage(regime: Regime, n: number, random: Random): { held: number; refused: number } {
  const market = new Market(regime, random);
  let held = 0;
  let refused = 0;
  const warmUp = Math.min(300, n);
  for (let step = 0; step < n + warmUp; step += 1) {
    const round = market.step();
    if (step < warmUp) continue;
    if (round === null) refused += 1;
    else if (Math.abs(toNumber(round.price) - market.truth) <= toNumber(round.band)) held += 1;
  }
  return { held: held / Math.max(1, n - refused), refused };
}

/**
 * Mean absolute error in basis points by fifths of the confidence, lowest first, over markets of every noise and size.
 */
function errorsByConfidence(n: number, random: Random): number[] {
  const seen: { confidence: number; error: number }[] = [];
  const perMarket = 25;
  for (let market = 0; market * perMarket < n; market += 1) {
    const sources = 3 + Math.floor(random.next() * 7);
    const sigmas = [10 ** (random.next() * 1.7)];
    const noise = [normal, laplace, student][market % 3] ?? normal;
    const course = new Market({ name: "", sources, noise, sigmas }, random);
    for (let step = 0; step < perMarket; step += 1) {
      const round = course.step();
      if (round === null) continue;
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
 * The band holds the true price in two rounds of three, to three points (and the chance of so few rounds), in every
 * regime; and the higher the confidence, the smaller the real error. `n` is the number of rounds in each regime.
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  let passed = true;
  const lines: string[] = [];
  for (const [index, regime] of regimes.entries()) {
    const { held, refused } = coverage(regime, n, seededRandom(seed + index));
    const isRight = Math.abs(held - 2 / 3) <= toleranceAt(n) && refused <= n / 1_000;
    passed &&= isRight;
    lines.push(`${isRight ? "  " : "! "}${regime.name}: ${(held * 100).toFixed(1)}% held, ${refused} refused`);
  }
  const errors = errorsByConfidence(n, seededRandom(seed + regimes.length));
  const isMonotone = errors.every((error, fifth) => fifth === 0 || error < (errors[fifth - 1] ?? 0));
  passed &&= isMonotone;
  lines.push(`${isMonotone ? "  " : "! "}error by confidence: ${errors.map((each) => each.toFixed(2)).join(" > ")} bp`);
  return { passed, summary: lines.join("\n") };
}
