/**
 * bench/wallet: what wallets ask, through the gateway and beside nginx as a cache. Clients that each make the cacheable
 * calls of workload.json over and over, every call with its own id, before a node whose slots last 400 ms. Counts
 * calls that reach the node, and answers of a slot that had passed when the call was made. `npm run bench -- wallet
 * [--seconds 6]`.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { slotAt } from "../failover/slots.ts";
import { type RunningChild, spawnChild } from "../rpc/child.ts";
import { startRooms } from "../rpc/sluice.ts";
import type { RunningSubject, Subject } from "../rpc/subject.ts";
import { nginxCached } from "../rpc/subjects.ts";
import workload from "../workloads/wallet.json";

const { values } = parseArgs({ options: { seconds: { type: "string", default: "6" } } });
const seconds = Number(values.seconds);
/** Notices take their way; an answer of the slot before is right for so long after the change. */
const noticeMs = 100;

interface Counts {
  calls: number;
  failed: number;
  stale: number;
}

let nextId = 0;

async function call(running: RunningSubject, index: number, counts: Counts): Promise<void> {
  nextId += 1;
  const { method, params } = workload.calls[index] ?? { method: "", params: [] };
  const slotBefore = slotAt(Date.now() - noticeMs);
  const response = await fetch(`http://127.0.0.1:${running.port}${running.path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...running.headers },
    body: JSON.stringify({ jsonrpc: "2.0", id: nextId, method, params }),
  });
  const text = await response.text();
  counts.calls += 1;
  const slot = /"slot":(\d+)/.exec(text)?.[1];
  if (response.status !== 200 || slot === undefined) counts.failed += 1;
  else if (Number(slot) < slotBefore) counts.stale += 1;
}

async function client(running: RunningSubject, first: number, until: number, counts: Counts): Promise<void> {
  for (let turn = first; performance.now() < until; turn += 1) {
    await call(running, turn % workload.calls.length, counts);
  }
}

async function readsOf(node: RunningChild): Promise<number> {
  node.write("{}\n");
  return (JSON.parse(await node.line()) as { readonly reads: number }).reads;
}

async function measure(subject: Subject, node: RunningChild, upstreamPort: number): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), "sluice-bench-wallet-"));
  await using resources = new AsyncDisposableStack();
  resources.defer(() => rmSync(directory, { recursive: true, force: true }));
  const running = await subject.start({ upstreamPort, directory });
  if (running === null) return `${subject.name}: NOT INSTALLED, not measured`;
  resources.use(running);
  const counts: Counts = { calls: 0, failed: 0, stale: 0 };
  await client(running, 0, performance.now() + 1_000, { calls: 0, failed: 0, stale: 0 });
  const before = await readsOf(node);
  const until = performance.now() + seconds * 1_000;
  await Promise.all(Array.from({ length: workload.clients }, (_, index) => client(running, index, until, counts)));
  const asked = (await readsOf(node)) - before;
  const share = `${(100 * (1 - asked / counts.calls)).toFixed(2)}%`;
  // Each call has to be asked once a slot, by the first caller; a cache that is never stale cannot do with less.
  const least = Math.min(counts.calls, Math.ceil((seconds * 1_000) / workload.slotMs) * workload.calls.length);
  return `| ${[subject.name, counts.calls, asked, least, share, counts.stale, counts.failed].join(" | ")} |`;
}

const node = spawnChild([process.execPath, join(import.meta.dir, "..", "failover", "node.ts"), "0", "1"]);
try {
  const port = Number(await node.line());
  console.log(
    "| subject | calls | to the node | once a slot each | answered without it | of a slot that had passed | failed |",
  );
  console.log("|---|---:|---:|---:|---:|---:|---:|");
  for (const subject of [{ name: "sluice (rooms)", start: startRooms }, nginxCached]) {
    console.log(await measure(subject, node, port));
  }
} finally {
  await node.stop();
}
