import type { QuoteCurrency } from "../../model/tick.ts";
import { minuteMs } from "../../model/traded-minute.ts";
import type { CandleSpan, Market, RestAnswer, RestFault } from "../exchange.ts";

/** How an exchange builds its names from a base and a quote. */
export interface NameRules {
  readonly name: (base: string, quote: QuoteCurrency) => string;
  readonly streamName?: (base: string, quote: QuoteCurrency) => string;
  readonly aliases?: (base: string, quote: QuoteCurrency) => readonly string[];
}

/**
 * The markets of one exchange: each base in one quote currency, because two order books of one exchange are one
 * opinion.
 */
export function listMarkets(quote: QuoteCurrency, bases: readonly string[], rules: NameRules): readonly Market[] {
  return bases.map((base) => ({
    base,
    quote,
    name: rules.name(base, quote),
    streamName: (rules.streamName ?? rules.name)(base, quote),
    aliases: rules.aliases?.(base, quote) ?? [],
  }));
}

/** The longest pause that is accepted: the longest published ban is three days. */
const waitMsMax = 3 * 24 * 3_600_000;

/** The milliseconds of a `Retry-After` in seconds or as a date; null without a readable one. */
function retryAfterMs(answer: RestAnswer): number | null {
  const text = answer.header("retry-after")?.trim() ?? "";
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const at = text === "" ? Number.NaN : Date.parse(text);
  return Number.isNaN(at) ? null : at - answer.receivedAtMs;
}

/** The outcome of a rate limit, with the longer of the waits that the answer names. */
export function limitedBy(
  answer: RestAnswer,
  stated: { readonly waitMs: number | null; readonly banned: boolean },
): RestFault {
  // A time in the past gives no wait.
  const waits = [retryAfterMs(answer), stated.waitMs].filter((wait) => wait !== null && wait > 0);
  const longestMs = Math.max(0, ...waits.map(Number));
  return { kind: "limited", waitMs: longestMs === 0 ? null : Math.min(waitMsMax, longestMs), banned: stated.banned };
}

/** The wait until the time in a header, in Unix seconds or milliseconds; null without one. */
export function waitUntilHeader(answer: RestAnswer, name: string, unitMs: 1 | 1_000): number | null {
  const text = answer.header(name) ?? "";
  return /^\d{1,16}$/.test(text) ? Number(text) * unitMs - answer.receivedAtMs : null;
}

/** How often candles are asked for beside a stream that carries them, and where there is none. */
export const candlesBesideStreamMs = 60_000;
export const candlesWithoutStreamMs = 20_000;

/** How many minutes a span has, the open one included. */
export const minutesIn = ({ fromMs, nowMs }: CandleSpan): number => Math.floor((nowMs - fromMs) / minuteMs) + 1;

/** An answer that is neither rows nor a limit: an error of the exchange, or a wrong request. */
export const refusalOf = (answer: RestAnswer, message: string): RestFault =>
  answer.status >= 500 ? { kind: "unavailable" } : { kind: "refused", message: message.slice(0, 200) };
