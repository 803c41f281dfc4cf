import {
  bundleChainSteps,
  bundleFollowersSteps,
  bundleKeySteps,
  engineLeaseSteps,
  engineNetworkSteps,
  engineSteps,
} from "./engine-migration.ts";
import type { Migration } from "./schema.ts";
import {
  retiredSecretSteps,
  undecidedSteps,
  webhookAskedSteps,
  webhookFactsSteps,
  webhookSteps,
} from "./webhook-migration.ts";

/**
 * The schema's history. A migration that has been released never changes (its checksum is recorded where it was
 * applied); what is to be different comes in the next number.
 */
export const migrations: readonly Migration[] = [
  {
    number: 1,
    name: "accounts, keys, credits, sessions, audit",
    steps: [
      {
        create: "accounts",
        primaryKey: ["id"],
        columns: {
          id: { type: "id" },
          name: { type: "text" },
          created_at: { type: "int" },
          tier_platform: { type: "text" },
          tier_oracle: { type: "text" },
          tier_oracle_v2: { type: "text" },
          requests_per_second: { type: "int", nullable: true },
          credits_monthly: { type: "int", nullable: true },
        },
      },
      { index: "accounts_by_age", on: "accounts", columns: ["created_at", "id"] },
      {
        create: "api_keys",
        primaryKey: ["id"],
        columns: {
          id: { type: "id" },
          account_id: { type: "id", references: "accounts.id" },
          name: { type: "text" },
          hash: { type: "id", unique: true },
          hint: { type: "text" },
          environment: { type: "text" },
          status: { type: "text" },
          restrictions: { type: "text" },
          enhanced: { type: "int" },
          enhanced_requests_per_second: { type: "int", nullable: true },
          permissions: { type: "text" },
          requests_per_second: { type: "int", nullable: true },
          expires_at: { type: "int", nullable: true },
          created_at: { type: "int" },
          last_used_at: { type: "int", nullable: true },
        },
      },
      { index: "api_keys_by_age", on: "api_keys", columns: ["created_at", "id"] },
      { index: "api_keys_by_account", on: "api_keys", columns: ["account_id", "created_at", "id"] },
      {
        create: "credits",
        primaryKey: ["account_id", "month"],
        columns: {
          account_id: { type: "id", references: "accounts.id" },
          month: { type: "id" },
          used: { type: "int" },
        },
      },
      {
        create: "sessions",
        primaryKey: ["hash"],
        columns: {
          hash: { type: "id" },
          account_id: { type: "id", references: "accounts.id" },
          key_id: { type: "id", nullable: true, references: "api_keys.id" },
          created_at: { type: "int" },
          expires_at: { type: "int" },
        },
      },
      { index: "sessions_by_expiry", on: "sessions", columns: ["expires_at"] },
      {
        create: "audit",
        primaryKey: ["id"],
        columns: {
          id: { type: "id" },
          at: { type: "int" },
          actor: { type: "text" },
          action: { type: "text" },
          subject: { type: "id" },
          detail: { type: "text" },
        },
      },
      { index: "audit_by_time", on: "audit", columns: ["at", "id"] },
      { index: "audit_by_subject", on: "audit", columns: ["subject", "at", "id"] },
      { appendOnly: "audit" },
    ],
  },
  {
    number: 2,
    name: "monthly requests of the oracle's subscriptions",
    steps: ["oracle_requests", "oracle_v2_requests"].map((table) => ({
      create: table,
      primaryKey: ["account_id", "month"],
      columns: {
        account_id: { type: "id", references: "accounts.id" },
        month: { type: "id" },
        used: { type: "int" },
      },
    })),
  },
  {
    number: 3,
    name: "what operators order for nodes",
    steps: [
      {
        create: "upstream_orders",
        primaryKey: ["network", "label"],
        columns: {
          network: { type: "id" },
          label: { type: "id" },
          standing: { type: "text" },
          set_at: { type: "int" },
        },
      },
    ],
  },
  {
    number: 4,
    name: "books of what is leased, by who holds it",
    steps: [
      {
        create: "lease_books",
        primaryKey: ["meter", "holder", "number", "account_id", "month"],
        columns: {
          meter: { type: "id" },
          holder: { type: "id" },
          number: { type: "int" },
          account_id: { type: "id", references: "accounts.id" },
          month: { type: "id" },
          leased: { type: "int" },
        },
      },
      { index: "lease_books_by_month", on: "lease_books", columns: ["meter", "month"] },
    ],
  },
  { number: 5, name: "bundles and what the block engine remembers", steps: engineSteps },
  { number: 6, name: "who keeps the block engine's book", steps: engineLeaseSteps },
  {
    number: 7,
    name: "nodes that were added at run time",
    steps: [
      {
        create: "upstream_nodes",
        primaryKey: ["network", "label"],
        columns: {
          network: { type: "id" },
          label: { type: "id" },
          options: { type: "bytes" },
          added_at: { type: "int" },
        },
      },
    ],
  },
  {
    number: 8,
    name: "accounts that are disabled",
    steps: [{ addColumn: "disabled_at", to: "accounts", column: { type: "int", nullable: true } }],
  },
  {
    number: 9,
    name: "permissions that hold everywhere, lists of methods, sessions by account",
    steps: [
      // Until then a key needed no permission to read or to send transactions.
      { appendText: "read", table: "api_keys", list: "permissions" },
      { appendText: "transactions:write", table: "api_keys", list: "permissions" },
      { addColumn: "methods", to: "api_keys", column: { type: "text", nullable: true } },
      { index: "sessions_by_account", on: "sessions", columns: ["account_id", "created_at"] },
    ],
  },
  { number: 10, name: "who follows a bundle, and where it is in its block", steps: bundleFollowersSteps },
  {
    number: 11,
    name: "requests that were served",
    steps: [
      {
        create: "served_requests",
        primaryKey: ["account_id", "month"],
        columns: {
          account_id: { type: "id", references: "accounts.id" },
          month: { type: "id" },
          used: { type: "int" },
        },
      },
    ],
  },
  {
    number: 12,
    name: "the chain of each network",
    steps: [
      {
        create: "chains",
        primaryKey: ["network"],
        columns: {
          network: { type: "id" },
          genesis: { type: "id" },
          first_slot: { type: "int", nullable: true },
          first_blockhash: { type: "id", nullable: true },
          seen_at: { type: "int" },
        },
      },
    ],
  },
  { number: 13, name: "the network of bundles and of what the block engine remembers", steps: engineNetworkSteps },
  {
    number: 14,
    name: "changes of keys and accounts, counted",
    steps: [
      { create: "revisions", primaryKey: ["name"], columns: { name: { type: "id" }, revision: { type: "int" } } },
      {
        create: "key_changes",
        primaryKey: ["revision"],
        columns: { revision: { type: "int" }, kind: { type: "text" }, subject: { type: "id" } },
      },
    ],
  },
  {
    number: 15,
    name: "processes that run on this database",
    steps: [
      {
        create: "processes",
        primaryKey: ["id"],
        columns: {
          id: { type: "id" },
          roles: { type: "text" },
          version: { type: "text" },
          meters: { type: "int" },
          shares_ledger: { type: "int" },
          shares_hot: { type: "int" },
          started_at: { type: "int" },
          beats: { type: "int" },
          expires_at: { type: "int" },
        },
      },
    ],
  },
  {
    number: 16,
    name: "credits that were advanced while the store was away, once they are charged",
    steps: [
      {
        create: "booked_advances",
        primaryKey: ["meter", "holder", "number"],
        columns: {
          meter: { type: "id" },
          holder: { type: "id" },
          number: { type: "int" },
          account_id: { type: "id", references: "accounts.id" },
          month: { type: "id" },
          spent: { type: "int" },
          booked_at: { type: "int" },
        },
      },
      { index: "booked_advances_by_time", on: "booked_advances", columns: ["meter", "booked_at"] },
    ],
  },
  {
    number: 17,
    name: "when a process last leased credits on a book",
    steps: [{ addColumn: "leased_at", to: "lease_books", column: { type: "int", nullable: true } }],
  },
  {
    number: 18,
    name: "the schema and the stores of each process, the network and the chain of each part of a bundle",
    steps: [
      { addColumn: "schema", to: "processes", column: { type: "int", nullable: true } },
      { addColumn: "ledger_id", to: "processes", column: { type: "id", nullable: true } },
      { addColumn: "hot_id", to: "processes", column: { type: "id", nullable: true } },
      ...bundleChainSteps,
    ],
  },
  { number: 19, name: "bundles by id and network", steps: bundleKeySteps },
  {
    number: 20,
    name: "the master keys of each process",
    steps: [{ addColumn: "master_keys", to: "processes", column: { type: "text", nullable: true } }],
  },
  {
    number: 21,
    name: "saved queries of SQL",
    steps: [
      {
        create: "saved_queries",
        primaryKey: ["id"],
        columns: {
          id: { type: "id" },
          account_id: { type: "id", references: "accounts.id" },
          name: { type: "text" },
          query: { type: "text" },
          parameters: { type: "text" },
          created_at: { type: "int" },
          updated_at: { type: "int" },
        },
      },
      { index: "saved_queries_by_account", on: "saved_queries", columns: ["account_id"] },
    ],
  },
  { number: 22, name: "webhooks and what waits for their delivery", steps: webhookSteps },
  { number: 23, name: "facts of attempts until the ledger has them", steps: webhookFactsSteps },
  { number: 24, name: "filters that deliveries are still to meet", steps: undecidedSteps },
  { number: 25, name: "all secrets of webhooks whose time is not over", steps: retiredSecretSteps },
  { number: 26, name: "what owners of webhooks ask for and are told", steps: webhookAskedSteps },
];
