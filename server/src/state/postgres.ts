import { CompiledQuery, Kysely, PostgresDialect } from "kysely";
import { Pool, types } from "pg";
import type { StateLog } from "./records.ts";
import type { Tables } from "./tables.ts";

const connectionsMax = 10;
const connectTimeoutMs = 5_000;
const statementTimeoutMs = 30_000;

/** An open pool of connections; disposal closes it. */
export interface OpenedPostgres extends AsyncDisposable {
  readonly db: Kysely<Tables>;
}

const int8Oid = 20;

/** int8 arrives as bigint in this pool alone; the parsers that `pg` shares process-wide stay as they are. */
const exactTypes: typeof types = {
  ...types,
  getTypeParser: ((oid: number, format?: "text" | "binary") =>
    oid === int8Oid && format !== "binary"
      ? (text: string) => BigInt(text)
      : types.getTypeParser(oid, format)) as typeof types.getTypeParser,
};

/**
 * A pool of at most 10 connections. It connects when it is first used. A server that is away makes a call fail after
 * 5 s; a statement may run for 30 s. Where the server's default is `synchronous_commit = off` it is turned on, since a
 * commit must be on disk before it is acknowledged; any stronger setting is kept.
 */
export function openPostgres(databaseUrl: string, dependencies: { log: StateLog }): OpenedPostgres {
  const pool = new Pool({
    connectionString: databaseUrl,
    application_name: "sluice",
    max: connectionsMax,
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: statementTimeoutMs,
    // The client's own limit is for a server that has vanished without closing the connection.
    query_timeout: statementTimeoutMs + 5_000,
    idle_in_transaction_session_timeout: 60_000,
    keepAlive: true,
    types: exactTypes,
  });
  // Without listeners the loss of a connection would end the process: the pool speaks for idle ones, a client in use
  // for itself (the statement that it was running fails as well, which is what the caller sees).
  const lost = (error: Error): void =>
    dependencies.log.warn({ error: error.message }, "a connection to PostgreSQL was lost");
  pool.on("error", lost);
  pool.on("connect", (client) => client.on("error", lost));
  const durable =
    "select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'";
  const dialect = new PostgresDialect({
    pool,
    onCreateConnection: async (connection) => {
      await connection.executeQuery(CompiledQuery.raw(durable));
    },
  });
  const db = new Kysely<Tables>({ dialect });
  const dispose = async (): Promise<void> => {
    await db.destroy();
    if (!pool.ended) await pool.end();
  };
  return { db, [Symbol.asyncDispose]: dispose };
}
