import { oracleLabel, oraclePair, oracleSources } from "@sluice/contract/oracle";
import { type Json, jsonText } from "./json.ts";
import { dataAtMs, type PricedRound } from "./round.ts";
import type { SourceId } from "./tick.ts";

export const isoTime = (atMs: number): string => new Date(atMs).toISOString();
export const sourceName = (id: SourceId): string => oracleSources[id].name;

/** A price as the first variant shows it (spec: oracle, price record). */
export function priceRecord(round: PricedRound): Readonly<Record<string, Json>> {
  return {
    success: true,
    symbol: round.symbol,
    price: round.price,
    confidence: round.confidence,
    volume24h: round.volume24h,
    change24h: round.change24h,
    high24h: round.high24h,
    low24h: round.low24h,
    sources: round.sources.map(({ source }) => sourceName(source)),
    timestamp: isoTime(dataAtMs(round)),
    source: oracleLabel,
  };
}

/** A price as the second variant shows it. */
export function pairRecord(round: PricedRound): Readonly<Record<string, Json>> {
  return {
    symbol: oraclePair(round.symbol),
    price: round.price,
    confidence: round.confidence,
    timestamp: isoTime(dataAtMs(round)),
    sources: round.sources.length,
    change_24h: round.change24h,
    volume_24h: round.volume24h,
  };
}

/** One agreed price with its texts, each written when it is first asked for and then shared by all who ask. */
export class Quotation {
  readonly round: PricedRound;
  /** Monotonic milliseconds at which it was agreed here. */
  readonly heldSinceMs: number;
  #record: string | null = null;
  #pair: string | null = null;
  #update: string | null = null;

  constructor(round: PricedRound, heldSinceMs: number) {
    this.round = round;
    this.heldSinceMs = heldSinceMs;
  }

  /** The first variant's record. */
  get record(): string {
    this.#record ??= jsonText(priceRecord(this.round));
    return this.#record;
  }

  /** The second variant's record. */
  get pair(): string {
    this.#pair ??= jsonText(pairRecord(this.round));
    return this.#pair;
  }

  /** The message that subscribers get. */
  get update(): string {
    this.#update ??= jsonText({ type: "price_update", ...priceRecord(this.round) });
    return this.#update;
  }
}
