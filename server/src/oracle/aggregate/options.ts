import { oracleMajors, oraclePoolSymbols } from "@sluice/contract/oracle";
import { type Decimal, decimal } from "../model/decimal.ts";
import type { SourceId } from "../model/tick.ts";
import { sourceCadenceMs } from "../sources/index.ts";

/** Settings of the operator; the defaults are the rules of docs/decisions/0010. */
export interface AggregateOptions {
  /** The symbols that rounds are computed for; ticks of others are ignored, which bounds the memory. */
  readonly symbols: readonly string[];
  /**
   * The usual interval between ticks of a source, where it differs from its adapter's; its quotes are stale at three
   * times that, at most after 60 s.
   */
  readonly cadenceMs?: Partial<Record<SourceId, number>>;
}

/** The dollar coins in which venues quote; each has an index in US dollars. */
export const stablecoins = ["USDC", "USDT"] as const;
export type Stablecoin = (typeof stablecoins)[number];
export const isStablecoin = (symbol: string): symbol is Stablecoin => symbol === "USDC" || symbol === "USDT";

const majors: ReadonlySet<string> = new Set(oracleMajors);
const cadences = 3;
const staleMsMax = 60_000;

const poolPriced: ReadonlySet<string> = new Set(oraclePoolSymbols);

/**
 * How many agreeing sources a price needs. Where no exchange lists the symbol only the chain's pools have a price:
 * their depth and their mean over many slots replace the second source, and confidence in one source is at most half.
 */
export const sourcesMin = (symbol: string): number => (poolPriced.has(symbol) ? 1 : majors.has(symbol) ? 3 : 2);

/**
 * How far two neighbouring prices may lie apart, as a share, and still belong together: half a percent for majors, one
 * percent for the rest, whose books are thinner. Spreads widen it, see quorum.ts.
 */
export const reachOf = (symbol: string): Decimal => (majors.has(symbol) ? decimal("0.005") : decimal("0.01"));

/** The age in milliseconds at which each source's quotes are stale: by its adapter's cadence, unless another is set. */
export function staleLimits(options: AggregateOptions): Readonly<Record<SourceId, number>> {
  const limitOf = (id: SourceId): number =>
    Math.min(staleMsMax, cadences * (options.cadenceMs?.[id] ?? sourceCadenceMs[id] ?? staleMsMax));
  const [binance, coinbase, kraken, okx] = [limitOf("binance"), limitOf("coinbase"), limitOf("kraken"), limitOf("okx")];
  const [bybit, kucoin, bitstamp, gate] = [limitOf("bybit"), limitOf("kucoin"), limitOf("bitstamp"), limitOf("gate")];
  return { binance, coinbase, kraken, okx, bybit, kucoin, bitstamp, gate, chain: limitOf("chain") };
}
