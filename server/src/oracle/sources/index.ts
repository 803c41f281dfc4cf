/**
 * sources: where prices come from. Eight exchanges, each a pure definition (`exchanges/`) that one runner reads by stream
 * and by request (`source.ts`), and the chain's own pools. Fed by the exchanges and by a reader of accounts; feeds ticks,
 * checked and in our units, and the health of each source.
 */
export { createAccountReader } from "./account-reader.ts";
export type { AccountReader, AccountReading, PoolOptions } from "./chain-pools.ts";
export type { SourceEndpoint } from "./exchange.ts";
export { type DropReason, dropReasons } from "./row.ts";
export type { RequestEnd, SourceEvents, StreamEnd } from "./source-events.ts";
export { type MarketHealth, type SourceHealth, type SourceStatus, sourceStatuses } from "./source-health.ts";
export { sourceCadenceMs } from "./source-table.ts";
export { type Sources, type SourcesDependencies, type SourcesOptions, startSources } from "./start-sources.ts";
