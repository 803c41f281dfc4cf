import type { RestAnswer, RestFault } from "../exchange.ts";

/** Nobody is believed who asks for a longer pause: the longest published ban is three days. */
const waitMsMax = 3 * 24 * 3_600_000;

/** Milliseconds that a `Retry-After` asks for: seconds or a date; null where there is none that can be read. */
function retryAfterMs(answer: RestAnswer): number | null {
  const text = answer.header("retry-after")?.trim() ?? "";
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const at = text === "" ? Number.NaN : Date.parse(text);
  return Number.isNaN(at) ? null : at - answer.receivedAtMs;
}

/** "Asked too often", with the longer of the waits that the answer names. */
export function limitedBy(
  answer: RestAnswer,
  said: { readonly waitMs: number | null; readonly banned: boolean },
): RestFault {
  // A moment that is past says nothing of how long to wait.
  const waits = [retryAfterMs(answer), said.waitMs].filter((wait) => wait !== null && wait > 0);
  const longestMs = Math.max(0, ...waits.map(Number));
  return { kind: "limited", waitMs: longestMs === 0 ? null : Math.min(waitMsMax, longestMs), banned: said.banned };
}

/** The wait until a moment that a header names in Unix seconds or milliseconds; null where it names none. */
export function waitUntilHeader(answer: RestAnswer, name: string, unitMs: 1 | 1_000): number | null {
  const text = answer.header(name) ?? "";
  return /^\d{1,16}$/.test(text) ? Number(text) * unitMs - answer.receivedAtMs : null;
}

/** An answer that is neither rows nor a limit: the exchange's own fault, or ours. */
export const refusalOf = (answer: RestAnswer, message: string): RestFault =>
  answer.status >= 500 ? { kind: "unavailable" } : { kind: "refused", message: message.slice(0, 200) };
