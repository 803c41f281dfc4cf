import type { Readable } from "node:stream";
import type { SqlFormat } from "@sluice/contract/sql";
import { type Clock, type Random, SingleFlight, sleep } from "@sluice/lib";
import { customerRole } from "../child/access-control.ts";
import { stringLiteral } from "../child/statement.ts";
import type { LedgerConnection, LedgerSettings, ReadTerms } from "../connection.ts";
import type { Form } from "../ddl.ts";
import type { LedgerLog } from "../endpoint.ts";
import { LedgerAbortedError, LedgerQueryError, LedgerUnavailableError } from "../errors.ts";
import {
  customerPassword,
  customerSettings,
  customerUser,
  customerUserStatements,
  judgingSettings,
} from "./customer.ts";
import { comment, createView, createViewsDatabase, revisionIn, viewDefinitions, viewsDatabaseOf } from "./views.ts";

/** A statement of a customer. The text and the parameters were judged before. */
export interface CustomerStatement {
  readonly sql: string;
  /** Values of `{name:Type}` placeholders. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly accountId: string;
  readonly network: string;
  readonly format: SqlFormat;
  readonly rowsMax: number;
  readonly executionMs: number;
  readonly signal: AbortSignal;
}

/** A whole result, computed within the bounds, that is read as fast as its reader takes it. */
export interface CustomerResult {
  /** In JSONCompactEachRowWithNamesAndTypes, CSVWithNames or ArrowStream. Destroying it ends it. */
  readonly body: Readable;
  /** Rows and bytes that were read from tables, uncompressed. */
  readonly rowsRead: bigint;
  readonly bytesRead: bigint;
}

/** Statements of customers, as the role or user that may read the views alone. */
export interface CustomerStatements {
  /** How many run at a time in this process. */
  readonly concurrentMax: number;
  /**
   * The text, of at most 64 KiB, on one line, as the engine reads it, without comments. Throws LedgerQueryError
   * (SYNTAX_ERROR for several statements too), LedgerUnavailableError.
   */
  formatted(sql: string): Promise<string>;
  /** The lines of the syntax tree, with the parameters in their places. Throws as `formatted`. */
  syntaxTree(sql: string, parameters: Readonly<Record<string, unknown>>): Promise<readonly string[]>;
  /**
   * Runs a statement. Throws LedgerQueryError with the engine's code (limits included), LedgerUnavailableError,
   * LedgerAbortedError. When the caller leaves, it throws only once the statement has ended: the engine stops between
   * two steps of its work, of which one may take seconds, and has few threads for these statements.
   */
  run(statement: CustomerStatement): Promise<CustomerResult>;
  /** Bytes that a running statement of the account has read; 0 when none runs. */
  bytesRead(accountId: string): Promise<bigint>;
}

const engineFormats: Readonly<Record<SqlFormat, string>> = {
  json: "JSONCompactEachRowWithNamesAndTypes",
  csv: "CSVWithNames",
  arrow: "ArrowStream",
};

/** In the embedded engine as many as it has threads for; on servers they have queues and quotas of their own. */
const concurrentMax = { chdb: 2, clickhouse: 8 } as const;

/** How often it is looked whether a statement has ended whose caller has left. */
const stoppedEveryMs = 100;

/** Codes by which servers refuse to make users. */
const noUsersCodes = new Set([
  495, // ACCESS_STORAGE_READONLY
  497, // ACCESS_DENIED
  514, // ACCESS_STORAGE_FOR_INSERTION_NOT_FOUND
]);

export interface CustomerStatementsDependencies {
  /** Of these statements alone, so that they take no place of the server's own. */
  readonly connection: LedgerConnection;
  /** The server's own. */
  readonly own: LedgerConnection;
  readonly clock: Pick<Clock, "after">;
  readonly random: Random;
  readonly log: LedgerLog;
}

export interface CustomerStatementsOptions {
  readonly driver: "chdb" | "clickhouse";
  readonly form: Form;
  /** Of the ledger's own user on servers. */
  readonly password: string;
}

/** What the ledger refuses of its own views is no fault of a customer's statement. */
function unprepared(error: unknown): never {
  if (error instanceof LedgerQueryError) throw new Error("the views of the ledger cannot be made", { cause: error });
  throw error;
}

/** See `CustomerStatements`. Views and, on servers, the user are made at the first call of a process. */
export class LedgerCustomerStatements implements CustomerStatements {
  readonly concurrentMax: number;
  readonly #options: CustomerStatementsOptions;
  readonly #dependencies: CustomerStatementsDependencies;
  readonly #prepared = new SingleFlight(() => this.#prepare());
  #isPrepared = false;

  constructor(options: CustomerStatementsOptions, dependencies: CustomerStatementsDependencies) {
    this.concurrentMax = concurrentMax[options.driver];
    this.#options = options;
    this.#dependencies = dependencies;
  }

  async formatted(sql: string): Promise<string> {
    const text = await this.#judge(`SELECT formatQuerySingleLine(${stringLiteral(sql)})`, {}, "TabSeparatedRaw");
    return text.replace(/\n$/, "");
  }

  async syntaxTree(sql: string, parameters: Readonly<Record<string, unknown>>): Promise<readonly string[]> {
    const text = await this.#judge(`EXPLAIN AST ${sql}`, parameters, "TabSeparatedRaw");
    return text.replace(/\n$/, "").split("\n");
  }

  async run(statement: CustomerStatement): Promise<CustomerResult> {
    const { sql, parameters, format, accountId, network, signal } = statement;
    const mark = this.#mark();
    const settings = customerSettings({ ...statement, comment: comment({ mark, accountId, network }) });
    const terms = { parameters, settings, signal, format: engineFormats[format], isMeasured: true } as const;
    try {
      const { body, rowsRead, bytesRead } = await this.#read(sql, terms);
      return { body, rowsRead, bytesRead };
    } catch (error) {
      if (error instanceof LedgerAbortedError) await this.#stopped(mark);
      throw error;
    }
  }

  async bytesRead(accountId: string): Promise<bigint> {
    const [row] = await this.#dependencies.own.query<{ bytes: string }>(
      "SELECT sum(read_bytes) AS bytes FROM system.processes " +
        "WHERE splitByChar(' ', Settings['log_comment'])[-2] = {account:String}",
      { account: accountId },
    );
    return BigInt(row?.bytes ?? 0);
  }

  /** Waits until a statement that was told to stop is gone, or the engine is. */
  async #stopped(mark: string): Promise<void> {
    const { own, clock } = this.#dependencies;
    // It may have been left before the engine began it, so that it has to be absent twice.
    for (let absent = 0; absent < 2; ) {
      await sleep(clock, stoppedEveryMs);
      const running = await own
        .query("SELECT 1 FROM system.processes WHERE splitByChar(' ', Settings['log_comment'])[-3] = {mark:String}", {
          mark,
        })
        .catch((error: unknown) => (error instanceof LedgerQueryError && error.transient ? [null] : []));
      absent = running.length === 0 ? absent + 1 : 0;
    }
  }

  #mark(): string {
    return `customer-${Buffer.from(this.#dependencies.random.bytes(8)).toString("hex")}`;
  }

  async #judge(sql: string, parameters: Readonly<Record<string, unknown>>, format: string): Promise<string> {
    const settings = judgingSettings(this.#mark());
    const { body } = await this.#read(sql, { parameters, settings, format, isMeasured: false });
    const pieces: Buffer[] = [];
    for await (const piece of body) pieces.push(piece);
    return Buffer.concat(pieces).toString("utf8");
  }

  async #read(
    sql: string,
    terms: Pick<ReadTerms, "parameters" | "format" | "isMeasured" | "signal"> & { readonly settings: LedgerSettings },
  ) {
    if (!this.#isPrepared) await this.#prepared.run().catch(unprepared);
    const { driver, form, password } = this.#options;
    const as =
      driver === "chdb"
        ? { role: customerRole }
        : { user: { username: customerUser, password: customerPassword(password) } };
    return await this.#dependencies.connection.read(sql, { ...terms, ...as, database: viewsDatabaseOf(form) });
  }

  async #prepare(): Promise<void> {
    const { own, log } = this.#dependencies;
    const { driver, form, password } = this.#options;
    await own.command(createViewsDatabase(form));
    const present = await own.query<{ name: string; comment: string }>(
      "SELECT name, comment FROM system.tables WHERE database = {database:String}",
      { database: viewsDatabaseOf(form) },
    );
    const revisions = new Map(present.map((view) => [view.name, revisionIn(view.comment)]));
    for (const view of viewDefinitions) {
      if ((revisions.get(view.name) ?? 0) < view.revision) await own.command(createView(view, form));
    }
    if (driver === "clickhouse") {
      for (const statement of customerUserStatements(form, customerPassword(password))) {
        await own.command(statement).catch((error: unknown) => this.#refused(error, log));
      }
    }
    this.#isPrepared = true;
  }

  #refused(error: unknown, log: LedgerLog): never {
    if (error instanceof LedgerQueryError && noUsersCodes.has(error.engineCode)) {
      log.warn(
        { error },
        "SQL is not served: the ledger's user on the ClickHouse servers may not make users, profiles, policies and " +
          "quotas (access management)",
      );
      throw new LedgerUnavailableError("its servers have no user for statements of customers");
    }
    throw error;
  }
}
