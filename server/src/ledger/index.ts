/**
 * ledger: the facts that never change (requests served, prices, what became of bundles, later blocks and transactions),
 * in ClickHouse: the engine embedded as a supervised child process, or a cluster (CLICKHOUSE_URL), behind one client
 * and one code path. Fed by the gateway's pipeline (requests.append), by the oracle and the block engine; read back by
 * the console, history and analytics.
 */

export {
  type AssetDescription,
  type AssetHolding,
  type AssetLeaf,
  type AssetRow,
  absentOperation,
  readingPlace,
  type TreeNodeRow,
} from "./assets/asset-rows.ts";
export type { BlockCall, LedgerAssetBlocks } from "./assets/block-calls.ts";
export type {
  AssetSignature,
  IndexedAsset,
  LedgerAssetReads,
  SignaturePage,
  UnsettledReading,
} from "./assets/reads.ts";
export { type AssetEdge, type AssetFilter, type AssetPage, type AssetSort, anyAsset } from "./assets/select.ts";
export type { LedgerAssetStore } from "./assets/store.ts";
export type { BundleBalances, BundleFigures, BundleGain, BundleMevFigures, LandedBundle } from "./bundle-queries.ts";
export type { ActiveDay, AddressWindow, Counted, ParsedType } from "./chain/address-activity.ts";
export type { BlockRange, BlockRow } from "./chain/block-reads.ts";
export type { ChainReads } from "./chain/chain-reads.ts";
export { type ChainHeld, isHeldWhole } from "./chain/held.ts";
export {
  type LedgerParsedStore,
  type ReparseOrder,
  type StoredTransaction,
  type UnparsedBlock,
  versionOrder,
} from "./chain/parsed-store.ts";
export { holes, joined, missing, type SlotSpan } from "./chain/ranges.ts";
export { ChainRows, type EncodedRows, type ParsedRows, parsedRows, signatureKey } from "./chain/rows.ts";
export {
  anyTransaction,
  type FoundTransactions,
  searchAnswerMs,
  type TransactionConditions,
} from "./chain/search.ts";
export type { ChainOrder, PlaceRange, SlotWindow, TransactionPlace } from "./chain/statements.ts";
export {
  type BackfillOrder,
  type DroppedBlock,
  type HeldChain,
  type HeldIdentity,
  isSameHeldChain,
  isTransient,
  type LedgerChainStore,
  type LinkedBlock,
} from "./chain/store.ts";
export type {
  LamportChange,
  MintedTokens,
  OwnedTokens,
  ProgramCall,
  TokenChange,
  TokenReads,
} from "./chain/token-reads.ts";
export type { TransactionBodyRow, TransactionRow } from "./chain/transaction-reads.ts";
export { LedgerAbortedError, LedgerOpenError, LedgerQueryError, LedgerUnavailableError } from "./errors.ts";
export { createLedgerEvents, ledgerMetrics } from "./events.ts";
export { type Ledger, openLedger } from "./ledger.ts";
export type { EpochRates, PoolSample, PoolSampleReads, SampledDay, SampledPool, SampledRate } from "./pool-samples.ts";
export { type RequestFact, statusStillOpen } from "./request-fact.ts";
export type { HourUsage } from "./request-queries.ts";
export type { FoundRequests, RequestPlace, RequestSearch } from "./request-search.ts";
export { restoreLedger } from "./restore.ts";
export type { CustomerResult, CustomerStatement, CustomerStatements } from "./sql/customer-statements.ts";
export type { ConfinementRule } from "./supervisor.ts";
export type { LedgerTableState } from "./table-states.ts";
export type { Usage, UsageQuestion, UsageRange, UsageSums } from "./usage-queries.ts";
export {
  type FinishedDeliveries,
  type FinishedDelivery,
  type FinishedPlace,
  finishedMax,
  type WebhookAttemptReads,
  type WebhookAttemptRecord,
} from "./webhook-attempts.ts";
