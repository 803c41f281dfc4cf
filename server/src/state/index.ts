/**
 * state: records that change (owner accounts, keys, credits, sessions, bundles, the audit trail), on SQLite in the data
 * directory or on PostgreSQL. Config says which; compose opens it. It feeds keys, credits, admin and every room that
 * has to remember something. Acknowledged writes are on disk. No other room depends on the driver.
 */

export type {
  AcceptResult,
  BundleIngress,
  BundleRecord,
  BundleStanding,
  BundleStep,
  BundleStore,
  NewBundle,
  OpenedContent,
  StepResult,
} from "./bundle-records.ts";
export { requireUnusedState } from "./directory-lock.ts";
export {
  type CursorStore,
  type EncryptionKeyRecord,
  type EncryptionKeyStore,
  type EngineState,
  type EngineStores,
  type EngineSwitch,
  type EngineSwitchRecord,
  type EngineSwitchStore,
  engineSwitches,
  type LeaseRecord,
  type LeaseStore,
  type ReplayStore,
  type ReputationRecord,
  type ReputationStore,
  type SearcherLimit,
  type SearcherLink,
  type SearcherStore,
} from "./engine-records.ts";
export { StateError, type StateErrorCode, stateErrorCodeOf } from "./errors.ts";
export { FileLock } from "./file-lock.ts";
export type { CreditStore, LeaseBook, MeteredProduct, OpenLeaseBook } from "./meter.ts";
export { openState, type StateDependencies, type StateOptions } from "./open.ts";
export type {
  UpstreamNodeRecord,
  UpstreamNodeStore,
  UpstreamOrder,
  UpstreamOrderRecord,
  UpstreamOrderStore,
} from "./order-records.ts";
export {
  type AccountRecord,
  type AccountStore,
  type AuditRecord,
  type AuditStore,
  type ChangingStores,
  type KeyChanges,
  type KeyRecord,
  type KeyRestrictions,
  type KeyStatus,
  type KeyStore,
  keyStatuses,
  type MigrationStatus,
  type Page,
  type PageRequest,
  type SessionRecord,
  type SessionStore,
  type State,
  type StateDriver,
  type StateLog,
} from "./records.ts";
export { hashSessionToken } from "./sessions.ts";
export { int64Max } from "./values.ts";
