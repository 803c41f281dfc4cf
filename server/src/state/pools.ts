import type { Clock } from "@sluice/lib";
import type { PostgresPool as KyselyPool, PostgresCursor, PostgresPoolClient, PostgresQueryResult } from "kysely";
import type { StateEvents } from "./events.ts";
import type { PostgresPool } from "./postgres-pool.ts";

/**
 * The pools of connections to PostgreSQL. What a stranger can cause, what an engine writes and what keeps a lease have
 * connections apart, so that none of them waits behind another: `leases` has beats alone, `engine` what the holder of
 * a lease writes, `keys` look-ups of keys that this process knows, `unknown_keys` look-ups of all others, `general` the
 * rest.
 */
export const poolNames = ["general", "engine", "leases", "keys", "unknown_keys"] as const;
export type PoolName = (typeof poolNames)[number];

export interface DatabasePool {
  readonly connectionsMax: number;
  /** How long a statement waits for a connection, be it a new one or one that others use. */
  readonly connectTimeoutMs: number;
  /** The server ends a statement that runs longer. */
  readonly statementTimeoutMs: number;
}

export type DatabasePools = Readonly<Record<PoolName, DatabasePool>>;

const usual = { connectTimeoutMs: 5_000, statementTimeoutMs: 30_000 } as const;
/** Who asks for a key waits for two seconds. A beat that takes longer comes too late for a lease of four. */
const brief = { connectTimeoutMs: 2_000, statementTimeoutMs: 2_000 } as const;

/** What the configuration has unless told otherwise; at most 16 connections. */
export const usualPools: DatabasePools = {
  general: { connectionsMax: 6, ...usual },
  engine: { connectionsMax: 3, ...usual },
  leases: { connectionsMax: 2, ...brief },
  keys: { connectionsMax: 2, ...brief },
  unknown_keys: { connectionsMax: 3, ...brief },
};

/** The client's own limit is for a server that has vanished without closing the connection. */
export const answerTimeoutMs = ({ statementTimeoutMs }: DatabasePool): number =>
  statementTimeoutMs + (statementTimeoutMs > 5_000 ? 5_000 : 1_000);

/** Beginning of the message of `pg` for a statement that the client gave up. */
const givenUp = "Query read timeout";

/**
 * A pool as the query builder uses it, whose waits and connections are measured. A connection on which a
 * statement got no answer is closed: it may still be busy with it, or lead nowhere.
 */
export class MeasuredPool implements KyselyPool {
  readonly #name: PoolName;
  readonly #pool: PostgresPool;
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #events: StateEvents | null;
  readonly #clients = new WeakMap<PostgresPoolClient, MeasuredClient>();

  constructor(
    { name, pool }: { readonly name: PoolName; readonly pool: PostgresPool },
    dependencies: { readonly clock: Pick<Clock, "monotonic">; readonly events: StateEvents | null },
  ) {
    this.#name = name;
    this.#pool = pool;
    this.#clock = dependencies.clock;
    this.#events = dependencies.events;
    this.#events?.poolOpened(name, pool.driver.options.max);
    for (const change of ["acquire", "connect", "remove"] as const) pool.driver.on(change, () => this.#tell());
  }

  get options(): object {
    return this.#pool.options;
  }

  async connect(): Promise<PostgresPoolClient> {
    const beganMs = this.#clock.monotonic();
    const connecting = this.#pool.connect();
    this.#tell();
    try {
      const client = await connecting;
      const measured = this.#clients.get(client) ?? new MeasuredClient(client, () => this.#tell());
      this.#clients.set(client, measured);
      return measured;
    } finally {
      this.#events?.connectionAwaited(this.#name, this.#clock.monotonic() - beganMs);
      this.#tell();
    }
  }

  async end(): Promise<void> {
    await this.#pool.end();
  }

  #tell(): void {
    const { totalCount, idleCount, waitingCount } = this.#pool.driver;
    this.#events?.poolChanged(this.#name, {
      open: totalCount,
      inUse: totalCount - idleCount,
      waiting: waitingCount,
    });
  }
}

/** One for each connection, since the query builder prepares a connection when it sees it for the first time. */
class MeasuredClient implements PostgresPoolClient {
  readonly #client: PostgresPoolClient;
  readonly #released: () => void;
  #isSpent = false;

  constructor(client: PostgresPoolClient, released: () => void) {
    this.#client = client;
    this.#released = released;
  }

  query<R>(text: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>>;
  query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>;
  query<R>(
    text: string | PostgresCursor<R>,
    parameters: readonly unknown[] = [],
  ): Promise<PostgresQueryResult<R>> & PostgresCursor<R> {
    if (typeof text !== "string") throw new TypeError("The state store uses no cursors");
    return this.#ask<R>(text, parameters) as Promise<PostgresQueryResult<R>> & PostgresCursor<R>;
  }

  release(destroy = false): void {
    this.#client.release(destroy || this.#isSpent);
    this.#released();
  }

  async #ask<R>(text: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>> {
    try {
      return await this.#client.query<R>(text, parameters);
    } catch (error) {
      this.#isSpent ||= error instanceof Error && error.message.startsWith(givenUp);
      throw error;
    }
  }
}
