/**
 * bench/webhooks: deliveries of webhooks from the commit of their rows to the receiver's answer and the commit of its
 * outcome, in one process on SQLite, over HTTPS with verified certificates and both signatures. The receiver is a
 * process of its own on the same machine, whose CPU is told apart. `rate`: as many as go through; `pace`: a low rate,
 * for the time from commit to the first byte at the receiver; `isolation`: the same while one endpoint in ten hangs;
 * `block`: from the moment that a confirmed block is in the log, over the scheduler and the worker, to the first byte.
 * `npm run bench -- webhooks [--only rate,pace,isolation,block] [--deliveries 20000] [--webhooks 20] [--ledger]
 * [--transactions 1000]`.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { systemClock, systemRandom } from "@sluice/lib";
import { eventually } from "@sluice/lib/testing";
import { openLedger } from "../../server/src/ledger/index.ts";
import { newAuthority } from "../../server/src/net/tls/testing/private-authority.ts";
import { createLog, createMetrics } from "../../server/src/observe/index.ts";
import { openWebhookState, type WebhookState } from "../../server/src/state/testing/webhook-state.ts";
import {
  createDeliveryEvents,
  type DeliveryDependencies,
  LedgerAttempts,
  openReceivers,
  WebhookWorker,
} from "../../server/src/webhooks/index.ts";
import { ordersOf } from "../orders.ts";
import { openBlocks, watchedAccount } from "./blocks.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "rate,pace,isolation,block" },
    deliveries: { type: "string", default: "20000" },
    webhooks: { type: "string", default: "20" },
    seconds: { type: "string", default: "8" },
    transactions: { type: "string", default: "1000" },
    ledger: { type: "boolean", default: false },
  },
});
const chosen = values.only.split(",");
const webhookCount = Number(values.webhooks);
/** Between two blocks, as on Solana's main chain. */
const blockMs = 400;
const firstSlot = 101;
const warmUpBlocks = 3;
const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
/** As long as the data of a transaction with two instructions. */
const data = JSON.stringify({
  signature: "5".repeat(88),
  log_messages: Array.from({ length: 12 }, () => "x".repeat(60)),
});

interface Arrived {
  readonly arrivals: readonly (readonly [string, number])[];
  readonly cpuMs: number;
  readonly badSignatures: number;
}

interface Bench {
  readonly opened: WebhookState;
  readonly worker: WebhookWorker;
  readonly port: number;
  report(): Promise<Arrived>;
}

const nowMs = (): number => performance.timeOrigin + performance.now();
const log = createLog({ level: "warn" });
const directory = mkdtempSync(join(tmpdir(), "sluice-bench-webhooks-"));
const authority = await newAuthority(directory);
const files = await authority.server("hooks", ["hooks.example"]);
const receiver = Bun.spawn(
  [process.execPath, join(import.meta.dir, "receiver.ts"), files.certificate, files.key, secret],
  {
    stdio: ["pipe", "pipe", "inherit"],
  },
);
const said = ordersOf<{ readonly port: number } & Arrived>(receiver.stdout);
const next = async () => {
  const { value, done } = await said.next();
  if (done === true) throw new Error("the receiver has ended");
  return value;
};
const { port } = await next();
const report = async (): Promise<Arrived> => {
  receiver.stdin.write(`${JSON.stringify({ report: true })}\n`);
  receiver.stdin.flush();
  return await next();
};

const opened = await openWebhookState(null, systemClock);
const ledger = values.ledger
  ? await openLedger(
      { directory: join(directory, "ledger"), clickhouseUrl: null, cluster: null },
      { clock: systemClock, log },
    )
  : null;
const events = createDeliveryEvents({ log, metrics: createMetrics() });
const attempts = new LedgerAttempts(
  { worker: "bench" },
  {
    store: opened.state.webhookDeliveries,
    ledger: ledger ?? { insert: async () => undefined },
    clock: systemClock,
    events,
  },
);
/** Attempts that did not succeed, such as exchanges that took more than 5 seconds. */
let failed = 0;
/** What deliveries say; of blocks while those are measured. */
let bodies: DeliveryDependencies["bodies"] = {
  read: async ({ slot }) => ({ atMs: 1_790_000_000_000 + Number(slot), data, detail: null }),
};
const dependencies: DeliveryDependencies = {
  clock: systemClock,
  random: systemRandom,
  log,
  store: opened.state.webhookDeliveries,
  webhooks: opened.state.webhooks,
  bodies: { read: (...of) => bodies.read(...of) },
  charges: { take: () => true, refund: () => undefined },
  secrets: { signing: () => ({ present: secret, next: [], untilMs: null }) },
  openEndpoint: openReceivers(
    { allowHttp: false, allowedRanges: ["127.0.0.0/8"], authorities: [readFileSync(authority.caFile, "utf8")] },
    { clock: systemClock, resolver: { addressesOf: async () => ["127.0.0.1"] } },
  ),
  attempts,
  events: {
    ...events,
    attempted: (of) => {
      if (of.outcome !== "delivered") failed += 1;
      events.attempted(of);
    },
  },
  rateOf: () => null,
};
const worker = new WebhookWorker({ worker: "bench", networks: () => ["devnet"], leaseMs: 10_000 }, dependencies);
await worker.start();
const bench: Bench = { opened, worker, port, report };

const urlOf = (path = ""): string => `https://hooks.example:${port}/${path}`;
const percentile = (sorted: readonly number[], part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;

async function waiting(ids: readonly string[]): Promise<number> {
  const queues = await bench.opened.state.webhooks.queues(ids);
  return queues.reduce((sum, queue) => sum + queue.waiting, 0);
}

/** Rows as a scheduler commits them, handed over in memory. */
async function commit(ids: readonly string[], each: number, slot: bigint, at?: Map<string, number>): Promise<void> {
  for (const id of ids) {
    const rows = await bench.opened.add(
      id,
      Array.from({ length: each }, (_, ordinal) => ({ slot, ordinal })),
    );
    const now = nowMs();
    for (const { deliveryId } of rows) at?.set(deliveryId, now);
    bench.worker.appended(rows);
  }
}

async function rate(): Promise<void> {
  const total = Number(values.deliveries);
  const webhooks = [];
  for (let at = 0; at < webhookCount; at += 1) webhooks.push(await opened.createWebhook({ url: urlOf() }));
  const ids = webhooks.map(({ id }) => id);
  await commit(ids, 20, 1n);
  await eventually("the first deliveries", async () => (await waiting(ids)) === 0);
  await report();
  const each = 50;
  const cpuBefore = process.cpuUsage();
  const began = performance.now();
  for (let made = 0, slot = 2n; made < total; made += each * ids.length, slot += 1n) {
    await commit(ids, each, slot);
    // As a scheduler waits for queues that are full.
    while ((await waiting(ids)) > 8_000) await Bun.sleep(5);
  }
  await eventually("all deliveries", async () => (await waiting(ids)) === 0, 120_000);
  const seconds = (performance.now() - began) / 1_000;
  const { user, system } = process.cpuUsage(cpuBefore);
  const { arrivals, cpuMs, badSignatures } = await report();
  const own = (user + system) / 1_000;
  const unique = new Set(arrivals.map(([id]) => id)).size;
  const [ownEach, receiverEach] = [own, cpuMs].map((ms) => Math.round((ms * 1_000) / unique));
  console.log(
    `rate: ${Math.round(unique / seconds)} deliveries/s (${unique} in ${seconds.toFixed(1)} s, ` +
      `${arrivals.length - unique} twice after ${failed} attempts that failed, ${badSignatures} bad signatures); ` +
      `CPU a delivery: own ${ownEach} µs, receiver ${receiverEach} µs`,
  );
}

async function paced(name: string, hanging: number): Promise<number> {
  const ids: string[] = [];
  for (let at = 0; at < webhookCount; at += 1) ids.push((await opened.createWebhook({ url: urlOf() })).id);
  const bad: string[] = [];
  for (let at = 0; at < hanging; at += 1) bad.push((await opened.createWebhook({ url: urlOf("hang") })).id);
  await commit(ids, 2, 1n);
  await eventually("the first deliveries", async () => (await waiting(ids)) === 0);
  await report();
  const at = new Map<string, number>();
  const end = performance.now() + Number(values.seconds) * 1_000;
  for (let slot = 2n; performance.now() < end; slot += 1n) {
    const turn = performance.now();
    await commit(bad, 2, slot);
    await commit(ids, 2, slot, at);
    await Bun.sleep(Math.max(0, 100 - (performance.now() - turn)));
  }
  await eventually("all deliveries", async () => (await waiting(ids)) === 0, 60_000);
  const { arrivals } = await report();
  const delays = arrivals.flatMap(([id, time]) => (at.has(id) ? [time - (at.get(id) ?? 0)] : [])).sort((a, b) => a - b);
  const p99 = percentile(delays, 0.99);
  console.log(
    `${name}: ${delays.length} deliveries to ${ids.length} endpoints, ${hanging} hang; commit to receiver p50 ` +
      `${percentile(delays, 0.5).toFixed(2)} ms, p99 ${p99.toFixed(2)} ms, max ${(delays.at(-1) ?? 0).toFixed(1)} ms`,
  );
  return p99;
}

/** Each block has one transaction for each webhook, and `block.confirmed` for all of them. */
async function block(): Promise<void> {
  const [transactions, watched] = [Number(values.transactions), webhookCount];
  for (let at = 0; at < watched; at += 1) {
    const filters = JSON.stringify({ account_include: [watchedAccount(at)] });
    await opened.createWebhook({ url: urlOf(), events: ["transaction.confirmed", "block.confirmed"], filters });
  }
  await using blocks = await openBlocks({ opened, worker, log, transactions, watched });
  bodies = blocks.bodies;
  const arrivals = new Map<string, number>();
  const collect = async (): Promise<number> => {
    for (const [id, time] of (await report()).arrivals) if (blocks.slotOf(id) !== null) arrivals.set(id, time);
    return arrivals.size;
  };
  const at = new Map<number, number>();
  const count = Math.ceil((Number(values.seconds) * 1_000) / blockMs);
  const appends = Array.from({ length: count }, (_, index) => blocks.prepare(firstSlot + index));
  for (const [index, append] of appends.entries()) {
    const turn = performance.now();
    at.set(firstSlot + index, nowMs());
    await append();
    await Bun.sleep(Math.max(0, blockMs - (performance.now() - turn)));
  }
  const expected = count * watched * 2;
  await eventually("all deliveries", async () => (await collect()) >= expected, 120_000);
  const delays = [...arrivals]
    .flatMap(([id, time]) => {
      const slot = blocks.slotOf(id) ?? -1;
      // The first blocks open the connections.
      return slot < firstSlot + warmUpBlocks ? [] : [time - (at.get(slot) ?? time)];
    })
    .sort((one, other) => one - other);
  console.log(
    `block: ${count} blocks of ${transactions + watched} transactions, one in ${blockMs} ms, ${delays.length} deliveries ` +
      `to ${watched} webhooks; block in the log to first byte p50 ${percentile(delays, 0.5).toFixed(1)} ms, ` +
      `p99 ${percentile(delays, 0.99).toFixed(1)} ms, max ${(delays.at(-1) ?? 0).toFixed(1)} ms (goal: p99 500 ms)`,
  );
}

if (chosen.includes("rate")) await rate();
if (chosen.includes("pace")) await paced("pace", 0);
if (chosen.includes("isolation")) {
  const alone = await paced("isolation, none hangs", 0);
  const beside = await paced("isolation, one in ten hangs", Math.max(1, Math.round(webhookCount / 10)));
  console.log(`isolation: p99 of the others ${(100 * (beside / alone - 1)).toFixed(0)}% higher`);
}
if (chosen.includes("block")) await block();
await worker[Symbol.asyncDispose]();
await attempts[Symbol.asyncDispose]();
await ledger?.[Symbol.asyncDispose]();
await opened[Symbol.asyncDispose]();
receiver.stdin.end();
await receiver.exited;
rmSync(directory, { recursive: true });
