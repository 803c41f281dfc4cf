import type { Random } from "@sluice/lib";
import type { WebhookRetryPolicy } from "../../state/index.ts";

/** Before the second attempt. */
const firstDelayMs = 5_000;
/** However often an attempt has failed. */
const delayMsMax = 4 * 3_600_000;
/** A part of each delay, in both directions, so that what failed together is not tried together. */
const jitter = 0.2;
/** How long a receiver may ask to be left alone. */
export const retryAfterMsMax = 3_600_000;

/** The time from the attempt of this number, counted from 1, to the next one, in milliseconds. */
export function retryDelayMs(attempt: number, policy: WebhookRetryPolicy, random: Random): number {
  const delayMs = Math.min(delayMsMax, firstDelayMs * policy.backoffMultiplier ** (attempt - 1));
  return Math.round(delayMs * (1 - jitter + 2 * jitter * random.next()));
}

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const datePattern = /^[A-Z][a-z]{2}, (\d{2}) ([A-Z][a-z]{2}) (\d{4}) (\d{2}):(\d{2}):(\d{2}) GMT$/;

/**
 * The time that a Retry-After field asks for, in milliseconds, at most an hour: seconds, or a date in the one form that
 * senders write (RFC 9110, sections 10.2.3 and 5.6.7). Null for anything else.
 */
export function retryAfterMs(value: string | null, nowMs: number): number | null {
  if (value === null) return null;
  // However many digits, they are seconds, which a receiver means to be many.
  if (/^\d+$/.test(value)) return Math.min(retryAfterMsMax, Number(value) * 1_000);
  const [, day, month = "", year, hour, minute, second] = datePattern.exec(value) ?? [];
  const index = months.indexOf(month);
  if (index < 0) return null;
  const atMs = Date.UTC(Number(year), index, Number(day), Number(hour), Number(minute), Number(second));
  return Math.max(0, Math.min(retryAfterMsMax, atMs - nowMs));
}
