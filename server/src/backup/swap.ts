import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FileLock } from "../state/index.ts";
import { syncPath } from "./files.ts";
import { BackupError } from "./manifest.ts";

/** What a restore has decided to do, written before it does it. */
interface Journal {
  readonly form: "sluice restore 1";
  readonly id: string;
  /** Whether the state goes into PostgreSQL, whose commit then decides. */
  readonly database: boolean;
  readonly parts: readonly string[];
}

const journalPath = (directory: string): string => join(directory, "restore.json");
export const stagingOf = (directory: string): string => join(directory, "restore");
export const replacedOf = (directory: string, id: string): string => join(directory, `replaced-${id}`);

/** One restore at a time; held by the process that works on it. */
export function lockRestore(directory: string): FileLock {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const lock = FileLock.take(join(directory, "restore.lock"));
  if (lock === null) throw new BackupError("IN_USE", `A restore into ${directory} is under way.`);
  return lock;
}

/** From here on the restore is completed, by whoever comes next; with `database` if PostgreSQL has it. */
export function writeJournal(directory: string, journal: Omit<Journal, "form">): void {
  const path = journalPath(directory);
  const content: Journal = { form: "sluice restore 1", ...journal };
  writeFileSync(`${path}.partial`, JSON.stringify(content), { mode: 0o600, flush: true });
  renameSync(`${path}.partial`, path);
  syncPath(directory);
}

function readJournal(directory: string): Journal | null {
  const path = journalPath(directory);
  if (!existsSync(path)) return null;
  // It is renamed into its place when it is on disk, so it is whole.
  return JSON.parse(readFileSync(path, "utf8"));
}

/** Puts what was prepared into its place and what was there aside. May be begun again after any end. */
export function completeSwap(directory: string): void {
  const journal = readJournal(directory);
  if (journal === null) return;
  const [staging, replaced] = [stagingOf(directory), replacedOf(directory, journal.id)];
  mkdirSync(replaced, { recursive: true, mode: 0o700 });
  for (const part of journal.parts) {
    const [from, to] = [join(staging, part), join(directory, part)];
    if (!existsSync(from)) continue;
    if (existsSync(to)) renameSync(to, join(replaced, part));
    syncPath(replaced);
    renameSync(from, to);
    syncPath(directory);
  }
  forget(directory);
}

/** Takes back what was prepared. */
export function forget(directory: string): void {
  rmSync(journalPath(directory), { force: true });
  syncPath(directory);
  rmSync(stagingOf(directory), { recursive: true, force: true });
}

/**
 * Completes a restore that was interrupted after its decision, or takes it back where the database does not have it.
 * `wasCommitted` asks the database; null where the state is in the directory. `isLocked` where the caller has the lock.
 *
 * @throws {BackupError} IN_USE while the restore runs, or where the state was to go into a database that is not named
 */
export async function settleInterrupted(
  directory: string,
  wasCommitted: ((id: string) => Promise<boolean>) | null,
  { isLocked = false }: { readonly isLocked?: boolean } = {},
): Promise<void> {
  if (!existsSync(journalPath(directory))) return;
  using _lock = isLocked ? null : lockRestore(directory);
  const journal = readJournal(directory);
  if (journal === null) return;
  if (journal.database && wasCommitted === null) {
    const sentence = "A restore into PostgreSQL was interrupted here, and DATABASE_URL is not set.";
    throw new BackupError("IN_USE", `${sentence} Set it, or run the restore again.`);
  }
  const isDecided = !journal.database || (await wasCommitted?.(journal.id)) === true;
  if (isDecided) completeSwap(directory);
  else forget(directory);
}
