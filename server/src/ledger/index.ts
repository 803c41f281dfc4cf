/**
 * ledger: the facts that never change (requests served, prices, what became of bundles, later blocks and transactions),
 * in ClickHouse: the engine embedded as a supervised child process, or a cluster (CLICKHOUSE_URL), behind one client
 * and one code path. Fed by the gateway's pipeline (requests.append), by the oracle and the block engine; read back by
 * the console, history and analytics.
 */
export type { BundleDay, BundleFigures, BundleMevFigures, BundleQuestion } from "./bundle-queries.ts";
export { type CallOptions, connectionLimits, type LedgerSettings } from "./connection.ts";
export type { LedgerLog } from "./endpoint.ts";
export { LedgerAbortedError, LedgerOpenError, LedgerQueryError, LedgerUnavailableError } from "./errors.ts";
export { createLedgerEvents, type LedgerEvents, ledgerMetrics } from "./events.ts";
export { type Ledger, type LedgerDependencies, type LedgerOptions, openLedger } from "./ledger.ts";
export { type RequestFact, statusStillOpen } from "./request-fact.ts";
export { requestLogLimits } from "./request-limits.ts";
export type { HourUsage, MethodUsage, MinuteUsage } from "./request-queries.ts";
export type { Usage, UsageQuestion, UsageRow, UsageSums } from "./usage-queries.ts";
