import { readdirSync, readFileSync } from "node:fs";
import { treeCpu } from "../rpc/process-cpu.ts";

/** The server's process and those below it, by what they do. */
const parts = [
  ["simulations", "svm/bundles/"],
  ["chain", "devnet/chain/"],
  ["chain", "svm/bank/"],
  ["ledger", "ledger/child"],
] as const;

export type Part = "server" | (typeof parts)[number][0] | "others";

function parentOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  return Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[1]);
}

/** The part that each process below `root` is of, its own children included. */
function partsBelow(root: number): ReadonlyMap<number, Part> {
  const found = new Map<number, Part>([[root, "server"]]);
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const pid = Number(name);
      if (parentOf(pid) !== root) continue;
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
      found.set(pid, parts.find(([, words]) => command.includes(words))?.[0] ?? "others");
    } catch {
      // It ended while it was looked at.
    }
  }
  return found;
}

/** CPU µs of each part so far; the server's own process without those below it. */
export function cpuByPart(root: number): Readonly<Record<Part, number>> {
  const used: Record<Part, number> = { server: 0, simulations: 0, chain: 0, ledger: 0, others: 0 };
  for (const [pid, part] of partsBelow(root)) {
    const cpu = treeCpu(pid);
    used[part] += (part === "server" ? cpu?.root : cpu?.total) ?? 0;
  }
  return used;
}
