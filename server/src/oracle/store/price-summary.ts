import { oracleSymbols } from "@sluice/contract/oracle";
import { type Decimal, formatDecimal } from "../model/decimal.ts";
import { isNewest, visibleEndMs } from "../model/update-window.ts";
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

/** All symbols, with what a tier of this update frequency is served of each at `nowMs`. */
export function summarisePrices(
  { priceStore, day }: { readonly priceStore: PriceStore; readonly day: DayWindow },
  { frequencySeconds, nowMs }: { readonly frequencySeconds: number; readonly nowMs: number },
): PriceSummary[] {
  const endMs = isNewest(frequencySeconds) ? Number.POSITIVE_INFINITY : visibleEndMs(nowMs, frequencySeconds);
  return oracleSymbols.map((symbol): PriceSummary => {
    const served = priceStore.served(symbol, frequencySeconds);
    const lastHour = day.closes(symbol, { count: minutesShown, endMs }).map((close) => Number(formatDecimal(close)));
    if (served.kind === "none") {
      const nothing = { price: null, confidence: null, change24h: null };
      return { symbol, ...nothing, atMs: served.last?.atMs ?? null, reason: served.reason, lastHour };
    }
    const { price, confidence, change24h, atMs } = served.quotation.round;
    const figures = { confidence: shown(confidence), change24h: shown(change24h) };
    return { symbol, price: formatDecimal(price), ...figures, atMs, reason: null, lastHour };
  });
}
