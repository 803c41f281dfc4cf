import type { Decimal } from "./decimal.ts";

/** The sources that adapters exist for, and the chain's own pools. */
export const sourceIds = [
  "binance",
  "coinbase",
  "kraken",
  "okx",
  "bybit",
  "kucoin",
  "bitstamp",
  "gate",
  "chain",
] as const;
export type SourceId = (typeof sourceIds)[number];

export type QuoteCurrency = "USD" | "USDT" | "USDC";

/** What one source says of one market at one moment, in our units whatever the source's are. */
export interface Tick {
  readonly source: SourceId;
  /** The symbol that is priced: "BTC". */
  readonly base: string;
  /** In what it is priced. */
  readonly quote: QuoteCurrency;
  /** Last trade, held within the best bid and ask where both are known. Above zero. */
  readonly price: Decimal;
  readonly bid: Decimal | null;
  readonly ask: Decimal | null;
  /** Rolling 24 hours; null where the source does not say. Prices in the quote. */
  readonly open24h: Decimal | null;
  readonly high24h: Decimal | null;
  readonly low24h: Decimal | null;
  readonly baseVolume24h: Decimal | null;
  readonly quoteVolume24h: Decimal | null;
  /**
   * Unix milliseconds for which the source vouches for this price, by its own clock; where it reports no time, when the
   * message arrived. A frozen source's stands still even when messages go on.
   */
  readonly asOfMs: number;
  /** Unix milliseconds by our clock. */
  readonly receivedAtMs: number;
}
