import { Readable } from "node:stream";
import {
  type ClickHouseClient,
  ClickHouseError,
  ClickHouseLogLevel,
  type ClickHouseSettings,
  createClient,
} from "@clickhouse/client";
import type { SluiceError } from "@sluice/contract/errors";
import { type Clock, SingleFlight, sleep } from "@sluice/lib";
import type { LedgerAddress, LedgerEndpoint } from "./endpoint.ts";
import { fromClient, LedgerAbortedError, LedgerUnavailableError } from "./errors.ts";

/** Bounds of what one process asks of its ledger. */
export const connectionLimits = {
  /** Calls under way at one time, and calls that wait for a place; more are refused as unavailable. */
  concurrentMax: 10,
  waitingMax: 512,
  /** Milliseconds for one call; above the ceiling of a statement's own time limit. */
  requestMsMax: 250_000,
  /** A refused connection never carried the call, so it is tried again: how often, and after how many milliseconds. */
  refusedMax: 20,
  refusedWaitMs: 25,
  /** Of several servers the one in use is asked this often whether it answers, and has this long for it. */
  checkEveryMs: 5_000,
  checkMs: 2_000,
  /** How long an INSERT waits for the replicas of its quorum before it is repeated. */
  quorumMs: 10_000,
} as const;

/** ClickHouse settings of one call, by their own names. */
export type LedgerSettings = Readonly<Record<string, string | number | boolean>>;

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Database for unqualified names, when it is not the ledger's own. */
  readonly database?: string;
}

/** How a statement is run whose result is handed on as it is. */
export interface ReadTerms {
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly settings: LedgerSettings;
  /** ClickHouse's name of the format. */
  readonly format: string;
  readonly database: string;
  /** Whether it is answered when it has ended, with what it has read. */
  readonly isMeasured: boolean;
  readonly signal?: AbortSignal;
  /** The one role that it has, of those of the user. */
  readonly role?: string;
  /** Another user than the ledger's own. */
  readonly user?: { readonly username: string; readonly password: string };
}

/** A result, and what a measured statement has read from tables. */
interface ReadAnswer {
  readonly body: Readable;
  readonly rowsRead: bigint;
  readonly bytesRead: bigint;
}

/** What one INSERT brings: rows as objects, or one block in Native format with the columns it has, in their order. */
export type InsertBody =
  | { readonly kind: "rows"; readonly rows: readonly object[] }
  | { readonly kind: "native"; readonly columns: readonly string[]; readonly bytes: Uint8Array };

/** JSON of rows in which u64 stays exact: bigint is written as a quoted decimal, which ClickHouse reads as a number. */
function stringifyRow(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) => (typeof member === "bigint" ? member.toString() : member));
}

/** The one way to a ClickHouse, embedded or not: `@clickhouse/client` over HTTP, bounded, with errors of this room. */
export class LedgerConnection implements AsyncDisposable {
  readonly #endpoint: LedgerEndpoint;
  readonly #database: string;
  readonly #isCluster: boolean;
  readonly #admit: () => void;
  readonly #clients = new Map<string, ClickHouseClient>();
  #generation = 0;
  readonly #clock: Clock;
  readonly #check = new SingleFlight(() => this.#checkServer());
  #checkedAtMs = Number.NEGATIVE_INFINITY;
  #inFlight = 0;
  readonly #waiting: (() => void)[] = [];
  #closed = false;

  constructor(
    options: { readonly database: string; readonly isCluster?: boolean },
    dependencies: {
      readonly endpoint: LedgerEndpoint;
      readonly clock: Clock;
      /** Throws LedgerUnavailableError while no call may be made. */
      readonly admit?: () => void;
    },
  ) {
    this.#admit = dependencies.admit ?? (() => undefined);
    this.#database = options.database;
    this.#isCluster = options.isCluster ?? false;
    this.#endpoint = dependencies.endpoint;
    this.#clock = dependencies.clock;
  }

  /**
   * Rows of a SELECT. 64-bit integers are decimal strings. `parameters` fill `{name:Type}` placeholders.
   * Throws LedgerQueryError, LedgerUnavailableError, LedgerAbortedError.
   */
  async query<T>(
    sql: string,
    parameters: Readonly<Record<string, unknown>> = {},
    settings: LedgerSettings = {},
    options: CallOptions = {},
  ): Promise<T[]> {
    return await this.#call(options, async (client) => {
      const result = await client.query({ ...request(sql, parameters, settings, options), format: "JSONEachRow" });
      return await result.json<T>();
    });
  }

  /** As `query`, row groups as they arrive; memory stays bounded however long the result is. */
  async *stream<T>(
    sql: string,
    parameters: Readonly<Record<string, unknown>> = {},
    settings: LedgerSettings = {},
    options: CallOptions = {},
  ): AsyncGenerator<T[]> {
    this.#admit();
    const release = await this.#enter();
    try {
      const result = await this.#reach(options, (client) =>
        client.query({ ...request(sql, parameters, settings, options), format: "JSONEachRow" }),
      );
      try {
        for await (const rows of result.stream<T>()) yield rows.map((row) => row.json());
      } finally {
        result.close();
      }
    } catch (error) {
      throw this.#failureOf(error, options.signal);
    } finally {
      release();
    }
  }

  /**
   * Runs a statement and hands out its result as the server sends it; memory stays bounded. Its place among the calls
   * in flight is free when its result begins. Throws as `query`.
   */
  async read(sql: string, terms: ReadTerms): Promise<ReadAnswer> {
    const { parameters, format, database, signal, role, user } = terms;
    const settings = { ...terms.settings, default_format: format, wait_end_of_query: terms.isMeasured ? 1 : 0 };
    const options = { database, ...(signal === undefined ? {} : { signal }) };
    return await this.#call(options, async (client) => {
      const { stream, summary } = await client.exec({
        ...request(sql, parameters, settings, options),
        ...(role === undefined ? {} : { role }),
        ...(user === undefined ? {} : { auth: user }),
      });
      return { body: stream, rowsRead: BigInt(summary?.read_rows ?? 0), bytesRead: BigInt(summary?.read_bytes ?? 0) };
    });
  }

  /** A statement without result. */
  async command(sql: string, options: CallOptions = {}): Promise<void> {
    await this.#call(options, async (client) => {
      await client.command(request(sql, {}, {}, options));
    });
  }

  /** One INSERT. `token` names it: the table takes an INSERT of the same token once. */
  async insertRows(table: string, body: InsertBody, token: string): Promise<void> {
    const clickhouse_settings: ClickHouseSettings = {
      insert_deduplicate: 1,
      insert_deduplication_token: token,
      // In a cluster: answered when the shards have the rows, not when this node has queued them.
      distributed_foreground_insert: 1,
      // A token that a server collects with others' rows would not name this INSERT.
      async_insert: 0,
      // Most replicas of the shard have the rows on disk when the INSERT is answered.
      ...(this.#isCluster ? { insert_quorum: "auto", insert_quorum_timeout: connectionLimits.quorumMs } : {}),
    };
    await this.#call({}, async (client) => {
      if (body.kind === "rows") {
        await client.insert({ table, values: [...body.rows], format: "JSONEachRow", clickhouse_settings });
        return;
      }
      const query = `INSERT INTO ${table} (${body.columns.join(", ")}) FORMAT Native`;
      const values = Readable.from([body.bytes], { objectMode: false });
      const { stream } = await client.exec({ query, values, clickhouse_settings });
      // Read to its end, so that the connection is kept.
      for await (const _ of stream);
    });
  }

  /** True after disposal: every further call throws LedgerUnavailableError. */
  get closed(): boolean {
    return this.#closed;
  }

  ping(): Promise<boolean> {
    return this.reach().then(
      () => true,
      () => false,
    );
  }

  /** @throws {LedgerUnavailableError} when the server does not answer within two seconds */
  async reach(): Promise<void> {
    const aborting = new AbortController();
    const timer = this.#clock.after(connectionLimits.checkMs, () => aborting.abort(), { keepsAlive: true });
    try {
      await this.#call({}, async (client) => {
        const outcome = await client.ping({ select: true, abort_signal: aborting.signal });
        if (!outcome.success) throw outcome.error;
      });
    } finally {
      timer.cancel();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await this.#forget();
  }

  async #call<T>(options: CallOptions, action: (client: ClickHouseClient) => Promise<T>): Promise<T> {
    this.#admit();
    const release = await this.#enter();
    try {
      return await this.#reach(options, action);
    } catch (error) {
      throw this.#failureOf(error, options.signal);
    } finally {
      release();
    }
  }

  /**
   * A connection that broke speaks for the others: they end at the same process, and that they are broken may be
   * noticed later. None is used for a further call; those in use end with their calls, those that lie idle by
   * themselves.
   */
  #failureOf(error: unknown, signal: AbortSignal | undefined): SluiceError {
    const failure = fromClient(error, signal);
    if (failure instanceof LedgerUnavailableError) this.#clients.clear();
    return failure;
  }

  /**
   * Connections are refused between an engine's death and its supervisor's notice of it, and by a server that is away
   * while another of the cluster serves: a few attempts bridge that time. A call that may have been carried is not
   * repeated here.
   */
  async #reach<T>(options: CallOptions, action: (client: ClickHouseClient) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      // The client hears of an abort that comes while it calls, and of no earlier one.
      if (options.signal?.aborted === true) throw new LedgerAbortedError();
      const { address, client } = await this.#client(options.database ?? this.#database);
      try {
        return await action(client);
      } catch (error) {
        if (isServerLost(error)) this.#endpoint.unreachable(address);
        if (!isNeverCarried(error) || attempt >= connectionLimits.refusedMax) throw error;
      }
      await sleep(this.#clock, connectionLimits.refusedWaitMs);
    }
  }

  /** Takes one of the places of calls in flight, in order of arrival. */
  async #enter(): Promise<() => void> {
    if (this.#inFlight >= connectionLimits.concurrentMax) {
      if (this.#waiting.length >= connectionLimits.waitingMax) throw new LedgerUnavailableError("too many calls wait");
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else this.#inFlight++;
    return () => {
      const next = this.#waiting.shift();
      if (next === undefined) this.#inFlight--;
      else next();
    };
  }

  /** A client lives as long as the process that answers it: sockets of a dead one are never used again. */
  async #client(database: string): Promise<{ readonly address: LedgerAddress; readonly client: ClickHouseClient }> {
    if (this.#closed) throw new LedgerUnavailableError("it is closed");
    const isDue = this.#clock.monotonic() - this.#checkedAtMs >= connectionLimits.checkEveryMs;
    if (this.#endpoint.count > 1 && (isDue || this.#check.running !== null)) await this.#check.run();
    const address = await this.#endpoint.current();
    return { address, client: await this.#clientAt(address, database) };
  }

  async #clientAt(address: LedgerAddress, database: string): Promise<ClickHouseClient> {
    // Several servers live side by side, and calls to one of them may be under way while another is tried.
    if (address.generation !== this.#generation && this.#endpoint.count === 1) await this.#forget();
    this.#generation = address.generation;
    const name = `${address.generation} ${database}`;
    const known = this.#clients.get(name);
    if (known !== undefined) return known;
    const client = clientFor(address, database);
    this.#clients.set(name, client);
    return client;
  }

  /** Leaves servers that do not answer, at most once each: one that takes no packets would hold calls for minutes. */
  async #checkServer(): Promise<void> {
    for (let asked = 0; asked < this.#endpoint.count; asked++) {
      const address = await this.#endpoint.current();
      const client = await this.#clientAt(address, this.#database);
      const aborting = new AbortController();
      const timer = this.#clock.after(connectionLimits.checkMs, () => aborting.abort(), { keepsAlive: true });
      const { success } = await client.ping({ select: false, abort_signal: aborting.signal });
      timer.cancel();
      if (success) break;
      this.#endpoint.unreachable(address);
    }
    this.#checkedAtMs = this.#clock.monotonic();
  }

  async #forget(): Promise<void> {
    const clients = [...this.#clients.values()];
    this.#clients.clear();
    await Promise.allSettled(clients.map((client) => client.close()));
  }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";

const neverCarriedCodes = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"]);

/** Whether there was no connection, so that the call cannot have taken effect. */
const isNeverCarried = (error: unknown): boolean => neverCarriedCodes.has(codeOf(error));

/** A replica without its Keeper takes no INSERT; the others of its shard may. */
const readOnlyCode = "242";

/** Whether another server of several may do better: every failure but an answer of the engine, or the caller's wish. */
function isServerLost(error: unknown): boolean {
  if (error instanceof ClickHouseError) return error.code === readOnlyCode;
  return error instanceof Error && error.name !== "AbortError" && !/aborted/i.test(error.message);
}

function request(
  query: string,
  parameters: Readonly<Record<string, unknown>>,
  settings: LedgerSettings,
  options: CallOptions,
): {
  query: string;
  query_params: Record<string, unknown>;
  clickhouse_settings: ClickHouseSettings;
  abort_signal?: AbortSignal;
} {
  return {
    query,
    query_params: { ...parameters },
    clickhouse_settings: { output_format_json_quote_64bit_integers: 1, ...settings } as ClickHouseSettings,
    ...(options.signal === undefined ? {} : { abort_signal: options.signal }),
  };
}

function clientFor(address: LedgerAddress, database: string): ClickHouseClient {
  return createClient({
    url: address.url,
    username: address.user,
    password: address.password,
    database,
    application: "sluice",
    request_timeout: connectionLimits.requestMsMax,
    max_open_connections: connectionLimits.concurrentMax + 2,
    use_multipart_params_auto: true,
    json: { parse: JSON.parse, stringify: stringifyRow },
    // Its errors reach the caller; the client's own log would print parameters.
    log: { level: ClickHouseLogLevel.OFF },
    ...(address.ca === null ? {} : { tls: { ca_cert: address.ca } }),
  });
}
