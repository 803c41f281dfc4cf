import type { Random } from "@sluice/lib";
import { decimal } from "../../model/decimal.ts";
import type { Round } from "../../model/round.ts";
import { type SourceId, sourceIds } from "../../model/tick.ts";
import { Aggregator } from "../aggregator.ts";
import { normal } from "./noise.ts";
import { fromNumber, startMs, tickOf } from "./ticks.ts";

/** When colluding sources say what. All of them know the truth and what every honest source is about to say. */
export const timings = [
  /** Always the same distance off. */
  "hold",
  /** Off to the side on which the honest sources' own errors lie further. */
  "foresee",
  /** Growing from nothing to the full distance, then anew. */
  "ramp",
  /** Above and below in turn. */
  "alternate",
  /** Standing still with a running clock, then the full distance off. */
  "freeze",
  /** The full distance off in one round of each period, and honest in the others. */
  "spike",
] as const;
export type Timing = (typeof timings)[number];

export interface Lie {
  readonly timing: Timing;
  /** Distance in standard deviations of an honest source's noise. */
  readonly size: number;
  /** How much further each liar goes than the one before, as a share of the size. */
  readonly fan: number;
  /** Rounds of a ramp, a turn, a freeze, or between spikes. */
  readonly period: number;
  /** What a liar says of its volume, beside a million of each honest one. */
  readonly volume: number;
}

export interface Bench {
  readonly sources: number;
  /** Places among the sources of those that lie. */
  readonly liars: readonly number[];
  /** Venues that quote in USDT, which slides from 1 to 0.95 and back; without it all quote in dollars. */
  readonly isDepegging?: boolean;
  /** Each honest source trades twice as much as the one before. */
  readonly isSkewed?: boolean;
}

/** Basis points of an honest source's noise, and of a witness's of USDT. */
const sigma = 5e-4;
const coinSigma = 1e-4;
const movement = 2e-4;
const roundMs = 1_000;
const depegRounds = 600;

const inCoins: ReadonlySet<SourceId> = new Set(["binance", "okx", "bybit", "kucoin", "gate"]);
const witnesses = ["coinbase", "kraken", "bitstamp"] as const;

/** A market of honest noise in which some lie; each step is one round, reported with the truth. */
export class LyingMarket {
  readonly #bench: Bench;
  readonly #lie: Lie;
  readonly #random: Random;
  readonly #aggregator = new Aggregator({ symbols: ["BTC", "USDT"] });
  readonly #liars: ReadonlySet<number>;
  #round = 0;
  #truth = 60_000;
  #frozen = 60_000;

  constructor(bench: Bench, lie: Lie, random: Random) {
    this.#bench = bench;
    this.#lie = lie;
    this.#random = random;
    this.#liars = new Set(bench.liars);
  }

  /** The error is in standard deviations of an honest source. Liars are honest for the first rounds. */
  step(isLying: boolean): { round: Round; sigmas: number } {
    this.#round += 1;
    this.#truth *= 1 + movement * normal(this.#random);
    const atMs = startMs + this.#round * roundMs;
    const rate = this.#bench.isDepegging === true ? this.#coin(atMs, isLying) : null;
    const errors = Array.from({ length: this.#bench.sources }, () => sigma * normal(this.#random));
    const honest = errors.filter((_, place) => !this.#liars.has(place));
    const side = this.#sideOf(honest);
    let liar = 0;
    for (const [place, error] of errors.entries()) {
      const source = sourceIds[place] ?? "chain";
      const lies = isLying && this.#liars.has(place);
      const price = lies ? this.#lieOf(liar, side, error) : this.#truth * (1 + error);
      if (lies) liar += 1;
      const volume = 1_000_000 * (this.#bench.isSkewed === true ? 2 ** place : 1);
      const isCoin = rate !== null && inCoins.has(source);
      const tick = tickOf(source, fromNumber(isCoin ? price / rate : price), {
        quote: isCoin ? "USDT" : "USD",
        asOfMs: atMs,
        quoteVolume24h: decimal((lies ? this.#lie.volume : volume).toFixed(0)),
      });
      this.#aggregator.accept({ kind: "tick", tick });
    }
    const round = this.#aggregator.accept({ kind: "time", atMs }).find(({ symbol }) => symbol === "BTC");
    if (round === undefined) throw new Error("no round");
    const price = round.kind === "price" ? Number(round.price) / 1e18 : this.#truth;
    return { round, sigmas: Math.abs(price / this.#truth - 1) / sigma };
  }

  #sideOf(honest: readonly number[]): number {
    if (this.#lie.timing === "alternate") return Math.floor(this.#round / this.#lie.period) % 2 === 0 ? 1 : -1;
    if (this.#lie.timing !== "foresee") return 1;
    return Math.max(...honest) > -Math.min(...honest) ? 1 : -1;
  }

  #lieOf(liar: number, side: number, error: number): number {
    const { timing, size, fan, period } = this.#lie;
    const phase = this.#round % period;
    if (phase === 0) this.#frozen = this.#truth;
    const distance = size * (1 + fan * liar) * sigma * side;
    if (timing === "ramp") return this.#truth * (1 + (distance * phase) / period);
    if (timing === "freeze" && phase < period - 1) return this.#frozen;
    if (timing === "spike" && phase > 0) return this.#truth * (1 + error);
    return Math.max(this.#truth * (1 + distance), this.#truth / 1_000);
  }

  /** USDT's own price, of which the witnesses speak first; a lying one lies by the same distance. */
  #coin(atMs: number, isLying: boolean): number {
    const phase = (this.#round % depegRounds) / depegRounds;
    const rate = 1 - 0.05 * Math.max(0, Math.sin(2 * Math.PI * phase));
    for (const source of witnesses) {
      const lies = isLying && this.#liars.has(sourceIds.indexOf(source));
      const said = rate * (1 + (lies ? this.#lie.size * sigma : coinSigma * normal(this.#random)));
      const tick = tickOf(source, fromNumber(said), { base: "USDT", asOfMs: atMs });
      this.#aggregator.accept({ kind: "tick", tick });
    }
    this.#aggregator.accept({ kind: "time", atMs });
    return rate;
  }
}
