import type { MigrationStep } from "./schema.ts";

/**
 * Webhooks, where their scheduler and their workers are, and what waits for delivery. `webhook_deliveries` has one
 * index, whose order is that of a queue: `due_at` is 0 for what was never tried, in the order of the chain then; the
 * time of the next attempt for what is tried again; and null for what is exhausted.
 */
export const webhookSteps: readonly MigrationStep[] = [
  {
    create: "webhooks",
    primaryKey: ["id"],
    columns: {
      id: { type: "id" },
      account_id: { type: "id", references: "accounts.id" },
      network: { type: "id" },
      url: { type: "text" },
      events: { type: "text" },
      filters: { type: "text" },
      description: { type: "text" },
      retry_policy: { type: "text" },
      fifo: { type: "int" },
      status: { type: "text" },
      status_reason: { type: "text", nullable: true },
      status_at: { type: "int" },
      secret: { type: "bytes" },
      next_secret: { type: "bytes", nullable: true },
      overlap_ends_at: { type: "int", nullable: true },
      created_at: { type: "int" },
      updated_at: { type: "int" },
      last_success_at: { type: "int", nullable: true },
      failing_since: { type: "int", nullable: true },
    },
  },
  { index: "webhooks_by_account", on: "webhooks", columns: ["account_id", "created_at", "id"] },
  { index: "webhooks_by_network", on: "webhooks", columns: ["network", "id"] },
  {
    create: "webhook_revisions",
    primaryKey: ["network"],
    columns: { network: { type: "id" }, revision: { type: "int" } },
  },
  {
    create: "webhook_changes",
    primaryKey: ["network", "revision"],
    columns: { network: { type: "id" }, revision: { type: "int" }, webhook_id: { type: "id" } },
  },
  {
    create: "webhook_cursors",
    primaryKey: ["network", "shard", "stage"],
    columns: {
      network: { type: "id" },
      shard: { type: "int" },
      stage: { type: "id" },
      cursor: { type: "text" },
      epoch: { type: "int" },
    },
  },
  {
    create: "webhook_queues",
    primaryKey: ["webhook_id"],
    columns: {
      webhook_id: { type: "id" },
      holder: { type: "id" },
      epoch: { type: "int" },
      waiting: { type: "int" },
      parked_at: { type: "int", nullable: true },
      behind_confirmed: { type: "text", nullable: true },
      behind_finalized: { type: "text", nullable: true },
      behind_since: { type: "int", nullable: true },
    },
  },
  { index: "webhook_queues_by_holder", on: "webhook_queues", columns: ["holder"] },
  {
    create: "webhook_workers",
    primaryKey: ["worker"],
    columns: { worker: { type: "id" }, beats: { type: "int" } },
  },
  {
    create: "webhook_deliveries",
    primaryKey: ["delivery_id"],
    columns: {
      delivery_id: { type: "id" },
      webhook_id: { type: "id" },
      event_id: { type: "id" },
      event: { type: "id" },
      slot: { type: "int" },
      blockhash: { type: "id" },
      ordinal: { type: "int" },
      tx_index: { type: "int", nullable: true },
      account: { type: "id", nullable: true },
      status: { type: "id" },
      attempts: { type: "int" },
      created_at: { type: "int" },
      due_at: { type: "int", nullable: true },
      last_attempt_at: { type: "int", nullable: true },
      last_status_code: { type: "int", nullable: true },
      last_error: { type: "text", nullable: true },
      detail: { type: "text", nullable: true },
    },
  },
  {
    index: "webhook_deliveries_by_turn",
    on: "webhook_deliveries",
    columns: ["webhook_id", "due_at", "slot", "ordinal"],
  },
  {
    create: "webhook_notices",
    primaryKey: ["id"],
    columns: {
      id: { type: "id" },
      webhook_id: { type: "id" },
      at: { type: "int" },
      code: { type: "id" },
      detail: { type: "text" },
    },
  },
  { index: "webhook_notices_by_webhook", on: "webhook_notices", columns: ["webhook_id", "at", "id"] },
];

/** Facts of attempts, committed with what the attempts led to, until the ledger has them. */
export const webhookFactsSteps: readonly MigrationStep[] = [
  {
    create: "webhook_facts",
    primaryKey: ["id"],
    columns: {
      id: { type: "id" },
      worker: { type: "id" },
      count: { type: "int" },
      length: { type: "int" },
      facts: { type: "text" },
    },
  },
  { index: "webhook_facts_by_worker", on: "webhook_facts", columns: ["worker", "id"] },
];

/** Secrets from before the last two, as long as they sign along. */
export const retiredSecretSteps: readonly MigrationStep[] = [
  { addColumn: "retired_secrets", to: "webhooks", column: { type: "text", nullable: true } },
];

/** What of a webhook's filters a delivery is still to meet, as they were when it was made. */
export const undecidedSteps: readonly MigrationStep[] = [
  { addColumn: "undecided", to: "webhook_deliveries", column: { type: "text", nullable: true } },
];

/** What workers have to see at once of what owners ask for, and what owners were told last. */
export const webhookAskedSteps: readonly MigrationStep[] = [
  { addColumn: "asked", to: "webhook_queues", column: { type: "int", nullable: true } },
  { addColumn: "recoverable_told_at", to: "webhooks", column: { type: "int", nullable: true } },
];
