/**
 * sources: where prices come from. Eight exchanges, each a pure definition (`exchanges/`) that one runner reads by
 * stream and by request (`source.ts`), and the chain's own pools. Fed by the exchanges and by a reader of accounts;
 * feeds ticks, checked and in our units, and the health of each source.
 */

export {
  sourceCadenceMs,
  startExchanges,
  startSources,
} from "./feed.ts";
