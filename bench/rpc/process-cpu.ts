import { readdirSync, readFileSync } from "node:fs";

/** Linux counts CPU time for programs in hundredths of a second. */
const microsPerTick = 10_000;

interface ProcessLine {
  readonly parent: number;
  readonly ticks: number;
}

/** The fields of /proc/<pid>/stat of a process; null when it has ended. */
function readStat(pid: number): ProcessLine | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name, in parentheses, may hold spaces; what follows it does not.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) };
  } catch {
    return null;
  }
}

export interface TreeCpu {
  /** µs of a process and all below it, utime + stime. */
  readonly total: number;
  /** µs of the process itself. */
  readonly root: number;
}

/** CPU time of a process tree; null where there is no /proc. */
export function treeCpu(root: number): TreeCpu | null {
  let pids: number[];
  try {
    pids = readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return null;
  }
  const lines = new Map<number, ProcessLine>();
  for (const pid of pids) {
    const line = readStat(pid);
    if (line !== null) lines.set(pid, line);
  }
  let ticks = 0;
  const isBelow = (pid: number): boolean => {
    for (let at = pid, steps = 0; at > 1 && steps < 64; steps += 1) {
      if (at === root) return true;
      at = lines.get(at)?.parent ?? 0;
    }
    return false;
  };
  for (const [pid, line] of lines) if (isBelow(pid)) ticks += line.ticks;
  return { total: ticks * microsPerTick, root: (lines.get(root)?.ticks ?? 0) * microsPerTick };
}
