import { type Decimal, decimal } from "../decimal.ts";
import { type SourceId, sourceIds } from "../tick.ts";

/** What an operator may set; the defaults are the rules of docs/decisions/0010. */
export interface AggregateOptions {
  /** The symbols that rounds are made for; ticks of others are ignored, which bounds what is kept. */
  readonly symbols: readonly string[];
  /** How often each source speaks when all is well; it is stale at three times that, at most after 60 s. */
  readonly cadenceMs?: Partial<Record<SourceId, number>>;
  /** Sources behind which the same engine stands carry the same name here and are heard as one. */
  readonly origins?: Partial<Record<SourceId, string>>;
}

/** The dollar coins in which venues quote; each has an index of its own in US dollars. */
export const stablecoins = ["USDC", "USDT"] as const;
export type Stablecoin = (typeof stablecoins)[number];
export const isStablecoin = (symbol: string): symbol is Stablecoin => symbol === "USDC" || symbol === "USDT";

const majors: ReadonlySet<string> = new Set(["BTC", "ETH", "SOL", "USDC", "USDT", "BNB"]);
const cadences = 3;
const staleMsMax = 60_000;

/** Venues that push on a timer are late after 15 s; those that push on trades may be quiet for a minute. */
const cadenceMsDefault: Readonly<Record<SourceId, number>> = {
  binance: 5_000,
  coinbase: 20_000,
  kraken: 20_000,
  okx: 5_000,
  bybit: 5_000,
  kucoin: 5_000,
  bitstamp: 20_000,
  gate: 5_000,
  chain: 20_000,
};

/** How many agreeing sources a price needs. */
export const sourcesMin = (symbol: string): number => (majors.has(symbol) ? 3 : 2);

/**
 * How far two neighbouring prices may lie apart, as a share, and still belong together: half a percent for majors, one
 * percent for the rest, whose books are thinner. Spreads widen it, see quorum.ts.
 */
export const reachOf = (symbol: string): Decimal => (majors.has(symbol) ? decimal("0.005") : decimal("0.01"));

/** Age in milliseconds at which each source's word is too old. */
export function staleLimits(options: AggregateOptions): Readonly<Record<SourceId, number>> {
  const limits: Partial<Record<SourceId, number>> = {};
  for (const id of sourceIds) {
    const cadence = options.cadenceMs?.[id] ?? cadenceMsDefault[id];
    limits[id] = Math.min(cadences * cadence, staleMsMax);
  }
  return { ...(limits as Record<SourceId, number>) };
}
