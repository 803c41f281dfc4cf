import { copyFileSync, linkSync, mkdirSync, renameSync, rmSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Clock, sleep } from "@sluice/lib";
import { stringLiteral } from "./child/statement.ts";
import type { LedgerConnection } from "./connection.ts";
import { LedgerQueryError } from "./errors.ts";

/** The only folder that the engine may write copies to and read them from; in the directory of the ledger. */
export const archiveFolder = "backups";

interface ArchiveTerms {
  readonly connection: Pick<LedgerConnection, "query">;
  readonly clock: Clock;
  /** The directory of the embedded ledger, an absolute path. */
  readonly directory: string;
}

/** What the engine needs beside the data: its own files, and parts that it merges. */
const spareBytes = 8 * 1024 ** 2;

/**
 * A disk without room, as the system would say it. The engine itself tells a copy that found none as a damaged one, or
 * as one that another process writes.
 */
class NoRoomError extends Error {
  readonly code = "ENOSPC";
  readonly syscall = "statfs";
}

/** @throws {NoRoomError} where the disk of a directory has not so many bytes left, and some to spare */
function requireRoom(directory: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(directory);
  const [needed, left] = [bytes + spareBytes, bavail * bsize];
  if (left < needed) throw new NoRoomError(`A copy of the ledger needs ${needed} bytes, and the disk has ${left} left`);
}

const pollMs = 50;
const archiveName = "copy.tar";

/**
 * Writes a copy of the whole database, as it is at its beginning, into the file `path`, which does not exist. It takes
 * the room of the ledger a second time.
 *
 * @throws {Error} ENOSPC where the disk of the ledger has no room for it
 * @throws {LedgerQueryError} where the engine cannot write it; nothing is left then
 */
export async function writeArchive(terms: ArchiveTerms, path: string): Promise<void> {
  const inside = prepare(terms.directory);
  const sql = "SELECT toString(sum(bytes_on_disk)) AS bytes FROM system.parts WHERE active AND database = 'sluice'";
  const [stored] = await terms.connection.query<{ readonly bytes: string }>(sql);
  requireRoom(terms.directory, Number(stored?.bytes ?? 0));
  try {
    await run(terms, `BACKUP DATABASE sluice TO File(${stringLiteral(inside)}) ASYNC`);
    move(inside, path);
  } finally {
    rmSync(inside, { force: true });
  }
}

/**
 * Reads a copy into an engine that has no database.
 *
 * @throws {Error} ENOSPC where the disk of the ledger has no room for it
 * @throws {LedgerQueryError} for a copy that is damaged
 */
export async function readArchive(terms: ArchiveTerms, path: string): Promise<void> {
  const inside = prepare(terms.directory);
  const { size, dev } = statSync(path);
  // From another disk it is there twice until it is read.
  requireRoom(terms.directory, dev === statSync(terms.directory).dev ? size : 2 * size);
  try {
    linkOrCopy(path, inside);
    await run(terms, `RESTORE DATABASE sluice FROM File(${stringLiteral(inside)}) ASYNC`);
  } finally {
    rmSync(inside, { force: true });
  }
}

function prepare(directory: string): string {
  const folder = join(directory, archiveFolder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, archiveName);
  // Of a process that was killed.
  rmSync(path, { force: true });
  return path;
}

interface Progress {
  readonly status: string;
  readonly error: string;
}

/** In the background, since a call has a deadline and a copy none. */
async function run({ connection, clock }: ArchiveTerms, statement: string): Promise<void> {
  const [begun] = await connection.query<{ readonly id: string }>(statement, {}, {}, { database: "default" });
  if (begun === undefined) throw new LedgerQueryError(0, "the engine began no copy");
  const sql = "SELECT toString(status) AS status, error FROM system.backups WHERE id = {id:String}";
  for (;;) {
    const found = await connection.query<Progress>(sql, { id: begun.id }, {}, { database: "default" });
    const { status, error } = found[0] ?? { status: "LOST", error: "the engine was restarted meanwhile" };
    if (status === "BACKUP_CREATED" || status === "RESTORED") return;
    if (!["CREATING_BACKUP", "RESTORING"].includes(status)) {
      const [code = ""] = /\d+/.exec(error) ?? [];
      throw new LedgerQueryError(Number(code), error.split(", Stack trace")[0] ?? error);
    }
    await sleep(clock, pollMs);
  }
}

function move(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!isOtherDisk(error)) throw error;
    copyFileSync(from, to);
  }
}

function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    // Another disk, or a file system without links.
    copyFileSync(from, to);
  }
}

const isOtherDisk = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "EXDEV";
