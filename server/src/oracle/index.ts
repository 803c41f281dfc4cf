/**
 * oracle: what a symbol is worth, and since when that is known. Fed by the sources (exchanges, or the development
 * market in their place), whose ticks become rounds that enough of them agree on; rounds feed both variants of the HTTP
 * interface, the stream and the ledger. compose binds its endpoint to port 7450.
 */
export { serialiseRound } from "./aggregate/inputs.ts";

export { type Decimal, decimal, formatDecimal, parseDecimal } from "./model/decimal.ts";
export {
  createOracleEvents,
  type OracleRequestEvents,
  oracleMetrics,
} from "./model/events.ts";

export type { SourceId, Tick } from "./model/tick.ts";
export { symbolsOfMints } from "./model/token-symbols.ts";
export { startExchanges } from "./sources/index.ts";
export { PricesAsOf } from "./store/prices-as-of.ts";

export { type ReplayReport, replayLog, tickLogFiles } from "./tick-log/replay-log.ts";
export {
  createOracle,
  type Oracle,
  type OracleHealth,
  oracleReplayOptions,
} from "./wiring/oracle.ts";
