/**
 * bench/devnet-index: what the development chain's look-ups take on a million accounts and a million transactions,
 * through its own RPC dispatcher, beside the same answers found by reading everything. Each subject has a process of
 * its own and they take turns; times are of the call alone, text in to text out. `npm run bench -- devnet-index
 * [rounds]`; five rounds take about three minutes and 4 GB, most of it the peer's objects.
 */
import { join } from "node:path";
import { shapes } from "./shapes.ts";
import type { Filled, Task, TaskAnswer } from "./subject.ts";
import { sizes } from "./world.ts";

const rounds = Math.max(1, Number(process.argv[2] ?? 5));
const callsOfOurs = 40;
const callsOfPeer = 2;

interface Subject {
  readonly filled: Filled;
  ask(task: Task): Promise<TaskAnswer>;
  end(): void;
}

async function start(name: "ours" | "linear"): Promise<Subject> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "subject.ts"), name], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).values();
  let waiting = "";
  const line = async (): Promise<string> => {
    while (!waiting.includes("\n")) {
      const part = await lines.next();
      if (part.done) throw new Error(`${name} ended`);
      waiting += part.value;
    }
    const end = waiting.indexOf("\n");
    const first = waiting.slice(0, end);
    waiting = waiting.slice(end + 1);
    return first;
  };
  const filled = JSON.parse(await line()) as Filled;
  return {
    filled,
    async ask(task) {
      child.stdin.write(`${JSON.stringify(task)}\n`);
      child.stdin.flush();
      return JSON.parse(await line()) as TaskAnswer;
    },
    end: () => child.kill(),
  };
}

const quantile = (times: readonly number[], share: number): number =>
  times.toSorted((left, right) => left - right)[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;

const ours = await start("ours");
const { filled } = ours;
const ofAccounts = filled.bytesWithAccounts - filled.bytesAtStart;
const ofHistory = filled.bytesWithAll - filled.bytesWithAccounts;
console.log(`at start ${megabytes(filled.bytesAtStart)} resident`);
console.log(
  `${filled.accounts} accounts: ${megabytes(ofAccounts)}, ${(ofAccounts / filled.accounts).toFixed(0)} bytes each`,
);
console.log(
  `${filled.transactions} transactions: ${megabytes(ofHistory)}, ${(ofHistory / filled.transactions).toFixed(0)} bytes each, ${filled.appendMicroseconds.toFixed(1)} µs CPU to append one`,
);
const peer = await start("linear");
console.log(`the peer's objects: ${megabytes(peer.filled.bytesWithAll - peer.filled.bytesAtStart)}\n`);

const found = shapes.map((shape) => ({ shape, built: 0, ours: [] as number[], peer: [] as number[] }));
for (const [shape, each] of found.entries()) {
  const [mine, theirs] = [await ours.ask({ shape, first: 1, calls: 1 }), await peer.ask({ shape, first: 1, calls: 1 })];
  if (mine.digest !== theirs.digest) throw new Error(`${each.shape.method}, ${each.shape.what}: the answers differ`);
  const second = await ours.ask({ shape, first: 2, calls: 1 });
  each.built = Math.max(mine.times[0] ?? 0, second.times[0] ?? 0);
}
for (let round = 0; round < rounds; round++) {
  for (const [shape, each] of found.entries()) {
    for (const who of round % 2 === 0 ? (["ours", "peer"] as const) : (["peer", "ours"] as const)) {
      const calls = who === "ours" ? callsOfOurs : callsOfPeer;
      const task = { shape, first: 3 + round * calls, calls };
      each[who].push(...(await (who === "ours" ? ours : peer).ask(task)).times);
    }
  }
}
console.log(
  `${rounds} rounds of ${callsOfOurs} calls; ms: p50 | p99 | the slower of the first two | reading all, p50 | ratio`,
);
for (const { shape, built, ours: mine, peer: theirs } of found) {
  const [p50, p99, all] = [quantile(mine, 0.5), quantile(mine, 0.99), quantile(theirs, 0.5)];
  const figures = [p50.toFixed(3), p99.toFixed(2), built.toFixed(1), all.toFixed(1), (all / p50).toFixed(0)];
  console.log(`${shape.method}: ${shape.what} | ${figures.join(" | ")}`);
}
for (const [name, subject] of [
  ["ours", ours],
  ["reading all", peer],
] as const) {
  const { times, bytes } = await subject.ask({ shape: "everything", first: 0, calls: 1 });
  const seconds = ((times[0] ?? 0) / 1_000).toFixed(2);
  console.log(`all ${sizes.customAccounts} of a program, ${megabytes(bytes)} of text, ${name}: ${seconds} s`);
  subject.end();
}
