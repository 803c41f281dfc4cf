import type { PostgresPool as KyselyPool, PostgresCursor, PostgresPoolClient, PostgresQueryResult } from "kysely";
import { Client, type ClientConfig, Pool, type PoolClient } from "pg";
import type { PostgresWay, PostgresWays } from "./postgres-hosts.ts";
import type { StateLog } from "./records.ts";

/** Milliseconds. */
export interface PostgresTimes {
  /** For one server; several are tried one after the other. */
  readonly connectMs: number;
  readonly statementMs: number;
  /** The client's own limit for a statement, for a server that has vanished without closing the connection. */
  readonly answerMs: number;
  readonly idleInTransactionMs: number;
}

export interface PostgresPoolOptions {
  readonly ways: PostgresWays;
  /** Whether a server that takes no writes is passed by. */
  readonly mustWrite: boolean;
  /** Follows the name of the application, by which the server's lists of sessions tell pools apart. */
  readonly label: string;
  readonly connectionsMax: number;
  readonly times: PostgresTimes;
  /** Parsers of values, as the driver has them. */
  readonly types: NonNullable<ClientConfig["types"]>;
}

export interface PostgresPoolDependencies {
  readonly log: StateLog;
  /** Called when a connection is lost. */
  readonly lost: (error: Error) => void;
}

/** What is known of an open connection. */
interface Session {
  readonly way: PostgresWay;
  /** How often its way had been deposed when it was opened. */
  readonly timesDeposed: number;
  /** Whether the server's sessions are shared, one transaction at a time, as by PgBouncer. */
  isPooled: boolean;
}

/** The SQLSTATE of a write on a server that takes none. */
const readOnlyCode = "25006";

/**
 * A pool of connections to the first server of several that serves. Each connection is asked once what it leads to: a
 * standby is passed by, and a pooler's connections, on which settings of a session do not last, get them with each
 * transaction. When a server turns out to take no writes any more, its connections are closed, and the next leads on.
 */
export class PostgresPool implements KyselyPool {
  readonly options: object;
  /** The pool below, for its figures. */
  readonly driver: Pool;
  readonly #options: PostgresPoolOptions;
  readonly #log: StateLog;
  readonly #sessions = new WeakMap<Client, Session>();
  readonly #wrapped = new WeakMap<PoolClient, PooledClient>();
  #isEnded = false;

  constructor(options: PostgresPoolOptions, dependencies: PostgresPoolDependencies) {
    const { ways, label, times, connectionsMax, types } = options;
    this.#options = options;
    this.#log = dependencies.log;
    const poolOptions = {
      Client: clientOf({ ways, label }, (client, way) => {
        this.#sessions.set(client, { way, timesDeposed: ways.timesDeposed(way), isPooled: false });
      }),
      max: connectionsMax,
      connectionTimeoutMillis: times.connectMs,
      query_timeout: times.answerMs,
      keepAlive: true,
      types,
      onConnect: (client: object) => this.#greet(client),
    };
    this.options = poolOptions;
    this.driver = new Pool(poolOptions);
    // Without listeners the loss of a connection would end the process: the pool speaks for idle ones, a client in use
    // for itself (the statement that it was running fails as well, which is what the caller sees).
    this.driver.on("error", dependencies.lost);
    this.driver.on("connect", (client) => client.on("error", dependencies.lost));
  }

  /** @throws {Error} of the driver, where no server could be connected, or this pool has no connection to give */
  async connect(): Promise<PostgresPoolClient> {
    const { ways } = this.#options;
    const failures: ConnectFailure[] = [];
    for (;;) {
      const way = ways.first();
      // Each way is tried once, and a server that cannot be reached once.
      if (failures.some((failure) => failure.way === way || (failure.isLost && failure.way.name === way.name))) {
        throw told(failures);
      }
      try {
        const client = await this.driver.connect();
        const session = this.#sessions.get(client);
        if (session !== undefined && !this.#isStale(session)) return this.#wrap(client, session);
        client.release(true);
      } catch (error) {
        const isLost = isServerLost(error);
        failures.push({ way, error, isLost });
        if (this.#isEnded || isPoolBusy(error)) throw told(failures);
        if (isLost) ways.lost(way);
      }
    }
  }

  async end(): Promise<void> {
    if (this.#isEnded) return;
    this.#isEnded = true;
    await this.driver.end();
  }

  /** Asks a new connection what it leads to and gives it its settings, in one round trip. */
  async #greet(client: object): Promise<void> {
    if (!(client instanceof Client)) throw new Error("The pool's connection is none of ours.");
    const session = this.#sessions.get(client);
    if (session === undefined) throw new Error("A connection of the pool has no way.");
    const { ways, mustWrite, times } = this.#options;
    try {
      const values = [processIdOf(client), String(times.statementMs), String(times.idleInTransactionMs)];
      const { rows } = await client.query<{ own: boolean; read_only: boolean }>(greeting, values);
      const [answer] = rows;
      session.isPooled = answer?.own !== true;
      if (mustWrite && answer?.read_only !== false) {
        throw Object.assign(new Error("the server takes no writes (it is a standby)"), { code: readOnlyCode });
      }
    } catch (error) {
      if (isReadOnly(error)) ways.deposed(session.way);
      else ways.failed(session.way);
      throw error;
    }
    const before = ways.reached(session.way);
    if (before === null) return;
    this.#log.info({ server: session.way.name, before }, "connected to another server of PostgreSQL");
  }

  #isStale({ way, timesDeposed }: Session): boolean {
    return this.#options.ways.timesDeposed(way) !== timesDeposed;
  }

  #wrap(client: PoolClient, session: Session): PooledClient {
    const known = this.#wrapped.get(client);
    if (known !== undefined) return known;
    const { times, ways } = this.#options;
    const wrapped = new PooledClient(client, {
      settings: session.isPooled ? localSettings(times) : null,
      processId: session.isPooled ? null : processIdOf(client),
      isStale: () => this.#isStale(session),
      onReadOnly: () => {
        if (!this.#isStale(session)) ways.deposed(session.way);
      },
    });
    this.#wrapped.set(client, wrapped);
    return wrapped;
  }
}

/** The id that the server told when the session began; a member of the driver that its types leave out. */
function processIdOf(client: Client): number | null {
  return "processID" in client && typeof client.processID === "number" ? client.processID : null;
}

function isReadOnly(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === readOnlyCode;
}

function isUnanswered(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("Query read timeout");
}

interface ConnectFailure {
  readonly way: PostgresWay;
  readonly error: unknown;
  /** Whether the server itself could not be reached, which no other form of connection mends. */
  readonly isLost: boolean;
}

const lostCodes = new Set(["ECONNREFUSED", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH", "ENOTFOUND", "EAI_AGAIN"]);

function isServerLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ("code" in error && lostCodes.has(String(error.code))) return true;
  return error.message === "Connection terminated due to connection timeout";
}

/** Whether the pool itself had no connection to give, which no other server mends. */
function isPoolBusy(error: unknown): boolean {
  return error instanceof Error && error.message === "timeout exceeded when trying to connect";
}

/** One error for all ways that failed; that of the only server as the driver gives it. */
function told(failures: readonly ConnectFailure[]): unknown {
  const refusesTls = (error: unknown): boolean =>
    error instanceof Error && error.message === "The server does not support SSL connections";
  const meant = failures.filter(({ error }) => !refusesTls(error));
  const shown = meant.length === 0 ? failures : meant;
  const last = shown.at(-1)?.error;
  if (new Set(shown.map(({ way }) => way.name)).size < 2) return shown[0]?.error;
  const message = shown.map(({ way, error }) => `${way.name}: ${error instanceof Error ? error.message : error}`);
  const code = last instanceof Error && "code" in last ? last.code : undefined;
  return Object.assign(new Error(message.join("; "), { cause: last }), { code });
}

/** The driver's client to whichever way is the first when it is made; a way that cannot be connected has failed. */
function clientOf(
  { ways, label }: Pick<PostgresPoolOptions, "ways" | "label">,
  onCreated: (client: Client, way: PostgresWay) => void,
): new () => Client {
  return class extends Client {
    readonly #way: PostgresWay;

    constructor(config?: string | ClientConfig) {
      const way = ways.first();
      super({ ...(typeof config === "object" ? config : {}), ...way.config(label) });
      this.#way = way;
      onCreated(this, way);
    }

    override connect(): Promise<Client>;
    override connect(callback: (error: Error) => void): void;
    override connect(callback?: (error: Error) => void): Promise<Client> | undefined {
      if (callback === undefined) return super.connect();
      super.connect((error: Error) => {
        if (error) ways.failed(this.#way);
        callback(error);
      });
      return undefined;
    }
  };
}

/**
 * The id of the server's process is told when a session begins: another one answers where a pooler stands between, and
 * settings of the session would then be the next client's. A commit must be on disk before it is acknowledged, so
 * `synchronous_commit = off` is turned on; any stronger setting is kept.
 */
const greeting = `select own,
    pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' as read_only,
    case when own then set_config('statement_timeout', $2, false) end,
    case when own then set_config('idle_in_transaction_session_timeout', $3, false) end,
    case when own and current_setting('synchronous_commit') = 'off'
      then set_config('synchronous_commit', 'on', false) end
  from (select pg_backend_pid() = $1::int as own) as session`;

/** The same settings for one transaction. */
const localSettings = ({ statementMs, idleInTransactionMs }: PostgresTimes): string =>
  [
    `set local statement_timeout = ${statementMs}`,
    `set local idle_in_transaction_session_timeout = ${idleInTransactionMs}`,
    "select set_config('synchronous_commit', 'on', true) where current_setting('synchronous_commit') = 'off'",
  ].join("; ");

interface PooledTerms {
  /** What each transaction begins with behind a pooler; null where the session has it. */
  readonly settings: string | null;
  /** The server's process, by which a statement can be cancelled; null where it changes. */
  readonly processId: number | null;
  readonly isStale: () => boolean;
  readonly onReadOnly: () => void;
}

/** One connection of the pool, as the query builder uses it. */
class PooledClient implements PostgresPoolClient {
  readonly processID?: number;
  readonly #client: PoolClient;
  readonly #terms: PooledTerms;
  #inTransaction = false;
  #isBroken = false;

  constructor(client: PoolClient, terms: PooledTerms) {
    this.#client = client;
    this.#terms = terms;
    if (terms.processId !== null) this.processID = terms.processId;
  }

  query<R>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>>;
  query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>;
  query<R>(
    sql: string | PostgresCursor<R>,
    parameters: readonly unknown[] = [],
  ): Promise<PostgresQueryResult<R>> | PostgresCursor<R> {
    if (typeof sql !== "string") throw new TypeError("The pool of PostgreSQL has no cursors.");
    return this.#query<R>(sql, parameters);
  }

  release(destroy = false): void {
    this.#inTransaction = false;
    this.#client.release(destroy || this.#isBroken || this.#terms.isStale());
  }

  async #query<R>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>> {
    const { settings, onReadOnly } = this.#terms;
    try {
      if (settings === null || this.#inTransaction) return await this.#send<R>(sql, parameters);
      if (/^(begin|start transaction)\b/.test(sql)) return await this.#begin<R>(sql, settings);
      return await this.#alone<R>(sql, parameters, settings);
    } catch (error) {
      if (isReadOnly(error)) onReadOnly();
      throw error;
    }
  }

  async #send<R>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>> {
    const result: unknown = await this.#client.query(sql, [...parameters]);
    if (sql === "commit" || sql === "rollback") this.#inTransaction = false;
    // The driver's result has these members and more.
    return result as PostgresQueryResult<R>;
  }

  /** Several statements in one message, so that the settings cost no round trip. */
  async #begin<R>(sql: string, settings: string): Promise<PostgresQueryResult<R>> {
    this.#inTransaction = true;
    try {
      await this.#client.query(`${sql}; ${settings}`);
    } catch (error) {
      // What of it was done is not known.
      this.#isBroken = true;
      throw error;
    }
    return { command: "SELECT", rowCount: 0, rows: [] };
  }

  /** A statement outside of a transaction gets one, since the settings last no longer than that. */
  async #alone<R>(sql: string, parameters: readonly unknown[], settings: string): Promise<PostgresQueryResult<R>> {
    await this.#begin("begin", settings);
    try {
      const result = await this.#send<R>(sql, parameters);
      await this.#send("commit", []);
      return result;
    } catch (error) {
      // A rollback would wait behind a statement that got no answer.
      if (isUnanswered(error)) this.#isBroken = true;
      else {
        await this.#send("rollback", []).catch(() => {
          this.#isBroken = true;
        });
      }
      throw error;
    }
  }
}
