import { add, type Decimal, decimal, multiply, subtract, unit } from "../model/decimal.ts";
import { minuteOf, type TradedMinute } from "../model/traded-minute.ts";
import { checked, isUnsaid, priceIn, Refusal, timeIn, volumeIn } from "./checked-fields.ts";
import type { CandleRow, Reading } from "./row.ts";

/** Each volume is rounded to the exchange's decimals by itself, which tells most in a small one. */
const tolerance = decimal("0.02");
const roundingMax = decimal("0.01");

/** The figures of one candle, without the market that it is of. */
export type CandleFigures = Pick<TradedMinute, "atMs" | "baseVolume" | "quoteVolume" | "statedAtMs">;

interface CandlePrices {
  readonly open: Decimal;
  readonly high: Decimal;
  readonly low: Decimal;
  readonly close: Decimal;
}

/** Checks one candle of a minute. Never throws; the first thing that is wrong with it is the reason. */
export function readCandle(row: CandleRow, receivedAtMs: number): Reading<CandleFigures> {
  return checked(() => {
    const atMs = timeIn(row.start.value, row.start.unit, receivedAtMs);
    if (atMs !== minuteOf(atMs)) throw new Refusal("not-a-minute");
    const prices = readPrices(row);
    const baseVolume = volumeIn(row.baseVolume);
    if (baseVolume === null) throw new Refusal("missing-field");
    const stated = row.time === undefined ? receivedAtMs : timeIn(row.time.value, row.time.unit, receivedAtMs);
    const quoteVolume = readQuoteVolume(row, baseVolume, prices);
    return { atMs, baseVolume, quoteVolume, statedAtMs: Math.min(stated, receivedAtMs) };
  });
}

function readPrices(row: CandleRow): CandlePrices {
  const [open, high, low, close] = [priceIn(row.open), priceIn(row.high), priceIn(row.low), priceIn(row.close)];
  if (open < low || open > high || close < low || close > high) throw new Refusal("outside-day-range");
  return { open, high, low, close };
}

/** The two volumes' ratio is the mean price of the minute, whatever an exchange calls its columns. */
function readQuoteVolume(row: CandleRow, baseVolume: Decimal, { open, high, low, close }: CandlePrices): Decimal {
  if (baseVolume === 0n) return (volumeIn(row.quoteVolume) ?? baseVolume) > roundingMax ? contradicted() : baseVolume;
  const stated = volumeIn(row.quoteVolume);
  // Where an exchange names neither a quote volume nor a mean price, the mean lies somewhere between low and high.
  const mean = isUnsaid(row.vwap) ? (((open + high + low + close) / 4n) as Decimal) : priceIn(row.vwap);
  const quoteVolume = stated ?? multiply(mean, baseVolume);
  const least = multiply(baseVolume, multiply(low, subtract(unit, tolerance)));
  const most = multiply(baseVolume, multiply(high, add(unit, tolerance)));
  if (add(quoteVolume, roundingMax) < least || quoteVolume > add(most, roundingMax)) return contradicted();
  return quoteVolume;
}

function contradicted(): never {
  throw new Refusal("volume-columns");
}
