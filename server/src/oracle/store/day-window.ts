import { type Decimal, decimal, divide, multiply, subtract } from "../model/decimal.ts";
import type { PricedRound } from "../model/round.ts";
import { minuteMs, minuteOf } from "../model/traded-minute.ts";
import { clockBackMs } from "./candle.ts";

const minutesOfDay = 1_440;
const minutesOfHour = 60;
const hundred = decimal("100");
/** How far the price of a day ago may lie from that moment and still be taken for it. */
const slackMinutes = 5;

interface Minute {
  readonly atMs: number;
  high: Decimal;
  low: Decimal;
  close: Decimal;
}

/**
 * The last day of each symbol in minutes, from the server's own rounds: what it says where the sources report no price
 * of a day ago, no high and no low. At most 1,441 + 5 minutes a symbol.
 */
export class DayWindow {
  readonly #minutes = new Map<string, Minute[]>();

  /** A round with the members filled in that its sources left open. Take it in with `add` first. */
  complete(round: PricedRound): PricedRound {
    if (round.change24h !== null && round.high24h !== null && round.low24h !== null) return round;
    const minutes = this.#minutes.get(round.symbol) ?? [];
    const range = rangeOf(minutes, round);
    return {
      ...round,
      change24h: round.change24h ?? changeSince(minutes, round),
      high24h: round.high24h ?? range.high,
      low24h: round.low24h ?? range.low,
    };
  }

  add(round: Pick<PricedRound, "symbol" | "atMs" | "price">): void {
    const { symbol, atMs, price } = round;
    this.put(symbol, { atMs: minuteOf(atMs), high: price, low: price, close: price });
  }

  /**
   * A minute, or a part of one; those of one symbol come in the order of time. One that comes too late is folded in.
   */
  put(symbol: string, minute: Minute): void {
    const minutes = this.#minutes.get(symbol) ?? [];
    this.#minutes.set(symbol, minutes);
    // Minutes of a time that has not been yet are not of the last day.
    if ((minutes.at(-1)?.atMs ?? minute.atMs) - minute.atMs >= clockBackMs) {
      while ((minutes.at(-1)?.atMs ?? minute.atMs) > minute.atMs) minutes.pop();
    }
    const last = minutes.at(-1);
    if (last !== undefined && minute.atMs <= last.atMs) {
      if (minute.high > last.high) last.high = minute.high;
      if (minute.low < last.low) last.low = minute.low;
      last.close = minute.close;
      return;
    }
    minutes.push({ ...minute });
    const oldest = minute.atMs - (minutesOfDay + slackMinutes) * minuteMs;
    while ((minutes[0]?.atMs ?? minute.atMs) < oldest) minutes.shift();
  }

  /** The last price of each of the last `count` minutes of a symbol that ended by `endMs`, oldest first. */
  closes(symbol: string, { count, endMs }: { readonly count: number; readonly endMs: number }): Decimal[] {
    const ended = (this.#minutes.get(symbol) ?? []).filter(({ atMs }) => atMs + minuteMs <= endMs);
    return ended.slice(-count).map(({ close }) => close);
  }

  /** The lowest and highest price that was agreed in a minute; null where none was. */
  rangeAt(symbol: string, atMs: number): { readonly low: Decimal; readonly high: Decimal } | null {
    const minute = this.#minutes.get(symbol)?.findLast((each) => each.atMs <= atMs);
    return minute?.atMs === atMs ? minute : null;
  }

  /** The last price that was agreed in a minute, or in the hour before it; null where none was. */
  priceAt(symbol: string, atMs: number): Decimal | null {
    const minute = this.#minutes.get(symbol)?.findLast((each) => each.atMs <= atMs);
    return minute === undefined || minute.atMs < atMs - minutesOfHour * minuteMs ? null : minute.close;
  }

  /** Minutes held of a symbol. */
  size(symbol: string): number {
    return this.#minutes.get(symbol)?.length ?? 0;
  }
}

function rangeOf(minutes: readonly Minute[], round: PricedRound): { high: Decimal; low: Decimal } {
  const from = round.atMs - minutesOfDay * minuteMs;
  let { price: high, price: low } = round;
  for (const minute of minutes) {
    if (minute.atMs < from) continue;
    if (minute.high > high) high = minute.high;
    if (minute.low < low) low = minute.low;
  }
  return { high, low };
}

/** Percent since the minute of a day ago; null where nothing is known of it. */
function changeSince(minutes: readonly Minute[], round: PricedRound): Decimal | null {
  const dayAgo = minuteOf(round.atMs) - minutesOfDay * minuteMs;
  let then: Decimal | null = null;
  for (const minute of minutes) {
    if (minute.atMs > dayAgo) break;
    if (minute.atMs >= dayAgo - slackMinutes * minuteMs) then = minute.close;
  }
  if (then === null || then <= 0n) return null;
  return multiply(divide(subtract(round.price, then), then), hundred);
}
