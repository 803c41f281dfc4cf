import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const prefix = "sluice-machine-";

/**
 * Creates a directory for the socket of a machine that only this user may enter. It lies among temporary files, since the
 * path of a socket is short and that of a data directory need not be. Directories of processes that no longer exist are
 * removed first.
 */
export function socketDirectory(parent: string = tmpdir()): string {
  for (const name of readdirSync(parent)) {
    const pid = Number(/^sluice-machine-(\d+)-/.exec(name)?.[1]);
    if (Number.isInteger(pid) && pid > 0 && !isAlive(pid)) rmSync(join(parent, name), { recursive: true, force: true });
  }
  return mkdtempSync(join(parent, `${prefix}${process.pid}-`));
}

/** A process of another user cannot be signalled, and lives. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}
