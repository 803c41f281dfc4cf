import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FileLock } from "../state/index.ts";
import { readAdvances, removeAdvances } from "./advance-file.ts";
import type { Advance } from "./advances.ts";
import { LeftTally, Tally } from "./tally.ts";

/**
 * A file: 256 bytes of text (form, and the boot of the machine under which it was written), then entries of two
 * float64, the number of a lease account and what was spent on it. All of it is written when it is made, so that the
 * disk is not found to be full by a store to memory.
 */
const form = "sluice tally 1";
const headBytes = 256;
const entryBytes = 16;
/** Lease accounts that one process may have open, of one meter: 2 MiB. */
const entriesMax = 131_072;
const fileBytes = headBytes + entriesMax * entryBytes;

export interface TallyPlace {
  readonly directory: string;
  /** What is counted; tallies of different meters lie side by side. */
  readonly meter: string;
  /**
   * Identifies the present run of the machine's kernel, null where that is not known. What a process has stored to
   * memory outlives it, but not the machine: a tally of another run may lack its last stores.
   */
  readonly bootId: string | null;
}

const lockPath = ({ directory, meter }: TallyPlace, holder: string): string =>
  join(directory, `${meter}-${holder}.lock`);
const tallyPath = ({ directory, meter }: TallyPlace, holder: string): string =>
  join(directory, `${meter}-${holder}.tally`);
const advancesPathOf = ({ directory, meter }: TallyPlace, holder: string): string =>
  join(directory, `${meter}-${holder}.advances`);
const headOf = (bootId: string | null): string => `${form}\n${bootId ?? "unknown"}\n`;

/** The kernel's own name of its present run; null where there is none. */
export function readBootId(path = "/proc/sys/kernel/random/boot_id"): string | null {
  try {
    const id = readFileSync(path, "utf8").trim();
    return /^[0-9a-f-]{36}$/.test(id) ? id : null;
  } catch {
    return null;
  }
}

/** A tally that this process writes and locks, so that a search for dead ones passes it by. */
export interface OwnTally {
  readonly tally: Tally;
  /** Where its advances are recorded; null where nothing can be. */
  readonly advancesPath: string | null;
  /** Releases the lock; removes the file as well when it is no longer needed. */
  release(isSettled: boolean): void;
}

/** Makes a tally of one's own. Throws when the directory cannot be written to or its files not be mapped. */
export function createTally(place: TallyPlace, holder: string): OwnTally {
  mkdirSync(place.directory, { recursive: true, mode: 0o700 });
  // The lock comes first: a tally that can be seen is held, or its process is dead.
  const lock = FileLock.take(lockPath(place, holder));
  if (lock === null) throw new Error(`The tally ${holder} is held by another process.`);
  const path = tallyPath(place, holder);
  const advancesPath = advancesPathOf(place, holder);
  const remove = (): void => {
    removeAdvances(advancesPath);
    rmSync(path, { force: true });
    lock[Symbol.dispose]();
    rmSync(lockPath(place, holder), { force: true });
  };
  try {
    const bytes = Buffer.alloc(fileBytes);
    bytes.write(headOf(place.bootId), "utf8");
    writeFileSync(path, bytes, { mode: 0o600, flag: "wx" });
    const tally = new Tally(holder, mapCells(path));
    return { tally, advancesPath, release: (isSettled) => (isSettled ? remove() : lock[Symbol.dispose]()) };
  } catch (error) {
    remove();
    throw error;
  }
}

/** A tally whose process is dead; held against others who look for such. */
export interface FoundTally extends Disposable {
  /** Null when it does not prove what was spent: it is of another boot, or of another form. */
  readonly left: LeftTally | null;
  /** What the process had advanced, charged or not. */
  readonly advances: readonly Advance[];
  remove(): void;
}

/** Holders that have a file here, dead or alive. */
export function tallyHolders({ directory, meter }: TallyPlace): string[] {
  let names: string[];
  try {
    names = readdirSync(directory);
  } catch {
    return [];
  }
  const beginning = `${meter}-`;
  const holders = names
    .filter((name) => name.startsWith(beginning))
    .map((name) => /^([0-9a-f]{24})\.(?:tally|advances)$/.exec(name.slice(beginning.length))?.[1])
    .filter((holder) => holder !== undefined);
  return [...new Set(holders)];
}

/** Null while the holder lives, or another process holds its tally. Throws when it cannot be read. */
export function takeDeadTally(place: TallyPlace, holder: string): FoundTally | null {
  const lock = FileLock.take(lockPath(place, holder));
  if (lock === null) return null;
  const path = tallyPath(place, holder);
  const dispose = (): void => lock[Symbol.dispose]();
  const remove = (): void => {
    removeAdvances(advancesPathOf(place, holder));
    rmSync(path, { force: true });
    rmSync(lockPath(place, holder), { force: true });
  };
  try {
    const advances = readAdvances(advancesPathOf(place, holder));
    // Without the tally nothing proves what was spent of an advance.
    const left = advances.length > 0 && !existsSync(path) ? null : readLeft(place, path);
    return { left, advances, remove, [Symbol.dispose]: dispose };
  } catch (error) {
    // The process that had it in hand before may have removed it meanwhile.
    const isGone = error instanceof Error && "code" in error && error.code === "ENOENT";
    if (isGone) remove();
    dispose();
    if (isGone) return null;
    throw error;
  }
}

function readLeft({ bootId }: TallyPlace, path: string): LeftTally | null {
  if (bootId === null || statSync(path).size !== fileBytes) return null;
  const head = Buffer.alloc(headBytes);
  head.write(headOf(bootId), "utf8");
  const bytes = Bun.mmap(path, { shared: true });
  if (!head.equals(bytes.subarray(0, headBytes))) return null;
  return LeftTally.read(cellsOf(bytes));
}

const mapCells = (path: string): Float64Array => cellsOf(Bun.mmap(path, { shared: true }));

const cellsOf = (bytes: Uint8Array): Float64Array =>
  new Float64Array(bytes.buffer, bytes.byteOffset + headBytes, entriesMax * 2);
