import type { Decimal } from "../model/decimal.ts";
import { sourceIds, type Tick } from "../model/tick.ts";
import { isStablecoin, type Stablecoin } from "./options.ts";

/** The latest tick of one source on one market. */
export interface TrackedMarket {
  tick: Tick;
  /** The time that the source states, at most the time of receipt: a clock that runs ahead gains no freshness. */
  asOfMs: number;
  /** When anything but the time last changed, and the symbol's price then, or when it first had one. */
  changedAtMs: number;
  goodAtChange: Decimal | null;
}

/** A market as a price of one symbol: direct, through a coin's index, or inverted. */
export interface MarketView {
  readonly market: TrackedMarket;
  /** The coin whose index is needed; null in dollars. */
  readonly through: Stablecoin | null;
  /** The symbol is the market's quote currency: its price is one over the market's. */
  readonly inverse: boolean;
}

/** The latest ticks by symbol; bounded by symbols, sources and three quote currencies. */
export class MarketTable {
  readonly #views = new Map<string, MarketView[]>();
  readonly #markets = new Map<string, TrackedMarket>();

  constructor(symbols: readonly string[]) {
    for (const symbol of symbols) this.#views.set(symbol, []);
  }

  /** Sorted by source and quote currency, so that a round does not depend on the order of arrival. */
  views(symbol: string): readonly MarketView[] {
    return this.#views.get(symbol) ?? [];
  }

  /**
   * Takes a tick; returns the symbols that it affects, none when it is older than the known one or has no usable price.
   */
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
    if (hasSameFigures(market.tick, tick)) {
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

  #addViews(market: TrackedMarket): void {
    const { base, quote } = market.tick;
    const through = quote === "USD" ? null : quote;
    this.#add(base, { market, through, inverse: false });
    if (isStablecoin(base) && isStablecoin(quote)) this.#add(quote, { market, through: base, inverse: true });
  }

  #add(symbol: string, view: MarketView): void {
    const views = this.#views.get(symbol);
    if (views === undefined) return;
    views.push(view);
    views.sort((left, right) => rank(left) - rank(right));
  }
}

const quotes = ["USD", "USDT", "USDC"];
const rank = ({ market: { tick }, inverse }: MarketView): number =>
  sourceIds.indexOf(tick.source) * 8 + quotes.indexOf(tick.quote) * 2 + (inverse ? 1 : 0);

const hasSameFigures = (left: Tick, right: Tick): boolean =>
  left.price === right.price &&
  left.bid === right.bid &&
  left.ask === right.ask &&
  left.baseVolume24h === right.baseVolume24h &&
  left.quoteVolume24h === right.quoteVolume24h;
