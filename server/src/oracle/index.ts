/**
 * oracle: what a symbol is worth, and since when that is known. Fed by the sources (exchanges, or the development
 * market in their place), whose ticks become rounds that enough of them agree on; rounds feed both variants of the HTTP
 * interface, the stream, the ledger, and rooms that need a value in dollars. compose binds its endpoint to port 7450.
 */
export { serialiseRound } from "./aggregate/inputs.ts";
export type { OracleBindings } from "./http/http.ts";
export { type Decimal, decimal, formatDecimal } from "./model/decimal.ts";
export {
  createOracleEvents,
  type OracleEvents,
  type OracleRequestEvents,
  oracleMetrics,
} from "./model/events.ts";
export type {
  OracleLedger,
  SourceState,
} from "./model/ports.ts";
export type { SourceId, Tick } from "./model/tick.ts";
export { type ExchangesOptions, type SourceDependencies, startExchanges } from "./sources/index.ts";
export type { PriceSummary } from "./store/price-summary.ts";
export type { OracleStream } from "./stream/stream.ts";
export { type ReplayReport, replayLog, tickLogFiles } from "./tick-log/replay-log.ts";
export {
  createOracle,
  type Oracle,
  type OracleDependencies,
  type OracleOptions,
  oracleReplayOptions,
  type UsdPrice,
} from "./wiring/oracle.ts";
