import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const prefix = "sluice-simulation-";

/**
 * A directory for the sockets of machines that only this user may enter. It lies among temporary files, since the path of a
 * socket is short and that of a data directory need not be. What processes left that were killed is taken away first.
 */
export function socketDirectory(parent: string = tmpdir()): string {
  for (const name of readdirSync(parent)) {
    const pid = Number(/^sluice-simulation-(\d+)-/.exec(name)?.[1]);
    if (Number.isInteger(pid) && pid > 0 && !isAlive(pid)) rmSync(join(parent, name), { recursive: true, force: true });
  }
  return mkdtempSync(join(parent, `${prefix}${process.pid}-`));
}

/** Another user's process cannot be signalled, and lives. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (fault) {
    return !(fault instanceof Error && "code" in fault && fault.code === "ESRCH");
  }
}
