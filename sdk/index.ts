/**
 * sdk: the typed client of Sluice. Programs and the console use it; it calls a server's REST endpoints. It imports only
 * the contract's types and tables and wire's codecs, so that it stays small in a browser.
 */

export type { MevType } from "@sluice/contract/engine";
export { bundleReasonStatus, bundleReasons, engineErrorTable } from "@sluice/contract/engine";
export {
  bundleReasonGuide,
  engineErrorDocsPath,
  engineErrorGuide,
  engineOwnCodes,
} from "@sluice/contract/engine-errors-guide";
export { enhancedTypes } from "@sluice/contract/enhanced";
export { errorDocsPath, errorTable } from "@sluice/contract/errors";
export { errorGuide } from "@sluice/contract/errors-guide";
export { oracleErrorTable } from "@sluice/contract/oracle";
export { oracleErrorDocsPath, oracleErrorGuide, oracleOwnCodes } from "@sluice/contract/oracle-errors-guide";
export {
  type ChartPeriod,
  chartPeriods,
  type ExplainedRecord,
  type FigurePeriod,
  figurePeriods,
  type PnlStrategy,
  pnlStrategies,
} from "@sluice/contract/pool";
export type {
  BundleStatusBody,
  ConsoleBundle,
  ConsoleBundleStory,
  ConsoleBundles,
  ConsoleEndpoint,
  ConsoleName,
  ConsoleOverview,
  ConsolePool,
  ConsolePrice,
  ConsolePrices,
  ConsoleSession,
  ConsoleSource,
  ConsoleUpstream,
  ConsoleUsage,
  EnhancedTransaction,
  ExplanationBody,
  FieldError,
  NftMetadataRecord,
  ProblemDetails,
  SavedQuery,
  SqlResult,
  SqlSchema,
  TokenMetadataRecord,
  ValidatorBody,
  WalletBalances,
} from "@sluice/contract/schemas";
export { type StreamChannel, streamChannels, streamFilterChannels } from "@sluice/contract/streams";
export { type Network, networks } from "@sluice/contract/tiers";
export {
  operationalEventTable,
  type WebhookEventName,
  type WebhookFilterName,
  webhookEventNames,
  webhookEventSpec,
  webhookEventTable,
  webhookFilterEvents,
  webhookFilterTexts,
} from "@sluice/contract/webhooks";
export { type Bundle, type Bundles, type BundlesOptions, createBundles, type OutcomeOptions } from "./bundles.ts";
export { type ConsoleClient, createConsoleClient } from "./console-client.ts";
export { createEnhanced, type Enhanced, type EnhancedOptions, type EnhancedTransactionFailure } from "./enhanced.ts";
export type { Exact } from "./exact.ts";
export {
  type BlocksQuery,
  createHistory,
  type History,
  type HistoryBlock,
  type HistoryOptions,
  type HistoryPage,
  type HistoryRange,
  type HistorySignature,
  type HistoryTransaction,
  type SearchQuery,
  type TransactionsQuery,
} from "./history.ts";
export { createStakePool, type ExplainQuery, type PnlQuery, type StakePool } from "./pool.ts";
export { ProblemError } from "./problem-error.ts";
export {
  createResolver,
  type NameNamespace,
  type NameResolution,
  ResolveError,
  type ResolveFailure,
  type ResolveOptions,
  type Resolver,
  type ResolverOptions,
} from "./resolve.ts";
export { type SealedBundle, type SealingKey, type SealParts, sealBundle } from "./seal-bundle.ts";
export { createSql, rowsOf, type Sql, type SqlOptions, type SqlRun } from "./sql.ts";
export type { StreamState } from "./stream/connection.ts";
export type {
  StreamAccount,
  StreamBlock,
  StreamEvent,
  StreamFiltersOf,
  StreamGap,
  StreamLagged,
  StreamSlot,
  StreamTransaction,
  StreamUndo,
} from "./stream/events.ts";
export { createStream, type Stream, type StreamOptions } from "./stream/stream.ts";
export { StreamError, type StreamErrorDetails } from "./stream/stream-error.ts";
export type { StreamSubscription, SubscribeOptions } from "./stream/subscription.ts";
export {
  type VerifyWebhookOptions,
  verifyWebhook,
  type WebhookEvent,
  type WebhookFault,
  type WebhookHeaders,
  WebhookVerificationError,
} from "./webhooks/verify-webhook.ts";
export {
  createWebhooks,
  type DeliveriesQuery,
  type NewWebhook,
  type Webhook,
  type WebhookChanges,
  type WebhookDelivery,
  type WebhookDeliveryDetail,
  type WebhookFilters,
  type Webhooks,
  type WebhooksOptions,
} from "./webhooks/webhooks.ts";
