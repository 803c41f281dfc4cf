import { oraclePoolSymbols } from "@sluice/contract/oracle";
import { type Decimal, decimal } from "../decimal.ts";
import { sourceCadenceMs } from "../sources/index.ts";
import type { SourceId } from "../tick.ts";

/** What an operator may set; the defaults are the rules of docs/decisions/0010. */
export interface AggregateOptions {
  /** The symbols that rounds are made for; ticks of others are ignored, which bounds what is kept. */
  readonly symbols: readonly string[];
  /**
   * How often a source speaks when all is well, where it is not what its adapter says; it is stale at three times that,
   * at most after 60 s.
   */
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

const poolPriced: ReadonlySet<string> = new Set(oraclePoolSymbols);

/**
 * How many agreeing sources a price needs. Where no exchange has the symbol the chain's own pools are all that there is:
 * their depth and their mean over many slots stand for the second opinion, and confidence in one source is at most half.
 */
export const sourcesMin = (symbol: string): number => (poolPriced.has(symbol) ? 1 : majors.has(symbol) ? 3 : 2);

/**
 * How far two neighbouring prices may lie apart, as a share, and still belong together: half a percent for majors, one
 * percent for the rest, whose books are thinner. Spreads widen it, see quorum.ts.
 */
export const reachOf = (symbol: string): Decimal => (majors.has(symbol) ? decimal("0.005") : decimal("0.01"));

/** Age in milliseconds at which each source's word is too old: by its adapter's cadence, unless another is set. */
export function staleLimits(options: AggregateOptions): Readonly<Record<SourceId, number>> {
  const limitOf = (id: SourceId): number =>
    Math.min(staleMsMax, cadences * (options.cadenceMs?.[id] ?? sourceCadenceMs[id] ?? staleMsMax));
  const [binance, coinbase, kraken, okx] = [limitOf("binance"), limitOf("coinbase"), limitOf("kraken"), limitOf("okx")];
  const [bybit, kucoin, bitstamp, gate] = [limitOf("bybit"), limitOf("kucoin"), limitOf("bitstamp"), limitOf("gate")];
  return { binance, coinbase, kraken, okx, bybit, kucoin, bitstamp, gate, chain: limitOf("chain") };
}
