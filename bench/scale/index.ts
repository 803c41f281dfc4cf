/**
 * bench/scale: what a call costs over more processes. One process on embedded stores; one on shared stores; two and
 * four workers of one host; two and four replicas. For each: calls a second, latency and CPU µs a call of its
 * processes, for a cached call and one to a node; and what a call costs PostgreSQL and Redis, in operations and in
 * CPU, from which follows where each of them is full. Medians over rounds in alternating order. `npm run bench --
 * scale [--rounds 5] [--seconds 2] [--connections 64] [--accounts 16]`. It starts stores of its own, and takes about
 * four minutes. On a machine whose cores the load shares, calls a second say little: the CPU of a call tells.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { freePortOffset, plainEnvironment, root } from "../../server/test/testing/network.ts";
import { spawnChild } from "../rpc/child.ts";
import { treeCpu } from "../rpc/process-cpu.ts";
import type { ScalePlan, ScaleResult } from "./load.ts";
import { canConnect, type Stores, type StoreWork, startStores } from "./stores.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "2" },
    connections: { type: "string", default: "64" },
    accounts: { type: "string", default: "16" },
  },
});
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const connections = Number(values.connections);
const warmMs = 1_000;

interface Shape {
  readonly name: string;
  readonly processes: number;
  readonly workers: number;
  readonly isShared: boolean;
}

const shapes: readonly Shape[] = [
  { name: "embedded, 1 process", processes: 1, workers: 1, isShared: false },
  { name: "shared, 1 process", processes: 1, workers: 1, isShared: true },
  { name: "shared, 2 workers", processes: 1, workers: 2, isShared: true },
  { name: "shared, 4 workers", processes: 1, workers: 4, isShared: true },
  { name: "shared, 2 replicas", processes: 2, workers: 1, isShared: true },
  { name: "shared, 4 replicas", processes: 4, workers: 1, isShared: true },
];

/** Any signature will do: the stub answers all alike, and a finalized transaction is kept for minutes. */
const signature = "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW";
const paths = {
  hit: { method: "getTransaction", params: `["${signature}",{"commitment":"finalized"}]` },
  miss: { method: "getLatestBlockhash", params: "[]" },
} as const;
type Path = keyof typeof paths;

interface Running {
  readonly shape: Shape;
  readonly ports: readonly number[];
  readonly pids: readonly number[];
  readonly keys: readonly string[];
}

async function startShape(
  shape: Shape,
  { directory, stores, node }: { readonly directory: string; readonly stores: Stores; readonly node: number },
  resources: AsyncDisposableStack,
): Promise<Running> {
  const name = shape.name.replaceAll(/[^a-z0-9]+/g, "_");
  const shared = shape.isShared ? await stores.environment(name) : {};
  const common = {
    ...shared,
    MASTER_KEY: "5e".repeat(32),
    ROLES: "gateway",
    NETWORK_DEFAULT: "devnet",
    GENESIS_ALLOW_UNKNOWN: "stub",
    LOG_LEVEL: "error",
    BIND: "127.0.0.1",
    WORKERS: String(shape.workers),
    UPSTREAMS_DEVNET: `stub=http://127.0.0.1:${node};ws=ws://127.0.0.1:${node}`,
  };
  const ports: number[] = [];
  const pids: number[] = [];
  let socket = "";
  for (let index = 0; index < shape.processes; index += 1) {
    const data = mkdtempSync(join(directory, "d-"));
    const offset = await freePortOffset();
    const environment = plainEnvironment({ ...common, DATA_DIR: data, PORT_OFFSET: String(offset) });
    const child = spawnChild(["sh", join(root, "bin/sluice"), "serve"], environment);
    resources.defer(() => child.stop());
    for (const until = Date.now() + 60_000; !(await canConnect(8899 + offset)); await Bun.sleep(50)) {
      if (child.isOver() || Date.now() > until) throw new Error(`${shape.name} did not start`);
    }
    socket = join(data, "sluice.sock");
    ports.push(8899 + offset);
    pids.push(child.pid);
  }
  // The socket opens after the ports.
  for (const until = Date.now() + 30_000; !(await isUp(socket)); await Bun.sleep(50)) {
    if (Date.now() > until) throw new Error(`${shape.name} takes no commands`);
  }
  const keys: string[] = [];
  for (let index = 0; index < Number(values.accounts); index += 1) keys.push(await newKey(socket, `bench ${index}`));
  return { shape, ports, pids, keys };
}

const isUp = (socket: string): Promise<boolean> =>
  fetch("http://sluice/health", { unix: socket }).then(
    ({ ok }) => ok,
    () => false,
  );

/** A key of a new account whose rate and credits never refuse. */
async function newKey(socket: string, name: string): Promise<string> {
  const ask = async (method: string, path: string, body: object): Promise<Record<string, string>> => {
    const init = { method, headers: { "content-type": "application/json" }, body: JSON.stringify(body), unix: socket };
    const answer = await fetch(`http://sluice${path}`, init);
    if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`);
    return (await answer.json()) as Record<string, string>;
  };
  const tiers = { platform: "business" };
  const { id } = await ask("POST", "/api/v1/admin/accounts", { name, tiers });
  const limits = { requests_per_second: 1_000_000, credits_monthly: "1000000000000" };
  await ask("PATCH", `/api/v1/admin/accounts/${id}`, limits);
  const { key } = await ask("POST", "/api/v1/admin/keys", { account_id: id ?? "", name: "first" });
  return key ?? "";
}

interface Sample extends ScaleResult {
  readonly cpuMicros: number;
  readonly work: StoreWork;
}

const minus = (after: StoreWork, before: StoreWork): StoreWork => ({
  transactions: after.transactions - before.transactions,
  statements: after.statements - before.statements,
  commands: after.commands - before.commands,
  postgresMicros: after.postgresMicros - before.postgresMicros,
  redisMicros: after.redisMicros - before.redisMicros,
});

/** The embedded ledger's engine is a store: its time is not the server's. */
const cpuOf = ({ shape, pids }: Running): number =>
  pids.reduce((sum, pid) => {
    const cpu = treeCpu(pid);
    return sum + (shape.isShared ? (cpu?.total ?? 0) : (cpu?.root ?? 0));
  }, 0);

async function measure(running: Running, path: Path, stores: Stores): Promise<Sample> {
  const plan: ScalePlan = { ports: running.ports, keys: running.keys, connections, seconds, ...paths[path] };
  const load = spawnChild([process.execPath, join(import.meta.dir, "load.ts"), JSON.stringify(plan)]);
  await Bun.sleep(warmMs);
  const before = await stores.work();
  const cpuBefore = cpuOf(running);
  load.write("start\n");
  const result = JSON.parse(await load.line()) as ScaleResult;
  const cpuMicros = cpuOf(running) - cpuBefore;
  const work = minus(await stores.work(), before);
  await load.stop();
  // A busy machine may answer too late for a store's limits; more than a few would make another figure of it.
  if (result.refused * 20 > result.calls) throw new Error(`${running.shape.name}, ${path}: ${result.fault}`);
  return { ...result, cpuMicros, work };
}

function median(of: readonly number[]): number {
  const sorted = of.toSorted((left, right) => left - right);
  return sorted[sorted.length >> 1] ?? Number.NaN;
}

/** What is done while nobody calls, a second. */
interface Rest {
  readonly work: StoreWork;
  /** µs of processor time of each shape's processes, by its name. */
  readonly cpuMicros: ReadonlyMap<string, number>;
}

const restSeconds = 5;

async function atRest(running: readonly Running[], stores: Stores): Promise<Rest> {
  const cpu = running.map(cpuOf);
  const before = await stores.work();
  await Bun.sleep(restSeconds * 1_000);
  const work = minus(await stores.work(), before);
  const each = Object.entries(work).map(([name, value]) => [name, value / restSeconds]);
  const micros = running.map((one, index): [string, number] => [
    one.shape.name,
    (cpuOf(one) - (cpu[index] ?? 0)) / restSeconds,
  ]);
  return { work: Object.fromEntries(each) as unknown as StoreWork, cpuMicros: new Map(micros) };
}

function print(path: Path, samples: ReadonlyMap<string, readonly Sample[]>, rest: Rest): void {
  console.log(`\n${path} (${paths[path].method})`);
  console.log(
    [
      "| processes | calls/s | p50 ms | p99 ms | CPU µs a call | CPU at rest, %",
      "PostgreSQL: statements, CPU µs a call | Redis: commands, CPU µs a call",
      "calls/s that fill one core of PostgreSQL; Redis |",
    ].join(" | "),
  );
  console.log("|---|---|---|---|---|---|---|---|---|");
  for (const { name, isShared } of shapes) {
    const of = samples.get(`${name} ${path}`) ?? [];
    const at = (read: (sample: Sample) => number): number => median(of.map(read));
    /** Without what the stores do anyway, for all shapes that are running. */
    const each = (key: keyof StoreWork): number =>
      Math.max(
        0,
        at((sample) => (sample.work[key] - rest.work[key] * sample.seconds) / sample.calls),
      );
    const ownRest = rest.cpuMicros.get(name) ?? 0;
    const figures = [
      at(({ calls, seconds: lasted }) => calls / lasted).toFixed(0),
      at(({ p50Ms }) => p50Ms).toFixed(2),
      at(({ p99Ms }) => p99Ms).toFixed(1),
      at((sample) => (sample.cpuMicros - ownRest * sample.seconds) / sample.calls).toFixed(1),
      (ownRest / 10_000).toFixed(1),
    ];
    const [postgres, redis] = [each("postgresMicros"), each("redisMicros")];
    const full = (micros: number): string => (micros < 0.01 ? "-" : Math.round(1e6 / micros).toLocaleString("en"));
    const ofStores = isShared
      ? [
          `${each("statements").toFixed(4)}, ${postgres.toFixed(2)}`,
          `${each("commands").toFixed(4)}, ${redis.toFixed(2)}`,
          `${full(postgres)}; ${full(redis)}`,
        ]
      : ["-", "-", "-"];
    console.log(`| ${[name, ...figures, ...ofStores].join(" | ")} |`);
  }
}

async function main(): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const directory = mkdtempSync(join(tmpdir(), "sluice-scale-"));
  resources.defer(() => rmSync(directory, { recursive: true, force: true }));
  Bun.spawnSync(["chmod", "755", directory]);
  const stores = await startStores(directory, resources);
  if (stores === null) {
    console.log("NOT RUN: PostgreSQL and Redis are not installed");
    return;
  }
  const upstream = spawnChild([process.execPath, join(import.meta.dir, "../rpc/upstream.ts")]);
  resources.defer(() => upstream.stop());
  const { port: node } = JSON.parse(await upstream.line()) as { port: number };
  const running: Running[] = [];
  for (const shape of shapes) running.push(await startShape(shape, { directory, stores, node }, resources));
  const rest = await atRest(running, stores);
  const samples = new Map<string, Sample[]>();
  const loads: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const each of round % 2 === 0 ? running : running.toReversed()) {
      for (const path of ["hit", "miss"] as const) {
        const name = `${each.shape.name} ${path}`;
        samples.set(name, [...(samples.get(name) ?? []), await measure(each, path, stores)]);
      }
    }
    loads.push(loadavg()[0] ?? 0);
  }
  const { accounts } = values;
  console.log(`${rounds} rounds of ${seconds} s, ${connections} connections, ${accounts} accounts; all shapes run`);
  console.log(`load of the machine after each round: ${loads.map((each) => each.toFixed(1)).join(", ")}`);
  const perSecond = `${rest.work.statements.toFixed(0)} statements and ${rest.work.commands.toFixed(0)} commands a second`;
  console.log(`the stores at rest, of all shapes together: ${perSecond}`);
  for (const path of ["hit", "miss"] as const) print(path, samples, rest);
}

await main();
