import { oracleSymbols } from "@sluice/contract/oracle";
import { type Decimal, formatDecimal } from "../model/decimal.ts";
import type { DayWindow } from "./day-window.ts";
import type { PriceStore } from "./price-store.ts";

/** One symbol as people look at it; numbers are for showing, the exact price is the text. */
export interface PriceSummary {
  readonly symbol: string;
  /** US dollars, all digits; null while there is no price. */
  readonly price: string | null;
  readonly confidence: number | null;
  /** Percent. */
  readonly change24h: number | null;
  /** Unix milliseconds of the price, or of the last one there was. */
  readonly atMs: number | null;
  /** Why there is no price. */
  readonly reason: string | null;
  /** The last price of each minute of the last hour. */
  readonly lastHour: readonly number[];
}

const minutesShown = 60;
const shown = (value: Decimal | null): number | null => (value === null ? null : Number(formatDecimal(value)));

/** All symbols with the newest that is known of each. */
export function summarisePrices(priceStore: PriceStore, day: DayWindow): PriceSummary[] {
  return oracleSymbols.map((symbol): PriceSummary => {
    const served = priceStore.served(symbol, 1);
    const lastHour = day.closes(symbol, minutesShown).map((close) => Number(formatDecimal(close)));
    if (served.kind === "none") {
      const nothing = { price: null, confidence: null, change24h: null };
      return { symbol, ...nothing, atMs: served.last?.atMs ?? null, reason: served.reason, lastHour };
    }
    const { price, confidence, change24h, atMs } = served.quotation.round;
    const figures = { confidence: shown(confidence), change24h: shown(change24h) };
    return { symbol, price: formatDecimal(price), ...figures, atMs, reason: null, lastHour };
  });
}
