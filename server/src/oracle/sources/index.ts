/**
 * sources: where prices come from. Eight exchanges, each a pure definition (`exchanges/`) that one runner reads by
 * stream and by request (`source.ts`), and the chain's own pools. Fed by the exchanges and by a reader of accounts;
 * feeds ticks, checked and in our units, and the health of each source.
 */
export { type AccountReader, type AccountReading, type ChainPoolOptions, createAccountReader } from "./chain-pools.ts";
export type { SourceEndpoint } from "./exchange.ts";
export {
  type ExchangesOptions,
  type Sources,
  type SourcesDependencies,
  type SourcesOptions,
  sourceCadenceMs,
  startExchanges,
  startSources,
} from "./feed.ts";
export { type DropReason, dropReasons } from "./row.ts";
export type { SourceDependencies } from "./source.ts";
export { type MarketHealth, type SourceHealth, type SourceStatus, sourceStatuses } from "./source-health.ts";
export type { RequestEnd, StreamEnd } from "./source-record.ts";
