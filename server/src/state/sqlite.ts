import { Database, type Statement } from "bun:sqlite";
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { Kysely, type SqliteDatabase, SqliteDialect, type SqliteStatement } from "kysely";
import { DirectoryLock } from "./directory-lock.ts";
import { newDamageError, newFileError, StateError } from "./errors.ts";
import { createPrivateFile } from "./file-lock.ts";
import type { Tables } from "./tables.ts";

/** Statements kept prepared. Lists of values make many texts, so the least recently used is let go beyond this. */
const preparedMax = 200;

type Binding = string | bigint | number | boolean | null | Uint8Array;

const doNothing: SqliteStatement = {
  reader: false,
  all: () => [],
  run: () => ({ changes: 0n, lastInsertRowid: 0n }),
  iterate: () => [][Symbol.iterator](),
};

/** Kysely's view of a bun:sqlite database: positional parameters, prepared statements kept by their text. */
class BunSqliteAdapter implements SqliteDatabase {
  readonly #database: Database;
  readonly #prepared = new Map<string, { statement: Statement; view: SqliteStatement }>();

  constructor(database: Database) {
    this.#database = database;
  }

  prepare(sql: string): SqliteStatement {
    // A full disk makes SQLite roll back by itself; a second rollback would then hide the cause.
    if (sql === "rollback" && !this.#database.inTransaction) return doNothing;
    const kept = this.#prepared.get(sql);
    if (kept !== undefined) {
      this.#prepared.delete(sql);
      this.#prepared.set(sql, kept);
      return kept.view;
    }
    const statement = this.#database.prepare(sql);
    const view = viewOf(statement);
    this.#prepared.set(sql, { statement, view });
    if (this.#prepared.size > preparedMax) this.#dropOldest();
    return view;
  }

  close(): void {
    for (const { statement } of this.#prepared.values()) statement.finalize();
    this.#prepared.clear();
    this.#database.close();
  }

  #dropOldest(): void {
    for (const [sql, { statement }] of this.#prepared) {
      this.#prepared.delete(sql);
      statement.finalize();
      return;
    }
  }
}

function viewOf(statement: Statement): SqliteStatement {
  return {
    reader: statement.columnNames.length > 0,
    all: (parameters) => statement.all(...(parameters as readonly Binding[])),
    run: (parameters) => statement.run(...(parameters as readonly Binding[])),
    iterate: (parameters) => statement.all(...(parameters as readonly Binding[])).values(),
  };
}

/**
 * Settings of the connection. WAL with synchronous=FULL syncs the log on each commit, so a commit survives a power cut;
 * `fullfsync` makes that true on macOS, where a plain fsync stops at the drive's cache, and changes nothing elsewhere.
 * The exclusive lock keeps every other process out and spares the shared-memory file. `trusted_schema` off keeps a
 * doctored database file from running functions. `temp_store` keeps the journals of single statements in memory: in a
 * file they were half of all bytes that accepting and ending bundles wrote (42 KB a bundle where it is 23 now, 10 to a
 * commit).
 */
const pragmas = [
  "busy_timeout = 2000",
  "locking_mode = exclusive",
  "journal_mode = wal",
  "synchronous = full",
  "fullfsync = on",
  "checkpoint_fullfsync = on",
  "foreign_keys = on",
  "trusted_schema = off",
  "cell_size_check = on",
  "journal_size_limit = 67108864",
  "cache_size = -16384",
  "temp_store = memory",
];

/** An open database, which is locked for this process until disposal. */
export interface OpenedSqlite extends AsyncDisposable {
  readonly db: Kysely<Tables>;
  /** The connection under `db`. */
  readonly database: Database;
}

const fileIn = (directory: string): string => join(directory, "state.sqlite");

/** Whether the directory holds a database, which may be in use or damaged. */
export function hasSqlite(directory: string): boolean {
  return existsSync(fileIn(directory));
}

/**
 * Opens `state.sqlite` in the directory, which is created (mode 0700) when missing, and holds the directory until
 * disposed of. `beside` names folders that hold something only where there was a database before. Throws StateError:
 * LOCKED when another process has it, CORRUPT, READ_ONLY, DISK_FULL or UNAVAILABLE.
 */
export async function openSqlite(directory: string, beside: readonly string[] = []): Promise<OpenedSqlite> {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw newFileError(`The data directory ${directory} cannot be made`, error);
  }
  const lock = DirectoryLock.take(directory);
  try {
    const database = openDatabase(directory, beside);
    const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: new BunSqliteAdapter(database) }) });
    const dispose = async (): Promise<void> => {
      await db.destroy();
      // Kysely closes only a database that it has used; closing twice is harmless.
      database.close();
      lock[Symbol.dispose]();
    };
    return { db, database, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    lock[Symbol.dispose]();
    throw error;
  }
}

/** A database file that no process changes, to be read alone. */
export function openCopy(path: string): { readonly db: Kysely<Tables> } & AsyncDisposable {
  const database = new Database(path, { readonly: true, strict: true, safeIntegers: true });
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: new BunSqliteAdapter(database) }) });
  const dispose = async (): Promise<void> => {
    await db.destroy();
    database.close();
  };
  return { db, [Symbol.asyncDispose]: dispose };
}

function openDatabase(directory: string, beside: readonly string[]): Database {
  const path = fileIn(directory);
  refuseEmptied(path, beside);
  createPrivateFile(path);
  let database: Database | null = null;
  try {
    database = new Database(path, { readwrite: true, strict: true, safeIntegers: true });
    for (const pragma of pragmas) database.run(`pragma ${pragma}`);
    // The exclusive lock is taken by the first transaction and then kept.
    database.run("begin exclusive");
    database.run("commit");
    checkPages(database, path);
    syncDirectory(directory);
    return database;
  } catch (error) {
    database?.close();
    throw error instanceof StateError ? error : newFileError(`The database ${path} cannot be opened`, error);
  }
}

/** Databases up to this size are checked at each start: 0.6 s for the largest, cached, on two busy cores. */
const checkedBytesMax = 256 * 1024 * 1024;

/**
 * Reads every page once, so that damage ends the start with a name and not a request at some later hour.
 * @throws {StateError} CORRUPT
 */
function checkPages(database: Database, path: string): void {
  if (statSync(path).size > checkedBytesMax) return;
  const [row] = database.query<Record<string, unknown>, []>("pragma quick_check(1)").all();
  const said = String(Object.values(row ?? {})[0] ?? "nothing was read");
  if (said !== "ok") throw newDamageError(path, said.replaceAll(/\s+/g, " "));
}

/**
 * An empty file is what a lost disk or a stopped copy leaves of a database. It is taken for a new one only where
 * nothing shows that there was an older.
 * @throws {StateError} CORRUPT
 */
function refuseEmptied(path: string, beside: readonly string[]): void {
  const size = sizeOf(path);
  const holds = beside.find(isFilled);
  const log = `${path}-wal`;
  if (size !== 0 || (holds === undefined && (sizeOf(log) ?? 0) === 0)) return;
  throw newDamageError(path, `it is empty, beside ${holds ?? log}, which belongs to it`);
}

const sizeOf = (path: string): number | null => statSync(path, { throwIfNoEntry: false })?.size ?? null;

function isFilled(directory: string): boolean {
  try {
    return readdirSync(directory).length > 0;
  } catch {
    return false;
  }
}

/** Makes the new files' names durable: syncing a file does not sync the directory entry that leads to it. */
function syncDirectory(directory: string): void {
  const descriptor = openSync(directory, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
