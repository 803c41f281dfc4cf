import type { Clock } from "@sluice/lib";
import { CompiledQuery, Kysely, PostgresDialect } from "kysely";
import { Pool, types } from "pg";
import type { StateEvents } from "./events.ts";
import { answerTimeoutMs, type DatabasePools, MeasuredPool, type PoolName, poolNames, usualPools } from "./pools.ts";
import type { StateLog } from "./records.ts";
import type { Db, Tables } from "./tables.ts";

/** The open pools of connections; disposal closes them. */
export interface OpenedPostgres extends AsyncDisposable {
  /** What has no pool of its own. */
  readonly db: Db;
  readonly pools: Readonly<Record<PoolName, Db>>;
}

export interface PostgresDependencies {
  readonly clock: Pick<Clock, "monotonic">;
  readonly log: StateLog;
  readonly events?: StateEvents;
}

const int8Oid = 20;

/** int8 arrives as bigint in these pools alone; the parsers that `pg` shares process-wide stay as they are. */
const exactTypes: typeof types = {
  ...types,
  getTypeParser: ((oid: number, format?: "text" | "binary") =>
    oid === int8Oid && format !== "binary"
      ? (text: string) => BigInt(text)
      : types.getTypeParser(oid, format)) as typeof types.getTypeParser,
};

/**
 * The pools of connections to a server. Each connects when it is first used, and closes connections that it does not
 * use. Where the server's default is `synchronous_commit = off` it is turned on, since a commit must be on disk before
 * it is acknowledged; any stronger setting is kept.
 */
export function openPostgres(
  databaseUrl: string,
  dependencies: PostgresDependencies,
  options: DatabasePools = usualPools,
): OpenedPostgres {
  const lost = lossReporter(dependencies);
  const open = (name: PoolName): Kysely<Tables> => openPool({ databaseUrl, name, options, lost }, dependencies);
  const pools: Record<PoolName, Kysely<Tables>> = {
    general: open("general"),
    engine: open("engine"),
    leases: open("leases"),
    keys: open("keys"),
    unknown_keys: open("unknown_keys"),
  };
  const dispose = async (): Promise<void> => {
    await Promise.all(poolNames.map((name) => pools[name].destroy()));
  };
  return { db: pools.general, pools, [Symbol.asyncDispose]: dispose };
}

interface OnePool {
  readonly databaseUrl: string;
  readonly name: PoolName;
  readonly options: DatabasePools;
  readonly lost: (name: PoolName, error: Error) => void;
}

/** Losses are told in the log at most this often: a server that restarts ends the connections of all pools at once. */
const tellEveryMs = 10_000;

function lossReporter({ clock, log, events }: PostgresDependencies): OnePool["lost"] {
  let toldAtMs = Number.NEGATIVE_INFINITY;
  return (pool, error) => {
    events?.connectionLost(pool);
    if (clock.monotonic() - toldAtMs < tellEveryMs) return;
    toldAtMs = clock.monotonic();
    log.warn({ pool, error: error.message }, "a connection to PostgreSQL was lost");
  };
}

function openPool(
  { databaseUrl, name, options, lost }: OnePool,
  { clock, events }: PostgresDependencies,
): Kysely<Tables> {
  const limits = options[name];
  const pool = new Pool({
    connectionString: databaseUrl,
    application_name: name === "general" ? "sluice" : `sluice ${name}`,
    max: limits.connectionsMax,
    connectionTimeoutMillis: limits.connectTimeoutMs,
    statement_timeout: limits.statementTimeoutMs,
    query_timeout: answerTimeoutMs(limits),
    idle_in_transaction_session_timeout: 60_000,
    keepAlive: true,
    types: exactTypes,
  });
  // Without listeners the loss of a connection would end the process: the pool speaks for idle ones, a client in use
  // for itself (the statement that it was running fails as well, which is what the caller sees).
  const lose = (error: Error): void => lost(name, error);
  pool.on("error", lose);
  pool.on("connect", (client) => client.on("error", lose));
  const durable =
    "select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'";
  const dialect = new PostgresDialect({
    pool: new MeasuredPool({ name, pool }, { clock, events: events ?? null }),
    onCreateConnection: async (connection) => {
      await connection.executeQuery(CompiledQuery.raw(durable));
    },
  });
  return new Kysely<Tables>({ dialect });
}
