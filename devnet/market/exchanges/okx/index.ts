import { answer, type Exchange } from "../exchange.ts";
import { Windows } from "../limits.ts";
import { feed } from "./feed.ts";
import { rest } from "./rest.ts";

/** OKX v5: www.okx.com and ws.okx.com. Each route is counted apart. */
export function okx(): Exchange {
  const few = new Windows({ limit: 20, windowMs: 2_000 });
  const many = new Windows({ limit: 40, windowMs: 2_000 });
  return {
    id: "okx",
    symbolOf: ({ base, quote }) => `${base}-${quote}`,
    rest,
    allow(ask, nowMs) {
      const windows = ask.path === "/api/v5/market/candles" ? many : few;
      const { isAllowed } = windows.take(`${ask.ip} ${ask.path.slice(0, 64)}`, 1, nowMs);
      return { refusal: isAllowed ? null : this.limited(false, nowMs), headers: {} };
    },
    limited: () => answer({ msg: "Too Many Requests", code: "50011" }, 429),
    busy: () => answer({ code: "50001", data: [], msg: "Service temporarily unavailable. Try again later." }, 503),
    feed,
  };
}
