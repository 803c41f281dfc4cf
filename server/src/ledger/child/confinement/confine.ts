import { closeSync, openSync } from "node:fs";
import { ledgerGrants } from "./grants.ts";
import { confineFiles } from "./landlock.ts";
import { openLibc } from "./libc.ts";
import { refuseCalls } from "./seccomp.ts";

/** What the operating system was seen to refuse to this process. */
export interface Confinement {
  /** Files outside the ledger's directory, the process's sources and what it knows its machine by. */
  readonly files: boolean;
  /** Connections, other programs, and calls that reach other processes or the kernel. */
  readonly calls: boolean;
}

/**
 * Becomes the program `main`, with the ledger's directory and `words` as arguments, and only the files that the ledger
 * needs. Another start of the same program is what makes this hold for each of its threads: Landlock confines the
 * thread that asks, and Bun has several before its first line of code runs. Returns where the system cannot confine
 * files; `main` is then to be run as it is.
 *
 * @throws {Error} where the files are confined and the program could not be run: nothing else can be done then
 */
export function becomeConfined(main: string, directory: string, words: readonly string[] = []): void {
  const libc = openLibc();
  if (libc === null) return;
  libc.forbidCoreDumps();
  if (!confineFiles(libc, ledgerGrants(directory))) return;
  libc.execute(process.execPath, [process.execPath, main, directory, ...words]);
  throw new Error("The ledger's process could not be confined; LEDGER_CONFINEMENT=off starts it without");
}

/** Readable for every user of a machine, and of no use to the ledger. */
const foreignFile = "/proc/uptime";

function areFilesRefused(): boolean {
  try {
    closeSync(openSync(foreignFile, "r"));
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EACCES";
  }
}

/** Refuses what is not needed once the process serves, and tells what is refused since its start and now. */
export function confineCalls(): Confinement {
  const libc = openLibc();
  return { files: areFilesRefused(), calls: libc !== null && refuseCalls(libc) };
}
