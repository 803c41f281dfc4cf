import type { Timer, Timers } from "@sluice/lib";
import type { MeasuredResult } from "./c-api.ts";
import { EngineException, fromEngine, raise } from "./exceptions.ts";
import { childLimits } from "./limits.ts";
import { MeasuredStatements } from "./measured-statements.ts";
import type { Connection, Native, NativeInsert, NativeResult } from "./native.ts";
import { quotedIdentifier, stringLiteral } from "./statement.ts";

/** The surroundings of one statement: what a ClickHouse HTTP request carries beside its text. */
export interface StatementContext {
  readonly database: string | null;
  readonly roles: readonly string[];
  readonly settings: ReadonlyMap<string, string>;
  /** Values as in the URL: escaped as in TabSeparated, which is what the engine unescapes. */
  readonly parameters: ReadonlyMap<string, string>;
  /** Aborted when the caller has gone away. */
  readonly signal: AbortSignal;
}

export interface EngineStream {
  /** The next piece of the result, or null at its end. Throws EngineException. */
  readonly next: () => Promise<Uint8Array | null>;
  /** Ends the statement and gives its connection back; may be called at any time, and more than once. */
  readonly close: () => void;
}

/**
 * Runs statements, each on a separate connection. A connection costs 0.5 ms; a shared one would carry settings,
 * parameters and, after a failure, even output of one statement into the next.
 */
export class Engine {
  readonly #native: Native;
  readonly #clock: Pick<Timers, "after" | "every">;
  readonly #overdue: () => void;
  readonly #directory: string;
  readonly #measured = new MeasuredStatements();
  /** Held open for the life of the process: the engine shuts down with its last connection. */
  readonly #root: Connection;
  #lastId = 0;

  constructor(
    options: { readonly directory: string; readonly arguments: readonly string[] },
    dependencies: {
      readonly native: Native;
      readonly clock: Pick<Timers, "after" | "every">;
      /** A measured statement goes on although its time is over and it was told to stop. */
      readonly overdue: () => void;
    },
  ) {
    this.#native = dependencies.native;
    this.#clock = dependencies.clock;
    this.#overdue = dependencies.overdue;
    this.#directory = options.directory;
    this.#root = this.#connect(options.arguments);
  }

  /** A statement whose whole result is gathered in memory. Throws EngineException. */
  async run(sql: string, format: string, context: StatementContext): Promise<NativeResult> {
    const connection = this.#connect();
    try {
      const id = await this.#prepare(connection, context);
      return await this.#killable(id, context.signal, this.#native.QueryAsyncConnection(connection, sql, format));
    } catch (error) {
      throw fromEngine(error);
    } finally {
      this.#native.CloseConnection(connection);
    }
  }

  /**
   * As `run`, on a thread of its own, with what the statement has read from tables. It may be hostile: when it goes on
   * after its time is over, `overdue` is called. Throws EngineException.
   */
  async measured(sql: string, format: string, context: StatementContext): Promise<MeasuredResult> {
    const { id, statements } = this.#preparation(context);
    const seconds = Number(context.settings.get("max_execution_time") ?? childLimits.executionSecondsDefault);
    const deadline = this.#clock.after(seconds * 1_000 + childLimits.overtimeMs, this.#overdue);
    try {
      const order = { directory: this.#directory, preparation: statements, sql, format };
      return await this.#killable(id, context.signal, this.#measured.run(order));
    } catch (error) {
      throw fromEngine(error);
    } finally {
      deadline.cancel();
    }
  }

  /** INSERT whose data is in a file that it names (FROM INFILE), `length` bytes of it. */
  async insert(sql: string, length: number, context: StatementContext): Promise<NativeInsert> {
    const connection = this.#connect();
    try {
      const id = await this.#prepare(connection, context);
      // Some formats refuse an empty file; no rows are no work.
      if (length === 0) return { elapsed: 0, rowsWritten: 0, bytesWritten: 0 };
      // This call, other than a query's, returns the number of rows written.
      const written = this.#native.InsertRawAsyncConnection(connection, sql, Buffer.alloc(0), false);
      return await this.#killable(id, context.signal, written);
    } catch (error) {
      throw fromEngine(error);
    } finally {
      this.#native.CloseConnection(connection);
    }
  }

  /**
   * A statement whose result is read piece by piece; the engine waits while nothing is read. Analysis happens on the
   * calling thread and blocks it, so callers try `run` first. Throws EngineException.
   */
  async stream(sql: string, format: string, context: StatementContext): Promise<EngineStream> {
    const connection = this.#connect();
    try {
      const id = await this.#prepare(connection, context);
      const cursor = this.#native.StreamQuery(connection, sql, format);
      return new CursorStream(this.#native, connection, cursor, (running) =>
        this.#killable(id, context.signal, running),
      );
    } catch (error) {
      this.#native.CloseConnection(connection);
      throw fromEngine(error);
    }
  }

  close(): void {
    this.#native.CloseConnection(this.#root);
  }

  #connect(engineArguments: readonly string[] = []): Connection {
    const connection =
      engineArguments.length === 0
        ? this.#native.CreateConnection(this.#directory)
        : this.#native.CreateConnection(this.#directory, engineArguments);
    if (connection === null) throw raise("UNKNOWN_EXCEPTION", "the engine opened no connection");
    return connection;
  }

  /** Sets role, database, settings and parameters; returns the mark by which KILL finds the statement. */
  async #prepare(connection: Connection, context: StatementContext): Promise<string> {
    const { id, statements } = this.#preparation(context);
    for (const statement of statements) await this.#native.QueryAsyncConnection(connection, statement, "Null");
    return id;
  }

  /** The mark is the beginning of the statement's log_comment; what the caller set there follows it. */
  #preparation(context: StatementContext): { readonly id: string; readonly statements: readonly string[] } {
    this.#lastId++;
    const comment = context.settings.get("log_comment");
    const id = `sluice-statement-${this.#lastId}${comment === undefined ? "" : ` ${comment}`}`;
    const statements: string[] = [];
    if (context.roles.length > 0) statements.push(`SET ROLE ${context.roles.map(quotedIdentifier).join(", ")}`);
    if (context.database !== null) statements.push(`USE ${quotedIdentifier(context.database)}`);
    const changes = [`log_comment = ${stringLiteral(id)}`];
    for (const [name, value] of context.settings) {
      if (name !== "log_comment") changes.push(`${name} = ${stringLiteral(value)}`);
    }
    // Parameters set this way live in the connection alone. Those bound in the call are shared by the whole process
    // and would have to be serialised.
    for (const [name, value] of context.parameters) changes.push(`param_${name} = ${stringLiteral(value)}`);
    statements.push(`SET ${changes.join(", ")}`);
    return { id, statements };
  }

  /**
   * Waits for a running operation. Once its caller has gone away, orders the engine to stop it until it has stopped.
   */
  async #killable<T>(id: string, signal: AbortSignal, running: Promise<T>): Promise<T> {
    const timers: Timer[] = [];
    const kill = (): void => {
      timers.push(this.#clock.every(childLimits.killEveryMs, () => this.#kill(id), { keepsAlive: true }));
      this.#kill(id);
    };
    if (signal.aborted) kill();
    else signal.addEventListener("abort", kill, { once: true });
    try {
      return await running;
    } finally {
      signal.removeEventListener("abort", kill);
      for (const timer of timers) timer.cancel();
    }
  }

  #kill(id: string): void {
    const connection = this.#connect();
    // SYNC would wait for a statement that may be waiting for us.
    const sql = `KILL QUERY WHERE Settings['log_comment'] = ${stringLiteral(id)} ASYNC`;
    this.#native
      .QueryAsyncConnection(connection, sql, "Null")
      .catch(() => undefined)
      .finally(() => this.#native.CloseConnection(connection));
  }
}

/** Serialises reads and the end of one cursor: neither cursor nor connection may go while a read is under way. */
class CursorStream implements EngineStream {
  readonly #native: Native;
  readonly #connection: Connection;
  readonly #cursor: ReturnType<Native["StreamQuery"]>;
  readonly #watch: <T>(running: Promise<T>) => Promise<T>;
  #reading = false;
  #closing = false;
  #closed = false;

  constructor(
    native: Native,
    connection: Connection,
    cursor: ReturnType<Native["StreamQuery"]>,
    watch: <T>(running: Promise<T>) => Promise<T>,
  ) {
    this.#native = native;
    this.#connection = connection;
    this.#cursor = cursor;
    this.#watch = watch;
  }

  async next(): Promise<Uint8Array | null> {
    if (this.#closing) return null;
    this.#reading = true;
    try {
      const chunk = await this.#watch(this.#native.StreamFetch(this.#cursor));
      return chunk.done ? null : chunk.bytes;
    } catch (error) {
      this.#closing = true;
      throw fromEngine(error);
    } finally {
      this.#reading = false;
      if (this.#closing) this.#end();
    }
  }

  close(): void {
    this.#closing = true;
    if (!this.#reading) this.#end();
  }

  #end(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#native.StreamCancel(this.#cursor);
    this.#native.CloseConnection(this.#connection);
  }
}

export function isResultTooLarge(error: unknown): boolean {
  return error instanceof EngineException && error.code === 396;
}
