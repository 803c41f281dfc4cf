import { answer, type Exchange } from "../exchange.ts";
import { Buckets } from "../limits.ts";
import { feed } from "./feed.ts";
import { namesOf } from "./names.ts";
import { rest } from "./rest.ts";

/** Kraken spot: api.kraken.com and ws.kraken.com/v2. */
export function kraken(): Exchange {
  const requests = new Buckets({ perSecond: 1, burst: 15 });
  return {
    id: "kraken",
    symbolOf: (listing) => namesOf(listing).altname,
    rest,
    allow(ask, nowMs) {
      // OHLC is counted for each pair apart.
      const isCandles = ask.path.endsWith("/OHLC");
      const key = isCandles ? `${ask.ip} ${ask.query.get("pair")?.slice(0, 20)}` : ask.ip;
      return { refusal: requests.take(key, nowMs) ? null : this.limited(false, nowMs), headers: {} };
    },
    limited: (isBan) => answer({ error: [isBan ? "EGeneral:Temporary lockout" : "EGeneral:Too many requests"] }),
    busy: () => answer({ error: ["EService:Unavailable"] }),
    feed,
  };
}
