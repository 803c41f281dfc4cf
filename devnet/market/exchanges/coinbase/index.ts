import { answer, type Exchange } from "../exchange.ts";
import { Buckets } from "../limits.ts";
import { feed } from "./feed.ts";
import { rest } from "./rest.ts";

/** Coinbase Exchange: api.exchange.coinbase.com and ws-feed.exchange.coinbase.com. */
export function coinbase(): Exchange {
  const requests = new Buckets({ perSecond: 10, burst: 15 });
  return {
    id: "coinbase",
    symbolOf: ({ base, quote }) => `${base}-${quote}`,
    rest,
    allow(ask, nowMs) {
      return { refusal: requests.take(ask.ip, nowMs) ? null : this.limited(false, nowMs), headers: {} };
    },
    limited: () => answer({ message: "Public rate limit exceeded" }, 429),
    busy: () => answer({ message: "Service Unavailable" }, 503),
    feed,
  };
}
