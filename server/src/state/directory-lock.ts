import { Database } from "bun:sqlite";
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { faultOfDriverError, StateError } from "./errors.ts";

/**
 * Holds a data directory for this process. The lock is the operating system's, taken by SQLite on an empty file, so it
 * ends with the process however that ends and cannot become stale. `state.pid` beside it only tells a refused process
 * whom it has met; nothing is decided by it.
 *
 * The lock file is never opened by other means: closing any descriptor of a file drops all of a process's POSIX locks
 * on it.
 */
export class DirectoryLock implements Disposable {
  readonly #database: Database;

  private constructor(database: Database) {
    this.#database = database;
  }

  /** Throws StateError LOCKED at once, naming the directory and the process that holds it. The directory must exist. */
  static take(directory: string): DirectoryLock {
    createPrivateFile(join(directory, "state.lock"));
    const database = new Database(join(directory, "state.lock"), { readwrite: true });
    try {
      database.run("pragma busy_timeout = 0");
      database.run("pragma locking_mode = exclusive");
      database.run("begin exclusive");
    } catch (error) {
      database.close();
      const fault = faultOfDriverError(error);
      if (fault !== "LOCKED") throw new StateError(fault, `The data directory ${directory} cannot be locked.`, error);
      throw new StateError("LOCKED", `The data directory ${directory} is in use by ${holder(directory)}.`, error);
    }
    writeFileSync(join(directory, "state.pid"), `${process.pid}\n`, { mode: 0o600 });
    return new DirectoryLock(database);
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}

/**
 * Throws StateError LOCKED while a process holds the directory, be it one that is only just starting or still ending;
 * for who is about to take its content away. A directory that is not there is held by nobody.
 */
export function requireUnusedState(directory: string): void {
  if (existsSync(directory)) DirectoryLock.take(directory)[Symbol.dispose]();
}

function holder(directory: string): string {
  try {
    const pid = readFileSync(join(directory, "state.pid"), "utf8").trim();
    if (/^\d{1,10}$/.test(pid)) return `process ${pid}`;
  } catch {
    // The holder has the lock and has not yet written its number.
  }
  return "another process";
}

/** Makes the file readable to its owner alone. One that exists is left alone and not opened. */
export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    const exists = error instanceof Error && "code" in error && error.code === "EEXIST";
    if (!exists) throw new StateError("UNAVAILABLE", `The file ${path} cannot be created.`, error);
  }
}
