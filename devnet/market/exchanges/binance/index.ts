import { type Ask, answer, type Exchange } from "../exchange.ts";
import { Bans, Windows } from "../limits.ts";
import { weightPerMinute } from "./exchange-info.ts";
import { feed } from "./feed.ts";
import { rest } from "./rest.ts";

const banMs = 120_000;
/** Calls over the limit that lead to a ban. */
const disregardedMax = 20;

const full = "Please use WebSocket Streams for live updates to avoid polling the API.";

/** Binance spot: api.binance.com and stream.binance.com. */
export function binance(): Exchange {
  const weights = new Windows({ limit: weightPerMinute, windowMs: 60_000 });
  const bans = new Bans({ after: disregardedMax, banMs: banMs });
  return {
    id: "binance",
    symbolOf: ({ base, quote }) => `${base}${quote}`,
    rest: (ask, venue) => rest(ask, venue, ask.headers.get("x-mbx-time-unit") === "MICROSECOND" ? 1_000 : 1),
    allow(ask, nowMs) {
      if (bans.isBanned(ask.ip, nowMs)) return { refusal: this.limited(true, nowMs), headers: {} };
      const { used, isAllowed } = weights.take(ask.ip, weightOf(ask), nowMs);
      const isBan = bans.note(ask.ip, !isAllowed, nowMs);
      const headers = { "x-mbx-used-weight": String(used), "x-mbx-used-weight-1m": String(used) };
      return { refusal: isAllowed ? null : this.limited(isBan, nowMs), headers };
    },
    limited(isBan, nowMs) {
      if (!isBan) {
        const wait = Math.ceil((60_000 - (nowMs % 60_000)) / 1_000);
        const msg = `Too much request weight used; current limit is ${weightPerMinute} request weight per 1 MINUTE. ${full}`;
        return answer({ code: -1003, msg }, 429, { "Retry-After": String(wait) });
      }
      const until = nowMs + banMs;
      const msg = `Way too much request weight used; IP banned until ${until}. Please use WebSocket Streams for live updates to avoid bans.`;
      return answer({ code: -1003, msg }, 418, { "Retry-After": String(banMs / 1_000) });
    },
    busy: () => answer({ code: -1016, msg: "This service is no longer available." }, 503),
    feed,
  };
}

function weightOf(ask: Ask): number {
  if (ask.path === "/api/v3/exchangeInfo") return 20;
  if (ask.path === "/api/v3/klines") return 2;
  if (!ask.path.startsWith("/api/v3/ticker/")) return 1;
  const isDay = ask.path.endsWith("/24hr");
  if (ask.query.has("symbol")) return 2;
  const list = ask.query.get("symbols");
  if (!isDay) return 4;
  if (list === null) return 80;
  const count = list.split(",").length;
  return count <= 20 ? 2 : count <= 100 ? 40 : 80;
}
