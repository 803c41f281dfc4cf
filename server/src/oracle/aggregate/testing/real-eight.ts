import type { Random } from "@sluice/lib";
import type { Decimal } from "../../model/decimal.ts";
import type { Round } from "../../model/round.ts";
import type { SourceId } from "../../model/tick.ts";
import { exchanges } from "../../sources/exchanges/index.ts";
import { Aggregator } from "../aggregator.ts";
import { normal } from "./noise.ts";
import { startMs, tickOf, toNumber } from "./ticks.ts";

export const pricedSymbols = ["BTC", "ETH", "SOL", "BNB", "USDC", "USDT", "FTT"] as const;
export type PricedSymbol = (typeof pricedSymbols)[number];

/** Each exchange's markets of these symbols, in the currencies in which it lists them. */
const listings = exchanges.flatMap(({ id, markets }) =>
  markets.flatMap(({ base, quote }) => {
    const symbol = pricedSymbols.find((each) => each === base);
    return symbol === undefined ? [] : [{ id, symbol, quote }];
  }),
);

/** The exchanges that list a symbol, or give its price through USDC/USDT. */
export const listedBy = (symbol: PricedSymbol): ReadonlySet<SourceId> =>
  new Set(
    listings
      .filter((each) => each.symbol === symbol || (symbol === "USDT" && each.symbol === "USDC"))
      .map(({ id }) => id),
  );

export const shapes = ["offset", "factor", "drift", "ramp", "step", "oscillate", "mirror", "replay"] as const;
export type Shape = (typeof shapes)[number];
/** What a lie is about: one symbol, or several; `first` begins with a coin and has the rest follow after a period. */
export const targets = [
  ...pricedSymbols,
  ...(["all", "coins", "USDT first", "coins first", "all but coins"] as const),
] as const;
export type Target = (typeof targets)[number];

/** What colluding exchanges quote in step. */
export interface Lie {
  readonly shape: Shape;
  readonly target: Target;
  /** Basis points on the prices of the target. */
  readonly bps: number;
  /** Basis points on USDT in dollars. */
  readonly coinBps: number;
  /** Seconds of a turn, a ramp or a replay. */
  readonly period: number;
  /** Of the volume of an honest exchange. */
  readonly volume: number;
  /** Share of each period in which the liars say nothing. */
  readonly away: number;
}

const basis = 1e-4;
/** Basis points of a lie that multiplies a price by ten. */
const basisOfTenfold = 25_000;
/** Basis points: an honest exchange's error in each tick, and what it is off all the time. */
const noiseBps = 1;
const offsetBps = 0.5;
/** Basis points a second by which prices, and the worth of the coins, move. */
const movementBps: Readonly<Record<PricedSymbol, number>> = {
  ...{ BTC: 1, ETH: 1.2, SOL: 1.5, BNB: 1, FTT: 3 },
  ...{ USDC: 0.005, USDT: 0.01 },
};

const begin: Readonly<Record<PricedSymbol, number>> = {
  ...{ BTC: 83_800, ETH: 3_050, SOL: 148, BNB: 860, FTT: 0.92 },
  ...{ USDC: 0.99995, USDT: 0.9996 },
};

/** Something honest that happens to the market: the worth of a symbol as a factor, and who is silent. */
export interface Weather {
  readonly factor: (symbol: PricedSymbol, second: number) => number;
  readonly isSilent: (id: SourceId, second: number) => boolean;
}

/** To the ninth place, and the same on every machine; a fifth of a step's time is saved by not going through text. */
const toDecimal = (value: number): Decimal => (BigInt(Math.round(value * 1e9)) * 10n ** 9n) as Decimal;
const honestVolume = toDecimal(1_000_000);

export const calm: Weather = { factor: () => 1, isSilent: () => false };

/** The eight exchanges as they list and quote, of which some lie; a step is a second. */
export class RealEight {
  readonly #random: Random;
  readonly #aggregator = new Aggregator({ symbols: pricedSymbols });
  readonly #liars: ReadonlySet<SourceId>;
  readonly #lie: Lie;
  readonly #weather: Weather;
  readonly #course: Record<PricedSymbol, number> = { ...begin };
  readonly #past: Record<PricedSymbol, number>[] = [];
  readonly #offsets = new Map<string, number>();
  /** What each honest exchange said last, in the currency of its market. */
  readonly #honestly = new Map<string, { readonly symbol: PricedSymbol; readonly quote: string; said: number }>();
  readonly #lyingVolume: Decimal;
  #second = 0;

  constructor(setting: { liars: ReadonlySet<SourceId>; lie: Lie; weather?: Weather }, random: Random) {
    this.#random = random;
    this.#liars = setting.liars;
    this.#lie = setting.lie;
    this.#weather = setting.weather ?? calm;
    this.#lyingVolume = toDecimal(1_000_000 * setting.lie.volume);
  }

  /** The true worth of a symbol in dollars. */
  truth(symbol: PricedSymbol): number {
    return this.#course[symbol] * this.#weather.factor(symbol, this.#second);
  }

  /**
   * How far from the truth the outermost honest quote of a symbol is now, in basis points: its noise and what has
   * happened since it was said. USDT's price is also seen in USDC/USDT.
   */
  honestBps(symbol: PricedSymbol): number {
    let outermost = 0;
    for (const { symbol: of, quote, said } of this.#honestly.values()) {
      if (of !== symbol && !(symbol === "USDT" && of === "USDC")) continue;
      outermost = Math.max(outermost, Math.abs(said / this.#worth(of, quote) - 1) / basis);
    }
    return outermost;
  }

  /** The rounds of one second; liars lie `sinceSeconds` after they began, and are honest while it is null. */
  step(sinceSeconds: number | null): ReadonlyMap<PricedSymbol, Round> {
    this.#second += 1;
    for (const symbol of pricedSymbols) this.#course[symbol] *= 1 + movementBps[symbol] * basis * normal(this.#random);
    const truths = Object.fromEntries(pricedSymbols.map((symbol) => [symbol, this.truth(symbol)]));
    this.#past.push(truths as Record<PricedSymbol, number>);
    if (this.#past.length > 600) this.#past.shift();
    const fromMs = startMs + this.#second * 1_000;
    const turns = listings.map((listing) => ({ ...listing, at: this.#random.next() * 900 }));
    for (const { id, symbol, quote, at } of turns.toSorted((one, other) => one.at - other.at)) {
      if (this.#weather.isSilent(id, this.#second)) continue;
      const isLying = sinceSeconds !== null && this.#liars.has(id);
      if (isLying && this.#isAway(sinceSeconds)) continue;
      const said = isLying ? this.#lieOf(symbol, quote, sinceSeconds) : this.#honest(id, symbol, quote);
      const quoteVolume24h = isLying ? this.#lyingVolume : honestVolume;
      const tick = tickOf(id, toDecimal(said), {
        base: symbol,
        quote,
        asOfMs: Math.floor(fromMs + at),
        quoteVolume24h,
      });
      this.#aggregator.accept({ kind: "tick", tick });
    }
    const rounds = this.#aggregator.accept({ kind: "time", atMs: fromMs + 1_000 });
    return new Map(rounds.map((round) => [round.symbol as PricedSymbol, round]));
  }

  #worth(symbol: PricedSymbol, quote: string): number {
    return this.truth(symbol) / (quote === "USDT" ? this.truth("USDT") : 1);
  }

  #honest(id: SourceId, symbol: PricedSymbol, quote: string): number {
    const key = `${id} ${symbol} ${quote}`;
    const offset = this.#offsets.get(key) ?? offsetBps * normal(this.#random);
    this.#offsets.set(key, offset);
    const said = this.#worth(symbol, quote) * (1 + (offset + noiseBps * normal(this.#random)) * basis);
    if (!this.#liars.has(id)) this.#honestly.set(key, { symbol, quote, said });
    return said;
  }

  #isAway(since: number): boolean {
    return (since % this.#lie.period) / this.#lie.period < this.#lie.away;
  }

  #lieOf(symbol: PricedSymbol, quote: string, since: number): number {
    const { target, bps, coinBps, period } = this.#lie;
    const isCoin = symbol === "USDT" || symbol === "USDC";
    const isTarget =
      target === "all" ||
      target === symbol ||
      (target === "coins" && isCoin) ||
      (target === "USDT first" && (symbol === "USDT" || since >= period)) ||
      (target === "coins first" && (isCoin || since >= period)) ||
      (target === "all but coins" && !isCoin);
    const size = symbol === "USDT" ? coinBps : bps;
    const factor = isTarget ? this.#factor(symbol, quote, size, since) : 1;
    return Math.max(this.#worth(symbol, quote) * factor, 1e-9);
  }

  #factor(symbol: PricedSymbol, quote: string, bps: number, since: number): number {
    const { shape, period } = this.#lie;
    const phase = (since % period) / period;
    switch (shape) {
      case "offset":
        return 1 + bps * basis;
      case "factor":
        return 10 ** (bps / basisOfTenfold);
      case "drift":
        return 1 + bps * basis * Math.min(20, since / period);
      case "ramp":
        return 1 + bps * basis * phase;
      case "step":
        return 1 + (bps * basis * Math.min(8, Math.floor(since / period) + 1)) / 4;
      case "oscillate":
        return 1 + bps * basis * (phase < 0.5 ? 1 : -1);
      case "mirror":
      case "replay": {
        const back = this.#past.at(-1 - Math.min(since, Math.floor(period)));
        if (back === undefined) return 1;
        const before = back[symbol] / (quote === "USDT" ? back.USDT : 1);
        const ratio = before / this.#worth(symbol, quote);
        return shape === "replay" ? ratio : ratio * ratio * (1 + bps * basis);
      }
    }
  }
}

/** How far a round's price is from the truth, in basis points; null without a price. */
export function deviationBps(round: Round, truth: number): number | null {
  return round.kind === "price" ? Math.abs(toNumber(round.price) / truth - 1) / basis : null;
}
