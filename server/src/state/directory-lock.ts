import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newFileError, StateError } from "./errors.ts";
import { FileLock } from "./file-lock.ts";

/**
 * Holds a data directory for this process, by a lock that ends with it. `state.pid` beside the lock only names the
 * holder in the error of a refused process; it decides nothing.
 */
export class DirectoryLock implements Disposable {
  readonly #lock: FileLock;

  private constructor(lock: FileLock) {
    this.#lock = lock;
  }

  /** Throws StateError LOCKED at once, naming the directory and the process that holds it. The directory must exist. */
  static take(directory: string): DirectoryLock {
    const lock = FileLock.take(join(directory, "state.lock"));
    if (lock === null) {
      throw new StateError("LOCKED", `The data directory ${directory} is in use by ${holder(directory)}.`);
    }
    const path = join(directory, "state.pid");
    try {
      writeFileSync(path, `${process.pid}\n`, { mode: 0o600 });
    } catch (error) {
      lock[Symbol.dispose]();
      throw newFileError(`The file ${path} cannot be written`, error);
    }
    return new DirectoryLock(lock);
  }

  [Symbol.dispose](): void {
    this.#lock[Symbol.dispose]();
  }
}

/**
 * Throws StateError LOCKED while a process holds the directory, also one that is starting or ending; for a caller that
 * is about to move its content. A missing directory is not held.
 */
export function requireUnusedState(directory: string): void {
  if (existsSync(directory)) DirectoryLock.take(directory)[Symbol.dispose]();
}

/**
 * Holds the directory, which is made where it is missing, so that no process opens a database in it meanwhile.
 * @throws {StateError} LOCKED
 */
export function holdState(directory: string): Disposable {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return DirectoryLock.take(directory);
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
