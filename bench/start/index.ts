/**
 * bench/start: how long `npm start` takes until every endpoint answers, on an empty directory and on one that was used,
 * and what memory it takes idle, by part. `npm run bench -- start [rounds]`; a round takes about 20 seconds.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { descendants, type Network, startNetwork } from "../../server/test/testing/network.ts";

const rounds = Math.max(1, Number(process.argv[2] ?? 5));
const idleMs = 10_000;

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

interface Memory {
  readonly rssMb: number;
  /** The process's own share of what it shares with others. */
  readonly pssMb: number;
}

function memoryOf(pid: number): Memory {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const read = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(text)?.[1] ?? 0) / 1024;
  return { rssMb: read("Rss"), pssMb: read("Pss") };
}

function partOf(pid: number): string {
  const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  if (words.some((word) => word.includes("/svm/"))) return "machines";
  if (words.some((word) => word.includes("devnet/chain"))) return "chain";
  if (words.some((word) => word.includes("devnet/market"))) return "market";
  if (words.some((word) => word.includes("ledger/child"))) return "ledger";
  return words.some((word) => word.endsWith("main.ts")) ? "server" : "other";
}

/** Starts, and answers how long it took until the gateway answered a call that passes through to the chain. */
async function timedStart(directory: string): Promise<{ network: Network; ms: number }> {
  const startedAt = performance.now();
  const network = await startNetwork({ directory, keep: true });
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "getSlot" });
  const answer = await fetch(network.rpcUrl, { method: "POST", headers: { "content-type": "application/json" }, body });
  if (answer.status !== 200) throw new Error(`the gateway answered with ${answer.status}`);
  return { network, ms: performance.now() - startedAt };
}

const first: number[] = [];
const warm: number[] = [];
const memory = new Map<string, Memory[]>();
for (let round = 0; round < rounds; round++) {
  const directory = mkdtempSync(join(tmpdir(), "sluice-bench-"));
  const fresh = await timedStart(directory);
  first.push(fresh.ms);
  await fresh.network.end("SIGTERM");
  const again = await timedStart(directory);
  warm.push(again.ms);
  await Bun.sleep(idleMs);
  for (const pid of [again.network.process.pid, ...descendants(again.network.process.pid)]) {
    const part = partOf(pid);
    memory.set(part, [...(memory.get(part) ?? []), memoryOf(pid)]);
  }
  await again.network.end("SIGTERM");
  rmSync(directory, { recursive: true, force: true });
}

console.log(`${rounds} rounds, medians`);
console.log(`start to answer, empty directory  ${median(first).toFixed(0)} ms`);
console.log(`start to answer, used directory   ${median(warm).toFixed(0)} ms`);
console.log(`\nidle for ${idleMs / 1000} s     RSS MB   PSS MB`);
let [rss, pss] = [0, 0];
for (const [part, samples] of [...memory].toSorted()) {
  const [partRss, partPss] = [median(samples.map((each) => each.rssMb)), median(samples.map((each) => each.pssMb))];
  rss += partRss;
  pss += partPss;
  console.log(`${part.padEnd(16)} ${partRss.toFixed(0).padStart(8)} ${partPss.toFixed(0).padStart(8)}`);
}
console.log(`${"all".padEnd(16)} ${rss.toFixed(0).padStart(8)} ${pss.toFixed(0).padStart(8)}`);
