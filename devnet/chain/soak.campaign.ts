import { readdirSync, readFileSync } from "node:fs";
import { parseJsonExact } from "@sluice/wire/json";
import { TextRandom } from "../random.ts";
import { call, post } from "./testing/boot.ts";

const entryPath = new URL("./main.ts", import.meta.url).pathname;
const slotMs = 100;
const flags = [
  "--slot-ms",
  `${slotMs}`,
  "--slots-per-epoch",
  "200",
  "--confirmed-after",
  "6",
  "--finalized-after",
  "20",
];
/** Bounds of history that the traffic reaches within two minutes, so that memory has something to be flat against. */
const bounds = ["--retain-slots", "1500", "--retain-transactions", "8000", "--traffic", "60"];
const faultEveryMs = 2_500;
/** Longest that a slot may stand still beside a freeze, which lasts 2 s at most. */
const stillMsMax = 15_000;
/** Share by which the memory of the second half may lie above that of the second quarter. */
const growthMax = 0.15;

interface Target {
  readonly rpc: string;
  readonly admin: string;
  readonly pid: number;
}

/** The observations so far, against which the rules are checked. */
interface Watch {
  slot: number;
  movedAtMs: number;
  finalized: number;
  capitalization: bigint;
  faults: number;
  readonly memory: number[];
}

async function admin(target: Target, method: string, ...params: readonly unknown[]): Promise<Record<string, unknown>> {
  const asked = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  // All lamports together are more than a double holds.
  const parsed = parseJsonExact(await (await post(target.admin, asked)).text());
  if (!parsed.ok) throw new Error(`${method} answers what is no JSON`);
  const { result, error } = parsed.value as { result?: unknown; error?: { code: number; message: string } };
  // A fork too deep, or while the node lags, is refused; anything else is a defect.
  if (error !== undefined && error.code !== -32602) throw new Error(`${method}: ${error.message}`);
  return (result ?? {}) as Record<string, unknown>;
}

function drawFault(random: TextRandom, watch: Watch): readonly [string, ...unknown[]] {
  const faults: readonly (readonly [string, ...unknown[]])[] = [
    ["devnet_skipSlots", 1 + random.below(5)],
    ["devnet_fork", { depth: 1 + random.below(6), landAgain: random.falls(0.5) }],
    ["devnet_fork", { depth: 1 + random.below(3), landAgain: random.falls(0.5) }],
    ["devnet_lag", 1 + random.below(12)],
    ["devnet_zombie", 1 + random.below(12)],
    ["devnet_advance", { slots: 1 + random.below(10) }],
    ["devnet_advance", { epochs: 1 }],
    ["devnet_prune", Math.max(0, watch.finalized - 300)],
    ["devnet_dropPubsub", { share: random.next() }],
    ["devnet_closePubsub"],
    ["devnet_slow", { ms: 20 + random.below(200), share: random.next() }],
    ["devnet_freeze", 100 + random.below(1_900)],
    ["devnet_corrupt", { share: random.next(), kind: "garbage" }],
    ["devnet_error", { share: random.next(), code: -32603 }],
    ["devnet_refuse", { connections: random.falls(0.5) }],
  ];
  return faults[random.below(faults.length)] ?? ["devnet_clear"];
}

const residentBytes = (pid: number): number => {
  const pages = Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1] ?? "0");
  return pages * 4_096;
};

function childrenOf(pid: number): number[] {
  const tasks = readdirSync(`/proc/${pid}/task`);
  return tasks.flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean).map(Number),
  );
}

/** Reads the blocks that were finalized since the last look, and what they say of lamports made and burned. */
async function issuedBy(target: Target, from: number, to: number): Promise<bigint> {
  let issued = 0n;
  const { result: slots } = (await call(target.rpc, "getBlocks", [from, to])) as { result: number[] };
  for (const slot of slots) {
    const config = { transactionDetails: "accounts", rewards: true, maxSupportedTransactionVersion: 0 };
    const { result } = (await call(target.rpc, "getBlock", [slot, config])) as {
      result: { rewards: { lamports: number }[]; transactions: { meta: { fee: number } }[] };
    };
    for (const { lamports } of result.rewards) issued += BigInt(lamports);
    for (const { meta } of result.transactions) issued -= BigInt(meta.fee);
  }
  return issued;
}

/**
 * Ends all faults and compares the chain with its own totals; returns a sentence that describes a difference, or null.
 */
async function audit(target: Target, watch: Watch): Promise<string | null> {
  await admin(target, "devnet_clear");
  const found = await admin(target, "devnet_audit");
  const slot = Number(found["slot"]);
  const [held, said] = [BigInt(String(found["lamports"])), BigInt(String(found["capitalization"]))];
  if (held !== said) return `at slot ${slot} accounts hold ${held} lamports, not ${said}`;
  if (slot < watch.finalized) return "finality moved back";
  const expected = watch.capitalization + (await issuedBy(target, watch.finalized + 1, slot));
  if (expected !== said) return `at slot ${slot} there are ${said} lamports, and the blocks account for ${expected}`;
  watch.finalized = slot;
  watch.capitalization = said;
  const pids = [target.pid, ...childrenOf(target.pid)];
  watch.memory.push(pids.reduce((sum, pid) => sum + residentBytes(pid), 0));
  return null;
}

async function moved(target: Target, watch: Watch): Promise<string | null> {
  const { slot } = await admin(target, "devnet_info");
  if (Number(slot) !== watch.slot) {
    watch.slot = Number(slot);
    watch.movedAtMs = performance.now();
  }
  return performance.now() - watch.movedAtMs > stillMsMax ? `slot ${watch.slot} is stuck` : null;
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

/** Memory of the second half against the second quarter: in the first quarter history fills up. */
function memoryFault(memory: readonly number[]): string | null {
  const quarter = memory.length >> 2;
  if (quarter < 5) return null;
  const early = median(memory.slice(quarter, 2 * quarter));
  const late = median(memory.slice(3 * quarter));
  if (late <= early * (1 + growthMax)) return null;
  return `memory grew from ${Math.round(early / 1e6)} to ${Math.round(late / 1e6)} MB`;
}

async function start(seed: number): Promise<{ target: Target; stop: () => Promise<void> }> {
  const ports = ["--rpc-port", "0", "--pubsub-port", "0", "--admin", "--exit-with-parent", "--seed", `${seed}`];
  const command = [process.execPath, entryPath, ...ports, ...flags, ...bounds];
  const child = Bun.spawn(command, { stdin: "pipe", stdout: "pipe", stderr: "inherit" });
  let line = "";
  for await (const part of child.stdout) {
    line += new TextDecoder().decode(part);
    if (line.includes("\n")) break;
  }
  const { rpc, admin: adminUrl } = JSON.parse(line) as { rpc: string; admin: string };
  const stop = async () => {
    await child.stdin.end();
    await child.exited;
  };
  return { target: { rpc, admin: adminUrl, pid: child.pid }, stop };
}

/** The soak for so many seconds: traffic, and a random fault every 2.5 s, each cleared and followed by an audit. */
export async function soak(seconds: number, seed: number): Promise<{ passed: boolean; summary: string }> {
  const random = new TextRandom(`soak ${seed}`);
  const { target, stop } = await start(seed);
  const watch: Watch = {
    slot: -1,
    movedAtMs: performance.now(),
    finalized: 0,
    capitalization: 0n,
    faults: 0,
    memory: [],
  };
  const endMs = performance.now() + seconds * 1_000;
  try {
    watch.capitalization = BigInt(String((await admin(target, "devnet_audit"))["capitalization"]));
    watch.finalized = Number((await admin(target, "devnet_info"))["finalizedSlot"]);
    while (performance.now() < endMs) {
      const fault = drawFault(random, watch);
      await admin(target, ...fault);
      watch.faults += 1;
      await Bun.sleep(faultEveryMs / 2);
      const broken = (await audit(target, watch)) ?? (await moved(target, watch));
      if (broken !== null) return { passed: false, summary: `seed ${seed}, after ${JSON.stringify(fault)}: ${broken}` };
      await Bun.sleep(faultEveryMs / 2);
    }
    const broken = memoryFault(watch.memory);
    const megabytes = [watch.memory[0] ?? 0, median(watch.memory), Math.max(...watch.memory)].map((bytes) =>
      Math.round(bytes / 1e6),
    );
    const { result: transactions } = await call(target.rpc, "getTransactionCount", []);
    const summary = `${watch.faults} faults over ${Math.round(seconds / 60)} min, slot ${watch.slot}, ${String(transactions)} transactions, memory at first, in the middle, at most: ${megabytes.join(", ")} MB`;
    return { passed: broken === null, summary: broken ?? summary };
  } finally {
    await stop();
  }
}

/** `n` minutes of it. */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  return soak(n * 60, seed);
}
