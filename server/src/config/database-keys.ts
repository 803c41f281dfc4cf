import { always } from "./key-definition.ts";
import { integer } from "./parsers.ts";

const connections = integer(1, 200);

/** The pools of connections to PostgreSQL, by the names that operators set. */
export const databaseKeys = {
  DATABASE_POOL: always(
    "Stores",
    "stores.database_pool",
    "6",
    connections,
    "Connections to PostgreSQL for all that has none of its own. The sum of the five pools, times the processes, has to stay below `max_connections`.",
  ),
  DATABASE_POOL_ENGINE: always(
    "Stores",
    "stores.database_pool_engine",
    "3",
    connections,
    "Connections for what a running block engine writes; another process opens none of them.",
  ),
  DATABASE_POOL_LEASES: always(
    "Stores",
    "stores.database_pool_leases",
    "2",
    connections,
    "Connections for leases, by which one process of several runs the block engine.",
  ),
  DATABASE_POOL_KEYS: always(
    "Stores",
    "stores.database_pool_keys",
    "2",
    connections,
    "Connections for looking up keys that this process has seen before.",
  ),
  DATABASE_POOL_UNKNOWN_KEYS: always(
    "Stores",
    "stores.database_pool_unknown_keys",
    "3",
    connections,
    "Connections for looking up keys that it has not seen, which anybody may make up.",
  ),
  LEASE_MS: always(
    "Stores",
    "stores.lease_ms",
    "2500",
    integer(1_000, 60_000),
    "Milliseconds after which another process takes over what one that went silent did alone: the block engine, the recording of prices. The same in all processes, and more than `DATABASE_LOOKUP_TIMEOUT_MS`.",
  ),
  DATABASE_CONNECT_TIMEOUT_MS: always(
    "Stores",
    "stores.database_connect_timeout_ms",
    "5000",
    integer(100, 60_000),
    "Milliseconds that a statement waits for a connection; leases and look-ups of keys wait no longer than `DATABASE_LOOKUP_TIMEOUT_MS`.",
  ),
  DATABASE_STATEMENT_TIMEOUT_MS: always(
    "Stores",
    "stores.database_statement_timeout_ms",
    "30000",
    integer(1_000, 600_000),
    "Milliseconds after which PostgreSQL ends a statement.",
  ),
  DATABASE_LOOKUP_TIMEOUT_MS: always(
    "Stores",
    "stores.database_lookup_timeout_ms",
    "2000",
    integer(100, 3_000),
    "The same for leases and for look-ups of keys.",
  ),
} as const;
