/**
 * oracle: what a symbol is worth, and since when that is known. Fed by the sources (exchanges, or the development market in
 * their place), whose ticks become rounds that enough of them agree on; rounds feed both variants of the HTTP interface,
 * the stream, the ledger, and whoever in the platform asks for a value in dollars. compose binds its doors to port 7450.
 */
export { serialiseRound } from "./aggregate/inputs.ts";
export type { PriceSummary } from "./board.ts";
export { type Decimal, decimal, formatDecimal } from "./decimal.ts";
export {
  createOracleEvents,
  type OracleEvents,
  type OracleRequestEvents,
  oracleMetrics,
} from "./events.ts";
export { type ExchangesDependencies, type ExchangesOptions, startExchanges } from "./feed.ts";
export type { OracleBindings } from "./http/http.ts";
export type {
  OracleLedger,
  SourceState,
} from "./interfaces.ts";
export {
  createOracle,
  type Oracle,
  type OracleDependencies,
  type OracleOptions,
  oracleReplayOptions,
  type SourceFeed,
  type UsdPrice,
} from "./oracle.ts";
export type { OracleStream } from "./stream/stream.ts";
export type { SourceId, Tick } from "./tick.ts";
export { type ReplayReport, replayLog, tickLogFiles } from "./tick-log/replay-log.ts";
