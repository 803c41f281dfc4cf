import type { Answer, Exchange } from "../exchange.ts";
import { Bans, Windows } from "../limits.ts";
import { feed } from "./feed.ts";
import { envelope, rest } from "./rest.ts";

const perEndpoint = 50;
const perAddress = 600;
const banMs = 600_000;

/** Bybit v5, spot: api.bybit.com and stream.bybit.com. */
export function bybit(): Exchange {
  const endpoints = new Windows({ limit: perEndpoint, windowMs: 1_000 });
  const addresses = new Windows({ limit: perAddress, windowMs: 5_000 });
  const bans = new Bans({ after: 0, banMs: banMs });
  return {
    id: "bybit",
    symbolOf: ({ base, quote }) => `${base}${quote}`,
    rest,
    allow(ask, nowMs) {
      const isOver = !addresses.take(ask.ip, 1, nowMs).isAllowed;
      if (bans.isBanned(ask.ip, nowMs) || bans.note(ask.ip, isOver, nowMs)) {
        return { refusal: this.limited(true, nowMs), headers: {} };
      }
      const { used, isAllowed, resetMs } = endpoints.take(`${ask.ip} ${ask.path.slice(0, 64)}`, 1, nowMs);
      const headers = headersOf(Math.max(0, perEndpoint - used), resetMs);
      return { refusal: isAllowed ? null : this.limited(false, nowMs), headers };
    },
    limited(isBan, nowMs): Answer {
      if (isBan) return { status: 403, body: "403, access too frequent", type: "text", headers: {} };
      return { ...envelope(10_006, "Too many visits!", {}, nowMs), headers: headersOf(0, nowMs + 1_000) };
    },
    busy: (nowMs) => envelope(10_016, "Server error", {}, nowMs),
    feed,
  };
}

const headersOf = (left: number, resetMs: number) => ({
  "X-Bapi-Limit": String(perEndpoint),
  "X-Bapi-Limit-Status": String(left),
  "X-Bapi-Limit-Reset-Timestamp": String(resetMs),
});
