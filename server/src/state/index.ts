/**
 * state: records that change (owner accounts, keys, credits, sessions, bundles, the audit trail), on SQLite in the data
 * directory or on PostgreSQL. Config says which; compose opens it. It feeds keys, credits, admin and every room that
 * has to remember something. Acknowledged writes are on disk. No other room depends on the driver.
 */

export type {
  BundleIngress,
  BundleRecord,
  BundleStore,
  LandedPlace,
  NewBundle,
  OpenedContent,
} from "./bundle-records.ts";
export { followersMax } from "./bundle-records.ts";
export type { ChainRecord, ChainStore } from "./chain-records.ts";
export { holdState, requireUnusedState } from "./directory-lock.ts";
export {
  type CursorStore,
  type EncryptionKeyRecord,
  type EncryptionKeyStore,
  type EngineState,
  type EngineStores,
  type EngineSwitch,
  type EngineSwitchRecord,
  engineSwitches,
  type ReplayStore,
  type ReputationRecord,
  type ReputationStore,
  type SearcherLimit,
  type SearcherLink,
} from "./engine-records.ts";
export { StateError, stateErrorCodeOf } from "./errors.ts";
export { createStateEvents, stateMetrics } from "./events.ts";
export { FileLock } from "./file-lock.ts";
export type { LeaseRecord, LeaseStore } from "./lease-records.ts";
export type { CreditStore, HeldLeaseBook, LeaseBook, MeteredProduct, OpenLeaseBook, SpentAdvance } from "./meter.ts";
export { openState } from "./open.ts";
export type { UpstreamNodeRecord, UpstreamOrder } from "./order-records.ts";
export type { DatabasePools } from "./pools.ts";
export type { LeftBehind, NewProcess, ProcessRecord, ProcessStore } from "./process-records.ts";
export type {
  AccountRecord,
  AuditRecord,
  ChangingStores,
  GrantChange,
  KeyChangeStore,
  KeyChanges,
  KeyRecord,
  KeyRestrictions,
  PageRequest,
  State,
} from "./records.ts";
export { restoreState, unknownMigration } from "./restore.ts";
export type { SavedQueryRecord, SavedQueryStore } from "./saved-query-records.ts";
export { nodeSecretId, type SecretStore, type StoredSecret } from "./secret-records.ts";
export { hashSessionToken } from "./sessions.ts";
export type {
  DeliveryOutcome,
  HeldWebhookQueue,
  KeptFact,
  KeptFacts,
  OverdueQueue,
  QueuedDelivery,
  QueuePlace,
  TakenWebhookQueue,
  WebhookDeliveryStore,
  WebhookQueueCounts,
  WebhookTold,
} from "./webhook-delivery-records.ts";
export { deliveryIdOfHex, shortDetailMax } from "./webhook-delivery-records.ts";
export {
  type WebhookContent,
  type WebhookContentChanges,
  type WebhookNotice,
  type WebhookQueueState,
  type WebhookRecord,
  type WebhookRetryPolicy,
  type WebhookStore,
  webhookSecretId,
} from "./webhook-records.ts";
export {
  type BehindWebhook,
  type NewDelivery,
  type ScheduleStore,
  type ShardSchedule,
  type WebhookCursor,
  type WebhookStage,
  webhookStages,
} from "./webhook-schedule-records.ts";
export type { WebhookWorkerRow } from "./webhook-tables.ts";
