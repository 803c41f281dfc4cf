import type { MigrationStep } from "./schema.ts";

/** The tables of the block engine's first version. */
export const engineSteps: readonly MigrationStep[] = [
  {
    create: "bundles",
    primaryKey: ["id"],
    columns: {
      id: { type: "id" },
      searcher_id: { type: "id" },
      door: { type: "text" },
      signatures: { type: "text" },
      tip: { type: "int" },
      mev_type: { type: "text" },
      target_slot: { type: "int", nullable: true },
      received_at: { type: "int" },
      accepted_slot: { type: "int" },
      last_valid_block_height: { type: "int", nullable: true },
      expires_at: { type: "int" },
      state: { type: "text" },
      reason: { type: "text", nullable: true },
      detail: { type: "text", nullable: true },
      landed_slot: { type: "int", nullable: true },
      landed_blockhash: { type: "text", nullable: true },
      forwarded_times: { type: "int" },
      forwarded_slot: { type: "int", nullable: true },
      forwarded_leader: { type: "text", nullable: true },
      tip_seen: { type: "int", nullable: true },
      compute_units: { type: "int", nullable: true },
      changed_at: { type: "int" },
      ended_at: { type: "int", nullable: true },
    },
  },
  { index: "bundles_by_age", on: "bundles", columns: ["received_at", "id"] },
  { index: "bundles_by_searcher", on: "bundles", columns: ["searcher_id", "received_at", "id"] },
  { index: "bundles_by_end", on: "bundles", columns: ["ended_at", "received_at", "id"] },
  {
    create: "bundle_contents",
    primaryKey: ["bundle_id"],
    columns: {
      bundle_id: { type: "id", references: "bundles.id" },
      transactions: { type: "bytes" },
      sealed: { type: "bytes", nullable: true },
    },
  },
  {
    create: "bundle_outcomes",
    primaryKey: ["bundle_id"],
    columns: {
      bundle_id: { type: "id", references: "bundles.id" },
      ended_at: { type: "int" },
    },
  },
  { index: "bundle_outcomes_by_end", on: "bundle_outcomes", columns: ["ended_at", "bundle_id"] },
  {
    create: "searchers",
    primaryKey: ["pubkey"],
    columns: {
      pubkey: { type: "id" },
      account_id: { type: "id", references: "accounts.id" },
      linked_at: { type: "int" },
    },
  },
  { index: "searchers_by_account", on: "searchers", columns: ["account_id", "pubkey"] },
  {
    create: "searcher_limits",
    primaryKey: ["searcher_id"],
    columns: {
      searcher_id: { type: "id" },
      bundles_per_second: { type: "int" },
      burst: { type: "int" },
      set_at: { type: "int" },
    },
  },
  {
    create: "engine_switches",
    primaryKey: ["name"],
    columns: { name: { type: "id" }, is_on: { type: "int" }, set_at: { type: "int" } },
  },
  {
    create: "reputations",
    primaryKey: ["searcher_id"],
    columns: { searcher_id: { type: "id" }, version: { type: "int" }, value: { type: "text" } },
  },
  {
    create: "encryption_keys",
    primaryKey: ["id"],
    columns: {
      id: { type: "id" },
      created_at: { type: "int" },
      valid_from: { type: "int" },
      valid_until: { type: "int" },
      public_key: { type: "bytes" },
      private_key: { type: "bytes" },
    },
  },
  { index: "encryption_keys_by_end", on: "encryption_keys", columns: ["valid_until"] },
  {
    create: "replays",
    primaryKey: ["enc"],
    columns: { enc: { type: "id" }, holder: { type: "id" }, expires_at: { type: "int" } },
  },
  { index: "replays_by_expiry", on: "replays", columns: ["expires_at"] },
  {
    create: "engine_cursors",
    primaryKey: ["name"],
    columns: { name: { type: "id" }, value: { type: "text" } },
  },
];

/** Who else submitted a bundle, and its place among the bundles of its block. */
export const bundleFollowersSteps: readonly MigrationStep[] = [
  { addColumn: "followers", to: "bundles", column: { type: "text", nullable: true } },
  { addColumn: "landed_index", to: "bundles", column: { type: "int", nullable: true } },
];

/** Of which of several processes holds the pool. */
export const engineLeaseSteps: readonly MigrationStep[] = [
  {
    create: "engine_leases",
    primaryKey: ["name"],
    columns: { name: { type: "id" }, epoch: { type: "int" }, beats: { type: "int" }, holder: { type: "text" } },
  },
];

/**
 * The network of all that speaks of a chain. Leases move to a table of another name, so that a process of an earlier
 * version, which would take any bundle for one of its own network, holds nothing from then on.
 */
export const engineNetworkSteps: readonly MigrationStep[] = [
  { addNetwork: "bundles" },
  { dropIndex: "bundles_by_age" },
  { dropIndex: "bundles_by_searcher" },
  { dropIndex: "bundles_by_end" },
  { index: "bundles_by_network_age", on: "bundles", columns: ["network", "received_at", "id"] },
  { index: "bundles_by_network_searcher", on: "bundles", columns: ["network", "searcher_id", "received_at", "id"] },
  { index: "bundles_by_network_end", on: "bundles", columns: ["network", "ended_at", "received_at", "id"] },
  { addNetwork: "encryption_keys" },
  { addNetwork: "reputations" },
  {
    create: "searcher_reputations",
    primaryKey: ["network", "searcher_id"],
    columns: {
      network: { type: "id" },
      searcher_id: { type: "id" },
      version: { type: "int" },
      value: { type: "text" },
    },
  },
  { copy: "reputations", to: "searcher_reputations", columns: ["network", "searcher_id", "version", "value"] },
  { dropTable: "reputations" },
  { prefixNetwork: "engine_cursors", column: "name" },
  { prefixNetwork: "engine_leases", column: "name" },
  {
    create: "leases",
    primaryKey: ["name"],
    columns: { name: { type: "id" }, epoch: { type: "int" }, beats: { type: "int" }, holder: { type: "text" } },
  },
  { copy: "engine_leases", to: "leases", columns: ["name", "epoch", "beats", "holder"] },
  { dropTable: "engine_leases" },
];

/** Which network and chain a bundle's parts are of; null in rows of versions that did not write it. */
export const bundleChainSteps: readonly MigrationStep[] = [
  { addColumn: "chain", to: "bundles", column: { type: "id", nullable: true } },
  { addColumn: "network", to: "bundle_contents", column: { type: "id", nullable: true } },
  { addColumn: "network", to: "bundle_outcomes", column: { type: "id", nullable: true } },
];

const bundleColumnsKeyed = {
  id: { type: "id" },
  searcher_id: { type: "id" },
  door: { type: "text" },
  signatures: { type: "text" },
  tip: { type: "int" },
  mev_type: { type: "text" },
  target_slot: { type: "int", nullable: true },
  received_at: { type: "int" },
  accepted_slot: { type: "int" },
  last_valid_block_height: { type: "int", nullable: true },
  expires_at: { type: "int" },
  state: { type: "text" },
  reason: { type: "text", nullable: true },
  detail: { type: "text", nullable: true },
  landed_slot: { type: "int", nullable: true },
  landed_blockhash: { type: "text", nullable: true },
  forwarded_times: { type: "int" },
  forwarded_slot: { type: "int", nullable: true },
  forwarded_leader: { type: "text", nullable: true },
  tip_seen: { type: "int", nullable: true },
  compute_units: { type: "int", nullable: true },
  changed_at: { type: "int" },
  ended_at: { type: "int", nullable: true },
  followers: { type: "text", nullable: true },
  landed_index: { type: "int", nullable: true },
  network: { type: "id" },
  chain: { type: "id", nullable: true },
} as const;
const contentColumnsKeyed = {
  bundle_id: { type: "id" },
  transactions: { type: "bytes" },
  sealed: { type: "bytes", nullable: true },
  network: { type: "id" },
} as const;
const outcomeColumnsKeyed = {
  bundle_id: { type: "id" },
  ended_at: { type: "int" },
  network: { type: "id" },
} as const;
const parts = ["bundle_contents", "bundle_outcomes"] as const;
const bundleKey = { columns: ["bundle_id", "network"], targets: ["id", "network"] } as const;

/** SQLite cannot change a key: tables of other names take the rows, and then the names. */
const keyedAnew: readonly MigrationStep[] = [
  { create: "keyed_bundles", primaryKey: ["id", "network"], columns: bundleColumnsKeyed },
  { copy: "bundles", to: "keyed_bundles", columns: Object.keys(bundleColumnsKeyed) },
  {
    create: "keyed_bundle_contents",
    primaryKey: ["bundle_id", "network"],
    columns: contentColumnsKeyed,
    foreignKey: { ...bundleKey, references: "keyed_bundles" },
  },
  { copy: "bundle_contents", to: "keyed_bundle_contents", columns: Object.keys(contentColumnsKeyed) },
  {
    create: "keyed_bundle_outcomes",
    primaryKey: ["bundle_id", "network"],
    columns: outcomeColumnsKeyed,
    foreignKey: { ...bundleKey, references: "keyed_bundles" },
  },
  { copy: "bundle_outcomes", to: "keyed_bundle_outcomes", columns: Object.keys(outcomeColumnsKeyed) },
  ...[...parts, "bundles"].map((table) => ({ dropTable: table })),
  ...["bundles", ...parts].map((table) => ({ rename: `keyed_${table}`, to: table })),
  { index: "bundles_by_network_age", on: "bundles", columns: ["network", "received_at", "id"] },
  { index: "bundles_by_network_searcher", on: "bundles", columns: ["network", "searcher_id", "received_at", "id"] },
  { index: "bundles_by_network_end", on: "bundles", columns: ["network", "ended_at", "received_at", "id"] },
  { index: "bundle_outcomes_by_end", on: "bundle_outcomes", columns: ["ended_at", "bundle_id"] },
];

/** The same bundle may be in two networks: its key is its id and its network. */
export const bundleKeySteps: readonly MigrationStep[] = [
  ...parts.map((table) => ({ fillNetwork: table, from: "bundles", by: "bundle_id" })),
  {
    sqlite: keyedAnew,
    postgres: [
      { rekey: "bundles", primaryKey: ["id", "network"] },
      ...parts.flatMap((table): MigrationStep[] => [
        { require: "network", in: table },
        { rekey: table, primaryKey: ["bundle_id", "network"] },
        { refer: table, ...bundleKey, references: "bundles" },
      ]),
    ],
  },
];
