import type { Decimal } from "../decimal.ts";
import type { SourceId } from "../tick.ts";
import type { Stablecoin } from "./options.ts";

/** What one origin says of one symbol at one moment, in US dollars. */
export interface Voice {
  readonly source: SourceId;
  readonly price: Decimal;
  readonly asOfMs: number;
  /** The age in milliseconds at which it no longer counts. */
  readonly staleMs: number;
  /** The coin whose index turned it into dollars; null for a market in dollars. */
  readonly through: Stablecoin | null;
  /** Between best bid and best ask, as a share of the price. */
  readonly spread: Decimal | null;
  /** In 24 hours, in US dollars. */
  readonly volume: Decimal | null;
  readonly high: Decimal | null;
  readonly low: Decimal | null;
  /** Percent. */
  readonly change: Decimal | null;
}

/** A voice with its share of the whole. */
export interface Vote {
  readonly voice: Voice;
  readonly weight: Decimal;
  /** The voice's price under the name that medians read. */
  readonly value: Decimal;
}
