import { answer, type Exchange } from "../exchange.ts";
import { Windows } from "../limits.ts";
import { feed } from "./feed.ts";
import { rest } from "./rest.ts";

const requestsMax = 200;
const windowMs = 10_000;

/** Gate v4 spot: api.gateio.ws. Each endpoint is counted apart. */
export function gate(): Exchange {
  const endpoints = new Windows({ limit: requestsMax, windowMs: windowMs });
  return {
    id: "gate",
    symbolOf: ({ base, quote }) => `${base}_${quote}`,
    rest,
    allow(ask, nowMs) {
      const { used, isAllowed, resetMs } = endpoints.take(`${ask.ip} ${ask.path.slice(0, 64)}`, 1, nowMs);
      const headers = headersOf(Math.max(0, requestsMax - used), resetMs);
      return { refusal: isAllowed ? null : this.limited(false, nowMs), headers };
    },
    limited: (_, nowMs) => {
      const body = { label: "TOO_MANY_REQUESTS", message: "Request Rate limit Exceeded" };
      return answer(body, 429, headersOf(0, (Math.floor(nowMs / windowMs) + 1) * windowMs));
    },
    busy: () => answer({ label: "SERVER_ERROR", message: "Internal Server Error" }, 500),
    feed,
  };
}

const headersOf = (left: number, resetMs: number) => ({
  "X-Gate-RateLimit-Requests-Remain": String(left),
  "X-Gate-RateLimit-Limit": String(requestsMax),
  "X-Gate-RateLimit-Reset-Timestamp": String(Math.ceil(resetMs / 1_000)),
});
