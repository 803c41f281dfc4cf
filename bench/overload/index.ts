/**
 * bench/overload: the gateway beyond what it can do. Peak: what it answers over connections that each wait for their
 * answer. Then ten times as many calls a second as that are offered, whether answers come or not, and then half the
 * peak again. Goals: good answers during the overload at 95% of the peak, and within a second after it as before. `npm
 * run bench -- overload [--seconds 4] [--times 10] [--connections 2000] [--method getLatestBlockhash]`. haproxy stands
 * beside it where it is installed.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { spawnChild } from "../rpc/child.ts";
import { treeCpu } from "../rpc/process-cpu.ts";
import { startRooms } from "../rpc/sluice.ts";
import type { Subject } from "../rpc/subject.ts";
import { haproxy } from "../rpc/subjects.ts";
import type { OpenPlan, StageCounts, StageOrder } from "./load.ts";
import { residentMegabytes } from "./memory.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "4" },
    times: { type: "string", default: "10" },
    connections: { type: "string", default: "2000" },
    method: { type: "string", default: "getLatestBlockhash" },
    params: { type: "string", default: "[]" },
    patience: { type: "string", default: "2000" },
    only: { type: "string" },
  },
});
const seconds = Number(values.seconds);
/** Connections of the peak: enough to keep the subject busy, and no queue. */
const peakConnections = 64;

/**
 * Begins to count the CPU of a process tree; the function that it returns gives µs since. Null where the system does
 * not report it.
 */
function cpuSince(pid: number): () => number | null {
  const before = treeCpu(pid);
  return () => {
    const after = treeCpu(pid);
    return before === null || after === null ? null : after.total - before.total;
  };
}

/**
 * The cost of an answer: on cores shared with the load, answers a second alone do not show the loss of the subject.
 */
const microsEach = (micros: number | null, { good }: StageCounts): string =>
  micros === null ? "n/a" : (micros / Math.max(1, good)).toFixed(1);

const share = (micros: number | null, { seconds: lasted }: StageCounts): string =>
  micros === null ? "n/a" : `${(micros / lasted / 10_000).toFixed(0)}%`;

async function measure(subject: Subject, upstreamPort: number): Promise<readonly string[] | null> {
  const directory = mkdtempSync(join(tmpdir(), "sluice-bench-overload-"));
  await using resources = new AsyncDisposableStack();
  resources.defer(() => rmSync(directory, { recursive: true, force: true }));
  const running = await subject.start({ upstreamPort, directory });
  if (running === null) return null;
  resources.use(running);
  const plan: OpenPlan = {
    port: running.port,
    path: running.path,
    headers: running.headers,
    connectionsMax: Number(values.connections),
    patienceMs: Number(values.patience),
    method: values.method,
    params: values.params,
  };
  const load = spawnChild([process.execPath, join(import.meta.dir, "load.ts"), JSON.stringify(plan)]);
  resources.defer(() => load.stop());
  /** Begins a stage; the counts of the one before. */
  const stage = async (order: StageOrder): Promise<StageCounts> => {
    load.write(`${JSON.stringify(order)}\n`);
    return JSON.parse(await load.line()) as StageCounts;
  };
  const closed = { rate: null, connections: peakConnections };
  await stage({ stage: "warm", ...closed });
  await Bun.sleep(1_500);
  await stage({ stage: "peak", ...closed });
  const peakCpu = cpuSince(running.pid);
  await Bun.sleep(seconds * 1_000);
  const peakMicros = peakCpu();
  const peak = await stage({ stage: "pause", rate: 0, connections: 0 });
  const peakRate = peak.good / peak.seconds;
  await Bun.sleep(300);
  await stage({ stage: "overload", rate: peakRate * Number(values.times), connections: 0 });
  const overCpu = cpuSince(running.pid);
  await Bun.sleep(seconds * 1_000);
  const overMicros = overCpu();
  const memory = residentMegabytes(running.pid);
  const over = await stage({ stage: "after", rate: peakRate / 2, connections: 0 });
  await Bun.sleep(2_000);
  const after = await stage({ stage: "end", rate: 0, connections: 0 });
  const each = (count: number, counts: StageCounts): string => (count / counts.seconds).toFixed(0);
  // The first tenth of a second from which on the answers keep up with what is offered.
  const due = (peakRate / 20) * 0.8;
  const late = after.goodByTenth.slice(0, 19).findLastIndex((good) => good < due);
  return [
    peakRate.toFixed(0),
    each(over.offered + over.unoffered, over),
    each(over.good, over),
    `${((100 * over.good) / over.seconds / peakRate).toFixed(0)}%`,
    `${microsEach(peakMicros, peak)} / ${microsEach(overMicros, over)}`,
    `${share(peakMicros, peak)} / ${share(overMicros, over)}`,
    each(over.refused, over),
    each(over.abandoned, over),
    String(over.other),
    `${over.p50Ms.toFixed(0)} / ${over.p99Ms.toFixed(0)}`,
    `${((late + 1) / 10).toFixed(1)} s`,
    memory === null ? "n/a" : `${memory.toFixed(0)} MB`,
  ];
}

const upstream = spawnChild([process.execPath, join(import.meta.dir, "..", "rpc", "upstream.ts")]);
try {
  const { port } = JSON.parse(await upstream.line()) as { readonly port: number };
  const columns = [
    "subject",
    "peak good/s",
    "offered/s",
    "good/s",
    "of the peak",
    "CPU µs a good answer, peak / over",
    "of one core, peak / over",
    "refused/s",
    "given up/s",
    "other",
    "p50 / p99 ms of the good",
    "recovered after",
    "memory",
  ];
  console.log(`| ${columns.join(" | ")} |\n|---|${"---:|".repeat(columns.length - 1)}`);
  for (const subject of [{ name: "sluice (rooms)", start: startRooms }, haproxy]) {
    if (values.only !== undefined && !subject.name.startsWith(values.only)) continue;
    const cells = await measure(subject, port);
    console.log(cells === null ? `${subject.name}: NOT INSTALLED` : `| ${[subject.name, ...cells].join(" | ")} |`);
  }
} finally {
  await upstream.stop();
}
