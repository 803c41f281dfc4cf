import { SluiceError } from "@sluice/contract/errors";
import type { Network } from "@sluice/contract/tiers";
import type { Clock, Random } from "@sluice/lib";
import { sql } from "kysely";
import { Accounts } from "./accounts.ts";
import { Audit } from "./audit.ts";
import { Chains } from "./chains.ts";
import { Connection } from "./connection.ts";
import { Credits } from "./credits.ts";
import { Searchers } from "./engine/searchers.ts";
import { engineState } from "./engine/stores.ts";
import { EngineSwitches } from "./engine/switches.ts";
import { codeOfDriverError, newStateError, StateError } from "./errors.ts";
import type { StateEvents } from "./events.ts";
import { KeyChangeLog } from "./key-changes.ts";
import { Keys } from "./keys.ts";
import { Leases } from "./leases.ts";
import { applyMigrations, readMigrationStatus, readSchema } from "./migrate.ts";
import { migrations } from "./migrations.ts";
import type { DatabasePools, PoolName } from "./pools.ts";
import { openPostgres } from "./postgres.ts";
import { Processes, processesBefore } from "./processes.ts";
import type { State, StateDriver, StateLog } from "./records.ts";
import { SavedQueries } from "./saved-queries.ts";
import { Secrets } from "./secrets.ts";
import { Sessions } from "./sessions.ts";
import { withSnapshot } from "./snapshot.ts";
import { hasSqlite, openSqlite } from "./sqlite.ts";
import type { Db, Tx } from "./tables.ts";
import { runInTurn } from "./turns.ts";
import { UpstreamNodes } from "./upstream-nodes.ts";
import { UpstreamOrders } from "./upstream-orders.ts";
import { WebhookDeliveries } from "./webhooks/deliveries.ts";
import { Schedules } from "./webhooks/schedule.ts";
import { Webhooks } from "./webhooks/webhooks.ts";

export interface StateOptions {
  /** The data directory; used, and held against other processes, only without `databaseUrl`. */
  readonly directory: string;
  /** `postgres://user:password@host:port/database`; null is SQLite in the directory. */
  readonly databaseUrl: string | null;
  /** Sizes and times of the pools of connections to PostgreSQL; the usual ones unless given. */
  readonly pools?: DatabasePools;
  /** Whether missing migrations are applied. When false, a database that lacks some is refused (SCHEMA_OLDER). */
  readonly migrate?: boolean;
  /** Whether a database without any migration is made. When false, it is refused (ABSENT) and nothing is changed. */
  readonly create?: boolean;
  /** The network that rows of the engine speak of which an earlier version wrote; mainnet when absent. */
  readonly network?: Network;
  /** Folders that are made after the database: where they hold something, an empty database is a lost one. */
  readonly beside?: readonly string[];
}

export interface StateDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: StateLog;
  readonly events?: StateEvents;
}

interface Opened extends AsyncDisposable {
  readonly db: Db;
  readonly driver: StateDriver;
  /** SQLite has one connection for everything. */
  readonly pools?: Readonly<Record<PoolName, Db>>;
}

/**
 * Opens the state store. Throws StateError with a sentence for the operator: ABSENT, LOCKED (another process has the
 * directory), SCHEMA_NEWER, SCHEMA_CHANGED, SCHEMA_OLDER, CORRUPT, READ_ONLY, DISK_FULL, UNAVAILABLE.
 */
export async function openState(options: StateOptions, dependencies: StateDependencies): Promise<State> {
  const { create = true, databaseUrl, directory } = options;
  if (!create && databaseUrl === null && !hasSqlite(directory)) throw newStateError("ABSENT");
  const opened = await openDriver(options, dependencies);
  try {
    await settleSchema(opened, { ...options, create }, dependencies);
    return createState(opened, dependencies);
  } catch (error) {
    await opened[Symbol.asyncDispose]();
    throw toOpenError(opened.driver, error);
  }
}

async function openDriver(options: StateOptions, dependencies: StateDependencies): Promise<Opened> {
  if (options.databaseUrl === null)
    return { ...(await openSqlite(options.directory, options.beside)), driver: "sqlite" };
  return { ...openPostgres(options.databaseUrl, dependencies, options.pools), driver: "postgres" };
}

async function settleSchema(
  opened: Opened,
  { migrate = true, create = true, network }: Pick<StateOptions, "migrate" | "create" | "network">,
  dependencies: StateDependencies,
): Promise<void> {
  const status = await readMigrationStatus(opened, migrations);
  const missing = status.filter(({ appliedAt }) => appliedAt === null);
  const isEmpty = missing.length === status.length;
  const waits = opened.driver === "postgres" && !isEmpty;
  const pending = missing.filter(({ contracts }) => !contracts || !waits).map(({ number }) => number);
  if (pending.length === 0) return;
  if (!create && isEmpty) throw newStateError("ABSENT");
  if (!migrate) {
    throw new StateError(
      "SCHEMA_OLDER",
      `The state database lacks migration ${pending.join(", ")}: run sluice migrate.`,
    );
  }
  const { clock } = dependencies;
  const applied = await applyMigrations(opened, migrations, network === undefined ? { clock } : { clock, network });
  dependencies.log.info({ driver: opened.driver, applied }, "applied migrations to the state database");
}

/** Builds the stores over an open, migrated database, and closes it when disposed of. */
export function createState(opened: Opened, dependencies: { clock: Clock; random: Random }): State {
  const connection = new Connection(opened, dependencies);
  const connectionOf = (name: PoolName): Connection =>
    opened.pools === undefined ? connection : new Connection({ ...opened, db: opened.pools[name] }, dependencies);
  const [engine, leases] = [connectionOf("engine"), connectionOf("leases")];
  const lookups = { known: connectionOf("keys"), unknown: connectionOf("unknown_keys") };
  // Over connections whose statements end soon, and apart from a pool that may be busy with slow ones.
  const reach = (): Promise<void> => lookups.known.run(async (db) => void (await sql`select 1`.execute(db)));
  let closing: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    for (const each of [connection, engine, leases]) await each[Symbol.asyncDispose]();
    await opened[Symbol.asyncDispose]();
  };
  return {
    driver: opened.driver,
    accounts: new Accounts(connection),
    keys: new Keys(connection, lookups),
    keyChanges: new KeyChangeLog(lookups.known),
    credits: new Credits(connection, "credits"),
    requests: {
      oracle: new Credits(connection, "oracle_requests"),
      "oracle-v2": new Credits(connection, "oracle_v2_requests"),
    },
    served: new Credits(connection, "served_requests"),
    sessions: new Sessions(connection),
    savedQueries: new SavedQueries(connection),
    webhooks: new Webhooks(connection),
    webhookDeliveries: new WebhookDeliveries(connection),
    webhookSchedule: new Schedules(connection),
    audit: new Audit(connection),
    upstreamOrders: new UpstreamOrders(connection),
    upstreamNodes: new UpstreamNodes(connection),
    chains: new Chains(connection),
    secrets: new Secrets(connection),
    processes: new Processes(leases, newestMigration),
    leases: new Leases(leases),
    engine: engineState({ general: connection, engine }),
    change: (work) =>
      connection.transaction((tx) => {
        const within = connection.within(tx);
        return work({
          accounts: new Accounts(within),
          keys: new Keys(within),
          upstreamOrders: new UpstreamOrders(within),
          upstreamNodes: new UpstreamNodes(within),
          searchers: new Searchers(within),
          engineSwitches: new EngineSwitches(within),
          audit: new Audit(within),
        });
      }),
    inTurn: (name, work) => (opened.driver === "sqlite" ? work() : runInTurn(opened.db, { name, work }, dependencies)),
    snapshot: (scratch, work) => withSnapshot(opened, scratch, work),
    migrations: () => readMigrationStatus(opened, migrations),
    schema: () => readSchema(opened, migrations),
    contract: () => contract(opened, dependencies),
    reach,
    ping: () =>
      reach().then(
        () => true,
        () => false,
      ),
    [Symbol.asyncDispose]: () => {
      closing ??= close();
      return closing;
    },
  };
}

const newestMigration = Math.max(...migrations.map(({ number }) => number));

/** Those that wait, once nobody is registered who does not know them. */
async function contract(
  opened: Pick<Opened, "db" | "driver">,
  { clock }: { readonly clock: Clock },
): Promise<readonly number[]> {
  const waiting = (await readMigrationStatus(opened, migrations)).filter(({ appliedAt }) => appliedAt === null);
  const first = waiting[0];
  if (first === undefined || opened.driver === "sqlite") return [];
  const check = async (tx: Tx): Promise<void> => {
    const [before, ...more] = await processesBefore(tx, first.number);
    if (before === undefined) return;
    const which = `version ${before.version} (roles ${before.roles.join(", ")}${more.length > 0 ? `, and ${more.length} more` : ""})`;
    throw new SluiceError("CONFLICT", {
      message: `A process of an earlier version runs on this database and does not know migration ${first.number}: ${which}. Stop or upgrade it first; one that was killed is forgotten after some seconds.`,
    });
  };
  return await applyMigrations(opened, migrations, { clock, contracting: true, check });
}

/** PgBouncer takes no settings of a session with the connection. */
const poolerRemedy =
  "A pooler takes no `options` in DATABASE_URL: set them for the user, as in `alter role sluice set search_path = sluice`.";

function toOpenError(driver: StateDriver, error: unknown): StateError {
  if (error instanceof StateError) return error;
  const said = error instanceof Error ? error.message : String(error);
  const reason = said.includes("unsupported startup parameter") ? `${said}. ${poolerRemedy}` : said;
  const name = driver === "sqlite" ? "SQLite" : "PostgreSQL";
  return new StateError(codeOfDriverError(error), `The state database on ${name} cannot be opened: ${reason}`, error);
}
