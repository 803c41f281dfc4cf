import type { Kysely, Transaction } from "kysely";
import type { EngineTables } from "./engine-tables.ts";
import type { LeaseRecord } from "./lease-records.ts";
import type { WebhookTables } from "./webhook-tables.ts";

/** Rows as both drivers give them: every integer is a bigint, every truth a 0n or 1n, every list JSON text. */
export interface AccountRow {
  id: string;
  name: string;
  created_at: bigint;
  tier_platform: string;
  tier_oracle: string;
  tier_oracle_v2: string;
  requests_per_second: bigint | null;
  credits_monthly: bigint | null;
  disabled_at: bigint | null;
}

export interface KeyRow {
  id: string;
  account_id: string;
  name: string;
  hash: string;
  hint: string;
  environment: string;
  status: string;
  restrictions: string;
  enhanced: bigint;
  enhanced_requests_per_second: bigint | null;
  permissions: string;
  /** Null where the key may call all. */
  methods: string | null;
  requests_per_second: bigint | null;
  expires_at: bigint | null;
  created_at: bigint;
  last_used_at: bigint | null;
}

export interface RevisionRow {
  name: string;
  revision: bigint;
}

export interface KeyChangeRow {
  revision: bigint;
  kind: "key" | "account";
  subject: string;
}

export interface CreditRow {
  account_id: string;
  month: string;
  used: bigint;
}

export interface LeaseBookRow {
  meter: MeterTable;
  holder: string;
  number: bigint;
  account_id: string;
  month: string;
  leased: bigint;
  /** Null for what an earlier version has leased. */
  leased_at: bigint | null;
}

export interface ProcessRow {
  id: string;
  /** With commas between. */
  roles: string;
  version: string;
  meters: bigint;
  shares_ledger: bigint;
  shares_hot: bigint;
  /** Null for a version that did not write it. */
  schema: bigint | null;
  /** Null where they are not shared, or not known. */
  ledger_id: string | null;
  hot_id: string | null;
  /** Ids with commas between; null for a version that did not write it. */
  master_keys: string | null;
  started_at: bigint;
  beats: bigint;
  expires_at: bigint;
}

export interface BookedAdvanceRow {
  meter: MeterTable;
  holder: string;
  number: bigint;
  account_id: string;
  month: string;
  spent: bigint;
  booked_at: bigint;
}

export interface SessionRow {
  hash: string;
  account_id: string;
  key_id: string | null;
  created_at: bigint;
  expires_at: bigint;
}

export interface SavedQueryRow {
  id: string;
  account_id: string;
  name: string;
  query: string;
  parameters: string;
  created_at: bigint;
  updated_at: bigint;
}

export interface AuditRow {
  id: string;
  at: bigint;
  actor: string;
  action: string;
  subject: string;
  detail: string;
}

export interface UpstreamOrderRow {
  network: string;
  label: string;
  standing: string;
  set_at: bigint;
}

export interface UpstreamNodeRow {
  network: string;
  label: string;
  options: Uint8Array;
  added_at: bigint;
}

export interface ChainRow {
  network: string;
  genesis: string;
  first_slot: bigint | null;
  first_blockhash: string | null;
  seen_at: bigint;
}

export interface MigrationRow {
  number: bigint;
  name: string;
  checksum: string;
  applied_at: bigint;
}

/** Every table with the type of its rows, for Kysely. */
export interface Tables extends EngineTables, WebhookTables {
  accounts: AccountRow;
  api_keys: KeyRow;
  revisions: RevisionRow;
  key_changes: KeyChangeRow;
  credits: CreditRow;
  oracle_requests: CreditRow;
  oracle_v2_requests: CreditRow;
  served_requests: CreditRow;
  lease_books: LeaseBookRow;
  processes: ProcessRow;
  leases: LeaseRecord;
  booked_advances: BookedAdvanceRow;
  sessions: SessionRow;
  saved_queries: SavedQueryRow;
  audit: AuditRow;
  upstream_orders: UpstreamOrderRow;
  upstream_nodes: UpstreamNodeRow;
  chains: ChainRow;
  sluice_migrations: MigrationRow;
  sluice_expansions: MigrationRow;
}

/** What is counted by account and month, a table for each meter: all have the rows of `credits`. */
export type MeterTable = "credits" | "oracle_requests" | "oracle_v2_requests" | "served_requests";

/** The database, outside a transaction. */
export type Db = Kysely<Tables>;
/** The database within a transaction. */
export type Tx = Transaction<Tables>;
