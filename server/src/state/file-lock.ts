import { Database } from "bun:sqlite";
import { closeSync, openSync } from "node:fs";
import { codeOfDriverError, newFileError, newLockError } from "./errors.ts";

/**
 * Holds a file for this process. The lock is the operating system's, taken by SQLite on an empty file, so it ends with
 * the process however that ends and cannot become stale.
 *
 * The file is never opened by other means: closing any descriptor of a file drops all of a process's POSIX locks on it.
 */
export class FileLock implements Disposable {
  readonly #database: Database;

  private constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Creates the file when it is missing. Null while another process holds it; throws StateError when it cannot be
   * locked.
   */
  static take(path: string): FileLock | null {
    createPrivateFile(path);
    return FileLock.takeExisting(path);
  }

  /** As `take`; a file that is not there cannot be locked. */
  static takeExisting(path: string): FileLock | null {
    let database: Database | null = null;
    try {
      database = new Database(path, { readwrite: true });
      database.run("pragma busy_timeout = 0");
      database.run("pragma locking_mode = exclusive");
      database.run("begin exclusive");
      return new FileLock(database);
    } catch (error) {
      database?.close();
      if (codeOfDriverError(error) === "LOCKED") return null;
      throw newLockError(path, error);
    }
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}

/** Makes the file readable to its owner alone. One that exists is left alone and not opened. */
export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    const exists = error instanceof Error && "code" in error && error.code === "EEXIST";
    if (!exists) throw newFileError(`The file ${path} cannot be created`, error);
  }
}
