import { spawnSync } from "node:child_process";
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A file system of its own, for tests of full and of read-only disks. */
export interface SmallDisk extends Disposable {
  readonly path: string;
  /** Takes all room that is left, but for so many bytes. */
  fill(leftBytes?: number): void;
  /** Gives back what `fill` took. */
  empty(): void;
  setReadOnly(isReadOnly: boolean): void;
}

const run = (...command: readonly [string, ...string[]]): boolean =>
  spawnSync(command[0], command.slice(1), { stdio: "ignore" }).status === 0;

/** Mounts one in memory; null where this user may not mount, or the system has no tmpfs. */
export function mountSmallDisk(bytes: number): SmallDisk | null {
  const path = mkdtempSync(join(tmpdir(), "sluice-disk-"));
  if (!run("mount", "-t", "tmpfs", "-o", `size=${bytes}`, "tmpfs", path)) {
    rmdirSync(path);
    return null;
  }
  const ballast = join(path, "ballast");
  return {
    path,
    fill: (leftBytes = 0) => {
      const { bavail, bsize } = statfsSync(path);
      try {
        writeFileSync(ballast, Buffer.alloc(Math.max(0, bavail * bsize - leftBytes)));
      } catch (error) {
        // Others may write meanwhile; then it is full before its time.
        if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
      }
    },
    empty: () => rmSync(ballast, { force: true }),
    setReadOnly: (isReadOnly) => {
      if (!run("mount", "-o", `remount,${isReadOnly ? "ro" : "rw"}`, path)) throw new Error("the remount failed");
    },
    [Symbol.dispose]: () => {
      // Lazily: a process that a failed test left behind may still hold a file of it.
      run("umount", "-l", path);
      rmdirSync(path);
    },
  };
}
