import { type Ask, answer, type Exchange } from "../exchange.ts";
import { Windows } from "../limits.ts";
import { feedOf } from "./feed.ts";
import { rest } from "./rest.ts";
import { Tokens } from "./tokens.ts";

const weightMax = 2_000;
const windowMs = 30_000;

/** KuCoin classic spot: api.kucoin.com, whose bullet-public names the stream. */
export function kucoin(options: { readonly seed: string }): Exchange {
  const pool = new Windows({ limit: weightMax, windowMs: windowMs });
  const tokens = new Tokens(options);
  return {
    id: "kucoin",
    symbolOf: ({ base, quote }) => `${base}-${quote}`,
    rest: (ask, venue) => rest(ask, venue, tokens),
    allow(ask, nowMs) {
      const { used, isAllowed, resetMs } = pool.take(ask.ip, weightOf(ask), nowMs);
      const headers = headersOf(Math.max(0, weightMax - used), resetMs - nowMs);
      return { refusal: isAllowed ? null : this.limited(false, nowMs), headers };
    },
    limited: (_, nowMs) => {
      return answer({ code: "429000", msg: "Too Many Requests" }, 429, headersOf(0, windowMs - (nowMs % windowMs)));
    },
    busy: () => answer({ code: "230005", msg: "The system is busy." }, 503),
    feed: feedOf(tokens),
  };
}

const headersOf = (left: number, resetMs: number) => ({
  "gw-ratelimit-limit": String(weightMax),
  "gw-ratelimit-remaining": String(left),
  "gw-ratelimit-reset": String(resetMs),
});

function weightOf({ path }: Ask): number {
  if (path.endsWith("/stats") || path.endsWith("/allTickers")) return 15;
  if (path.endsWith("/bullet-public")) return 10;
  return path.endsWith("/level1") ? 2 : 3;
}
