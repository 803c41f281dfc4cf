import type { Decimal } from "../decimal.ts";
import { sourceIds, type Tick } from "../tick.ts";
import { isStablecoin, type Stablecoin } from "./options.ts";

/** The last word of one source on one market. */
export interface Market {
  tick: Tick;
  /** What the source vouches for, never later than when we heard it: a clock that runs ahead buys no freshness. */
  asOfMs: number;
  /** When anything but the time last differed, and what the symbol was worth then, or when it first was priced. */
  changedAtMs: number;
  goodAtChange: Decimal | null;
}

/** A market as one of a symbol's: as it is, through a coin's index, or turned round. */
export interface View {
  readonly market: Market;
  /** The coin whose index is needed; null in dollars. */
  readonly through: Stablecoin | null;
  /** The symbol is the market's quote: one over its price. */
  readonly inverse: boolean;
}

/** Last ticks by symbol. What it keeps is bounded by symbols, sources and three quotes. */
export class MarketBook {
  readonly #views = new Map<string, View[]>();
  readonly #markets = new Map<string, Market>();

  constructor(symbols: readonly string[]) {
    for (const symbol of symbols) this.#views.set(symbol, []);
  }

  /** Sorted by source and quote, so that what is made of them does not depend on who spoke first. */
  views(symbol: string): readonly View[] {
    return this.#views.get(symbol) ?? [];
  }

  /** Takes a tick in; the symbols that it bears on, none when it is older than what is known or says nothing. */
  accept(tick: Tick, good: (symbol: string) => Decimal | null): readonly string[] {
    if (tick.price <= 0n || !Number.isSafeInteger(tick.asOfMs) || !Number.isSafeInteger(tick.receivedAtMs)) return [];
    const symbols = this.#symbolsOf(tick);
    if (symbols.length === 0) return [];
    const asOfMs = Math.min(tick.asOfMs, tick.receivedAtMs);
    const key = `${tick.source} ${tick.base} ${tick.quote}`;
    const market = this.#markets.get(key);
    if (market === undefined) {
      const added = { tick, asOfMs, changedAtMs: tick.receivedAtMs, goodAtChange: good(tick.base) };
      this.#markets.set(key, added);
      this.#addViews(added);
      return symbols;
    }
    if (asOfMs < market.asOfMs) return [];
    if (saysTheSame(market.tick, tick)) {
      market.goodAtChange ??= good(tick.base);
    } else {
      market.changedAtMs = tick.receivedAtMs;
      market.goodAtChange = good(tick.base);
    }
    market.tick = tick;
    market.asOfMs = asOfMs;
    return symbols;
  }

  #symbolsOf({ base, quote }: Tick): string[] {
    if (base === quote) return [];
    const symbols = this.#views.has(base) ? [base] : [];
    if (isStablecoin(base) && isStablecoin(quote) && this.#views.has(quote)) symbols.push(quote);
    return symbols;
  }

  #addViews(market: Market): void {
    const { base, quote } = market.tick;
    const through = quote === "USD" ? null : quote;
    this.#add(base, { market, through, inverse: false });
    if (isStablecoin(base) && isStablecoin(quote)) this.#add(quote, { market, through: base, inverse: true });
  }

  #add(symbol: string, view: View): void {
    const views = this.#views.get(symbol);
    if (views === undefined) return;
    views.push(view);
    views.sort((left, right) => rank(left) - rank(right));
  }
}

const quotes = ["USD", "USDT", "USDC"];
const rank = ({ market: { tick }, inverse }: View): number =>
  sourceIds.indexOf(tick.source) * 8 + quotes.indexOf(tick.quote) * 2 + (inverse ? 1 : 0);

const saysTheSame = (left: Tick, right: Tick): boolean =>
  left.price === right.price &&
  left.bid === right.bid &&
  left.ask === right.ask &&
  left.baseVolume24h === right.baseVolume24h &&
  left.quoteVolume24h === right.quoteVolume24h;
