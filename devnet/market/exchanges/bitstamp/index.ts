import { answer, type Exchange, page } from "../exchange.ts";
import { Windows } from "../limits.ts";
import { feed } from "./feed.ts";
import { rest } from "./rest.ts";

/** Bitstamp: www.bitstamp.net and ws.bitstamp.net. The status of its limit is documented nowhere; it is 400 here. */
export function bitstamp(): Exchange {
  const short = new Windows({ limit: 400, windowMs: 1_000 });
  const long = new Windows({ limit: 10_000, windowMs: 600_000 });
  return {
    id: "bitstamp",
    symbolOf: ({ base, quote }) => `${base}${quote}`.toLowerCase(),
    rest,
    allow(ask, nowMs) {
      const isAllowed = short.take(ask.ip, 1, nowMs).isAllowed && long.take(ask.ip, 1, nowMs).isAllowed;
      return { refusal: isAllowed ? null : this.limited(false, nowMs), headers: {} };
    },
    limited: () => answer({ status: "error", reason: "Request limit exceeded.", response_code: "400.002" }, 400),
    busy: () => page(503, "Service Temporarily Unavailable"),
    feed,
  };
}
