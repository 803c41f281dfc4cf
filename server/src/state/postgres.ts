import type { Clock } from "@sluice/lib";
import { Kysely, PostgresDialect } from "kysely";
import { types } from "pg";
import { type PostgresAddress, parsePostgresUrl } from "../config/index.ts";
import type { StateEvents } from "./events.ts";
import { answerTimeoutMs, type DatabasePools, MeasuredPool, type PoolName, poolNames, usualPools } from "./pools.ts";
import { PostgresWays } from "./postgres-hosts.ts";
import { PostgresPool } from "./postgres-pool.ts";
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
 * The pools of connections, all to the first of the address's servers that serves. Each connects when it is first used,
 * and closes connections that it does not use.
 *
 * @throws {Error} for a text that is no address of PostgreSQL, or whose certificates cannot be read
 */
export function openPostgres(
  databaseUrl: string,
  dependencies: PostgresDependencies,
  options: DatabasePools = usualPools,
): OpenedPostgres {
  const lost = lossReporter(dependencies);
  const address = parsePostgresUrl(databaseUrl);
  const ways = new PostgresWays(address);
  const opened: MeasuredPool[] = [];
  const open = (name: PoolName): Kysely<Tables> => {
    const pool = openPool({ address, ways, name, options, lost }, dependencies);
    opened.push(pool);
    return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  };
  const pools: Record<PoolName, Kysely<Tables>> = {
    general: open("general"),
    engine: open("engine"),
    leases: open("leases"),
    keys: open("keys"),
    unknown_keys: open("unknown_keys"),
  };
  const dispose = async (): Promise<void> => {
    await Promise.all(poolNames.map((name) => pools[name].destroy()));
    // Kysely ends no pool that it never used, and would open that one at its first use after this.
    await Promise.all(opened.map((pool) => pool.end()));
  };
  return { db: pools.general, pools, [Symbol.asyncDispose]: dispose };
}

interface OnePool {
  readonly address: PostgresAddress;
  readonly ways: PostgresWays;
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

const idleInTransactionMs = 60_000;

function openPool(
  { address, ways, name, options, lost }: OnePool,
  { clock, log, events }: PostgresDependencies,
): MeasuredPool {
  const limits = options[name];
  const pool = new PostgresPool(
    {
      ways,
      mustWrite: address.target !== "any",
      label: name === "general" ? "" : ` ${name}`,
      connectionsMax: limits.connectionsMax,
      times: {
        connectMs: Math.min(limits.connectTimeoutMs, address.connectTimeoutMs ?? Number.POSITIVE_INFINITY),
        statementMs: limits.statementTimeoutMs,
        answerMs: answerTimeoutMs(limits),
        idleInTransactionMs,
      },
      types: exactTypes,
    },
    { log, lost: (error) => lost(name, error) },
  );
  return new MeasuredPool({ name, pool }, { clock, events: events ?? null });
}
