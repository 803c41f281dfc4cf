import type { Random } from "@sluice/lib";
import { add, subtract } from "../../model/decimal.ts";
import type { Round } from "../../model/round.ts";
import { type SourceId, sourceIds } from "../../model/tick.ts";
import { Aggregator } from "../aggregator.ts";
import { type Noise, normal } from "./noise.ts";
import { fromNumber, startMs, tickOf } from "./ticks.ts";

/** An honest market of bitcoin. */
export interface NoisyRegime {
  readonly sources: number;
  readonly noise: Noise;
  /** Basis points of one source's noise, by its place; the last goes on. */
  readonly sigmas: readonly number[];
  /** Basis points by which the truth moves in a root second. */
  readonly movement?: number;
  /** Basis points of an offset that each source keeps for a hundred seconds. */
  readonly offset?: number;
  /** Basis points of the noise of each witness of USDT; five exchanges then quote in it. */
  readonly coin?: number;
  /** Dollars between two prices that exchanges can print; their books are as wide. */
  readonly grid?: number;
  /** Seconds at the end of each minute in which no source speaks. */
  readonly silentSeconds?: number;
}

const basis = 1e-4;
const inCoins: ReadonlySet<SourceId> = new Set(["binance", "okx", "bybit", "kucoin", "gate"]);

/** A step is a second: every source speaks once, at its own moment, and a round is made at its end. */
export class NoisyMarket {
  readonly #regime: NoisyRegime;
  readonly #random: Random;
  readonly #aggregator = new Aggregator({ symbols: ["BTC", "USDT"] });
  #offsets: number[] = [];
  #second = 0;
  truth = 60_000;

  constructor(regime: NoisyRegime, random: Random) {
    this.#regime = regime;
    this.#random = random;
  }

  /** The round of bitcoin that was made, if there was one. */
  step(): Round | undefined {
    const { sources, offset = 0, coin, silentSeconds = 0 } = this.#regime;
    const random = this.#random;
    this.#second += 1;
    const fromMs = startMs + this.#second * 1_000;
    if (this.#second % 100 === 1) this.#offsets = sourceIds.map(() => offset * normal(random));
    const rate = coin === undefined ? null : this.#coin(coin, fromMs);
    const turns = sourceIds.slice(0, sources).map((source, place) => ({ source, place, at: random.next() * 1_000 }));
    const isSilent = this.#second % 60 >= 60 - silentSeconds;
    let nowMs = 0;
    for (const turn of isSilent ? [] : turns.toSorted((left, right) => left.at - right.at)) {
      this.#move(turn.at - nowMs);
      nowMs = turn.at;
      this.#say(turn, rate, Math.floor(fromMs + turn.at));
    }
    this.#move(1_000 - nowMs);
    const rounds = this.#aggregator.accept({ kind: "time", atMs: fromMs + 1_000 });
    return rounds.find(({ symbol }) => symbol === "BTC");
  }

  #say({ source, place }: { source: SourceId; place: number }, rate: number | null, asOfMs: number): void {
    const { sigmas, noise, grid } = this.#regime;
    const sigma = sigmas[Math.min(place, sigmas.length - 1)] ?? 0;
    const error = (sigma * noise(this.#random) + (this.#offsets[place] ?? 0)) * basis;
    const isCoin = rate !== null && inCoins.has(source);
    const price = (this.truth * (1 + error)) / (isCoin ? rate : 1);
    const shown = fromNumber(grid === undefined ? price : Math.round(price / grid) * grid);
    const book =
      grid === undefined ? {} : { bid: subtract(shown, fromNumber(grid / 2)), ask: add(shown, fromNumber(grid / 2)) };
    const tick = tickOf(source, shown, { asOfMs, quote: isCoin ? "USDT" : "USD", ...book });
    this.#aggregator.accept({ kind: "tick", tick });
  }

  #move(durationMs: number): void {
    const { movement = 0 } = this.#regime;
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
