import type { KeyEnvironment } from "@sluice/contract/api-key";
import type {
  Network,
  OracleTier,
  OracleV2Tier,
  Permission,
  PlatformTier,
  Product,
  SubscriptionTiers,
} from "@sluice/contract/tiers";
import type { Log } from "@sluice/lib";
import type { StoreSchema } from "../observe/index.ts";
import type { ChainStore } from "./chain-records.ts";
import type { EngineState, EngineSwitchStore, SearcherStore } from "./engine-records.ts";
import type { LeaseStore } from "./lease-records.ts";
import type { CreditStore, MeteredProduct } from "./meter.ts";
import type { UpstreamNodeStore, UpstreamOrderStore } from "./order-records.ts";
import type { PageRequest, RecordPage } from "./page.ts";
import type { ProcessStore } from "./process-records.ts";
import type { SavedQueryStore } from "./saved-query-records.ts";
import type { SecretStore } from "./secret-records.ts";
import type { StateSnapshot } from "./snapshot-record.ts";
import type { WebhookDeliveryStore } from "./webhook-delivery-records.ts";
import type { WebhookStore } from "./webhook-records.ts";
import type { ScheduleStore } from "./webhook-schedule-records.ts";

export type { PageRequest, RecordPage } from "./page.ts";

/** All times are Unix milliseconds; amounts are bigint from 0 to 2^63-1. */
export interface AccountRecord {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
  readonly tiers: SubscriptionTiers;
  /** Replaces the platform tier's rate when set. */
  readonly requestsPerSecond: number | null;
  /** Replaces the platform tier's monthly credits when set. */
  readonly creditsMonthly: bigint | null;
  /** Since when none of its keys opens anything; null while they do. */
  readonly disabledAt: number | null;
}

export const keyStatuses = ["active", "disabled", "revoked"] as const;
export type KeyStatus = (typeof keyStatuses)[number];

/** An empty list restricts nothing. */
export interface KeyRestrictions {
  readonly networks: readonly Network[];
  readonly domains: readonly string[];
  /** CIDR, IPv4 or IPv6. */
  readonly ipRanges: readonly string[];
}

/** An API key as it is stored; the key itself is not. */
export interface KeyRecord {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  /** Hex SHA-256 of the whole key; the key itself is nowhere. */
  readonly hash: string;
  /** What a person recognises the key by, for example `sk_dev_AbC…xyz`. */
  readonly hint: string;
  readonly environment: KeyEnvironment;
  readonly status: KeyStatus;
  readonly restrictions: KeyRestrictions;
  readonly enhanced: boolean;
  readonly enhancedRequestsPerSecond: number | null;
  readonly permissions: readonly Permission[];
  /** The JSON-RPC methods that it may call, or beginnings of them with a final `*`; an empty list allows all. */
  readonly methods: readonly string[];
  readonly requestsPerSecond: number | null;
  readonly expiresAt: number | null;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
}

/** The parts of a key that may change; its identity, account and hash never do. */
export type KeyChanges = Partial<
  Pick<
    KeyRecord,
    | "name"
    | "restrictions"
    | "enhanced"
    | "enhancedRequestsPerSecond"
    | "permissions"
    | "methods"
    | "requestsPerSecond"
    | "expiresAt"
  >
>;

/** A session of the console; its token is stored as a hash. */
export interface SessionRecord {
  /** Hex SHA-256 of the token. */
  readonly hash: string;
  readonly accountId: string;
  readonly keyId: string | null;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** One entry of the audit trail. */
export interface AuditRecord {
  readonly id: string;
  readonly at: number;
  /** Who did it: an account, a key, `operator`, `system`. */
  readonly actor: string;
  /** What was done, for example `key.revoked`. */
  readonly action: string;
  /** What it was done to, usually an id. */
  readonly subject: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/**
 * Every method throws SluiceError: CONFLICT, NOT_FOUND, INVALID_INPUT, or an error with a code of `stateErrorCodeOf`.
 */
export interface AccountStore {
  /** A new owner account, on the smallest tiers by default. A requested `id` that is taken is CONFLICT. */
  create(account: {
    readonly id?: string;
    readonly name: string;
    readonly tiers?: Partial<SubscriptionTiers>;
    readonly requestsPerSecond?: number | null;
    readonly creditsMonthly?: bigint | null;
  }): Promise<AccountRecord>;
  get(id: string): Promise<AccountRecord | null>;
  /** Oldest first. */
  list(page: PageRequest): Promise<RecordPage<AccountRecord>>;
  setTier(id: string, product: "platform", tier: PlatformTier): Promise<AccountRecord | null>;
  setTier(id: string, product: "oracle", tier: OracleTier): Promise<AccountRecord | null>;
  setTier(id: string, product: "oracle-v2", tier: OracleV2Tier): Promise<AccountRecord | null>;
  setTier(id: string, product: Product, tier: string): Promise<AccountRecord | null>;
  /** Null takes an override away; an absent member stays as it is. */
  setOverrides(
    id: string,
    overrides: { readonly requestsPerSecond?: number | null; readonly creditsMonthly?: bigint | null },
  ): Promise<AccountRecord | null>;
  rename(id: string, name: string): Promise<AccountRecord | null>;
  /** While it is disabled no key of it opens anything; its records and the status of each key stay. */
  setDisabled(id: string, isDisabled: boolean): Promise<AccountRecord | null>;
}

/** API keys, by id and by hash. Every method throws SluiceError. */
export interface KeyStore {
  /** CONFLICT when the id or the hash is taken, NOT_FOUND when the account is not there. */
  insert(key: KeyRecord): Promise<KeyRecord>;
  /**
   * A key that its asker has not seen before is looked up apart from all others, in few places and for a short time: it
   * may be one of a flood of made-up ones.
   */
  findByHash(
    hash: string,
    asker?: { readonly isKnown: boolean },
  ): Promise<{ key: KeyRecord; account: AccountRecord } | null>;
  get(id: string): Promise<KeyRecord | null>;
  /** Oldest first; of one account when `accountId` is given. */
  list(page: PageRequest & { readonly accountId?: string }): Promise<RecordPage<KeyRecord>>;
  /** Revoked is final: any other status after it is CONFLICT. */
  setStatus(id: string, status: KeyStatus): Promise<KeyRecord | null>;
  update(id: string, changes: KeyChanges): Promise<KeyRecord | null>;
  /** As `get`; inside `State.change` no other process changes the key before it ends. */
  lock(id: string): Promise<KeyRecord | null>;
  /** The active keys with the permission `admin`, expired ones included; inside `State.change` locked as by `lock`. */
  lockAdmins(): Promise<readonly KeyRecord[]>;
  /** Notes when keys were last used; a time only ever moves forward, unknown ids are passed over. At most 10,000. */
  touch(lastUsed: ReadonlyMap<string, number>): Promise<void>;
}

/** What changed of what a key grants: the key itself, or the account of several. */
export type GrantChange =
  | { readonly kind: "key"; readonly hash: string }
  | { readonly kind: "account"; readonly accountId: string };

/**
 * The changes of keys and accounts, counted by the commits that make them: whatever a process keeps of keys in memory
 * is of the last revision that it has seen. Every method throws SluiceError.
 */
export interface KeyChangeStore {
  /** The number of the last change; 0 before the first. One row. */
  revision(): Promise<bigint>;
  /** The present revision and the changes since `seen`; null when these are too many, or not all known any more. */
  since(seen: bigint): Promise<{ readonly revision: bigint; readonly changes: readonly GrantChange[] | null }>;
}

/** Sessions of the console. Every method throws SluiceError. */
export interface SessionStore {
  /** The token is returned once and stored only as its hash. An account has ten at most: the oldest is deleted. */
  create(session: {
    readonly accountId: string;
    readonly keyId: string | null;
    readonly expiresAt: number;
  }): Promise<{ token: string; session: SessionRecord }>;
  /** Null for an unknown or expired one. `hash` is `hashSessionToken(token)`. */
  find(hash: string): Promise<SessionRecord | null>;
  /** Whether there was one. */
  delete(hash: string): Promise<boolean>;
  /** Removes all expired sessions and says how many. */
  deleteExpired(): Promise<number>;
}

/** Append-only: the database itself refuses to change or delete a row. */
export interface AuditStore {
  append(entry: {
    readonly actor: string;
    readonly action: string;
    readonly subject: string;
    readonly detail?: Readonly<Record<string, unknown>>;
  }): Promise<AuditRecord>;
  /** Newest first; of one subject when given. */
  list(page: PageRequest & { readonly subject?: string }): Promise<RecordPage<AuditRecord>>;
}

/** The stores that an administrator's change may take part in. */
export interface ChangingStores {
  readonly accounts: AccountStore;
  readonly keys: KeyStore;
  readonly upstreamOrders: UpstreamOrderStore;
  readonly upstreamNodes: UpstreamNodeStore;
  readonly searchers: SearcherStore;
  readonly engineSwitches: EngineSwitchStore;
  readonly audit: Pick<AuditStore, "append">;
}

/** A migration, and when it was applied (Unix milliseconds); null while it is pending. */
export interface MigrationStatus {
  readonly number: number;
  readonly name: string;
  /** Unix milliseconds; null when it is still to be applied. */
  readonly appliedAt: number | null;
  /** Whether versions before it cannot go on after it, so that it may wait until none of them runs. */
  readonly contracts: boolean;
}

/** The database behind the state store. */
export type StateDriver = "sqlite" | "postgres";

/** Records that change. A method's promise resolves only when what it wrote is on disk. */
export interface State extends AsyncDisposable {
  readonly driver: StateDriver;
  readonly accounts: AccountStore;
  readonly keys: KeyStore;
  readonly keyChanges: KeyChangeStore;
  readonly credits: CreditStore;
  /** Requests a month of the products that are sold by the request, leased and counted as credits are. */
  readonly requests: Readonly<Record<MeteredProduct, CreditStore>>;
  /** Requests that were served, whether the ledger has their records or not. */
  readonly served: CreditStore;
  readonly sessions: SessionStore;
  readonly savedQueries: SavedQueryStore;
  readonly webhooks: WebhookStore;
  readonly webhookDeliveries: WebhookDeliveryStore;
  readonly webhookSchedule: ScheduleStore;
  readonly audit: AuditStore;
  readonly upstreamOrders: UpstreamOrderStore;
  readonly upstreamNodes: UpstreamNodeStore;
  readonly chains: ChainStore;
  readonly secrets: SecretStore;
  readonly processes: ProcessStore;
  /** What one process of several does alone, for jobs of any room. */
  readonly leases: LeaseStore;
  readonly engine: EngineState;
  /**
   * Several writes as one: all of them are on disk when it resolves, or none is. `work` may run again from its
   * beginning when the database asks for it, so it touches nothing but the stores it is handed.
   */
  change<T>(work: (stores: ChangingStores) => Promise<T>): Promise<T>;
  /**
   * Runs `work` while no other process on this database runs what has the same name; waits for its turn, for up to ten
   * minutes. For what processes do to another store.
   *
   * @throws {StateError} OVERLOADED when its turn does not come; the turn is over where the connection is lost
   */
  inTurn(name: string, work: () => Promise<void>): Promise<void>;
  /**
   * Calls `work` with the content at one moment; the store goes on meanwhile. `scratch` is a file that does not exist,
   * beside which there is room for a second copy of an embedded database; it is removed.
   */
  snapshot<T>(scratch: string, work: (snapshot: StateSnapshot) => Promise<T>): Promise<T>;
  /** Every migration that this version knows, and when it was applied. */
  migrations(): Promise<readonly MigrationStatus[]>;
  /** The same in figures, also where a later version has migrated the database. */
  schema(): Promise<StoreSchema>;
  /**
   * Applies the migrations that wait for versions before this one to be gone, and gives their numbers.
   *
   * @throws {SluiceError} CONFLICT while a process of such a version is registered
   */
  contract(): Promise<readonly number[]>;
  /** Whether the database answers now. */
  ping(): Promise<boolean>;
  /** Resolves when the database answers, within seconds; rejects with the reason why it does not. */
  reach(): Promise<void>;
}

/** The part of a log that this room writes to. */
export type StateLog = Pick<Log, "info" | "warn">;
