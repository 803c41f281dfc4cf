/**
 * bench/rpc: the gateway's hit path and miss path beside the proxies that people put in front of nodes, in one run:
 * requests a second, latency, and CPU µs per request of each subject's process tree, medians over rounds in alternating
 * order. `npm run bench -- rpc [--rounds 5] [--seconds 2] [--connections 32] [--sluice server|rooms] [--only hit|miss]
 * [--batch 1] [--tls] [--json file]`. With --tls the node speaks TLS, and only the miss path is measured. nginx and
 * haproxy are taken where they are installed (Debian: nginx-light, haproxy).
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { authority } from "../../server/src/net/http1/client/testing/certificates.ts";
import { spawnChild } from "./child.ts";
import type { LoadPlan, LoadResult } from "./load.ts";
import { treeCpu } from "./process-cpu.ts";
import type { Place, RunningSubject, Subject } from "./subject.ts";
import { direct, fastifyProxy, haproxy, nginxCached, nginxPass, nodeHttp, sluiceForms } from "./subjects.ts";
import { printTable, type Sample, summarise } from "./table.ts";

interface Contestant {
  readonly subject: Subject;
  readonly ids: "changing" | "fixed";
  /** Said beside the name where the load differs. */
  readonly note: string;
}

interface Path {
  readonly name: "hit" | "miss";
  readonly method: string;
  readonly params: string;
  readonly contestants: readonly Contestant[];
  /** The contestant that the others are set against. */
  readonly peer: string;
}

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "2" },
    connections: { type: "string", default: "32" },
    sluice: { type: "string" },
    only: { type: "string" },
    batch: { type: "string", default: "1" },
    tls: { type: "boolean", default: false },
    json: { type: "string" },
  },
});
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const connections = Number(values.connections);
/** Calls in each request. Peers pass a batch to the node whole, and the stub answers batches. */
const batch = Number(values.batch);
const warmMs = 700;

/** Any signature will do: the stub answers all alike, and a finalized transaction is kept for minutes. */
const signature = "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW";

function pathsOf(sluice: Subject, node: Subject): Path[] {
  const changing = (subject: Subject): Contestant => ({ subject, ids: "changing", note: "" });
  return [
    {
      name: "hit",
      method: "getTransaction",
      params: `["${signature}",{"commitment":"finalized"}]`,
      contestants: [changing(sluice), { subject: nginxCached, ids: "fixed", note: " (one fixed id)" }],
      peer: nginxCached.name,
    },
    {
      name: "miss",
      method: "getLatestBlockhash",
      params: "[]",
      // The load and the two proxies of Node.js speak to plain nodes only.
      contestants: [sluice, haproxy, nginxPass, ...(values.tls ? [] : [nodeHttp, fastifyProxy, node])].map(changing),
      peer: haproxy.name,
    },
  ];
}

async function measure(path: Path, contestant: Contestant, running: RunningSubject): Promise<Sample> {
  const plan: LoadPlan = {
    port: running.port,
    path: running.path,
    headers: running.headers,
    connections,
    seconds,
    method: path.method,
    params: path.params,
    ids: contestant.ids,
    batch,
  };
  const load = spawnChild([process.execPath, join(import.meta.dir, "load.ts"), JSON.stringify(plan)]);
  await Bun.sleep(warmMs);
  const before = treeCpu(running.pid);
  load.write("start\n");
  const result: LoadResult = JSON.parse(await load.line());
  const after = treeCpu(running.pid);
  await load.stop();
  if (result.fault !== null) throw new Error(`${contestant.subject.name}: ${result.fault}`);
  if (path.name === "hit" && result.cacheStatus !== "HIT" && contestant.subject.name !== nginxCached.name) {
    throw new Error(`${contestant.subject.name}: the answers were ${result.cacheStatus || "not marked"}, not hits`);
  }
  const cpuOf = (part: "total" | "root"): number | null =>
    before === null || after === null ? null : (after[part] - before[part]) / Math.max(1, result.requests);
  return {
    requestsPerSecond: result.requests / result.seconds,
    p50Ms: result.p50Ms,
    p99Ms: result.p99Ms,
    cpuMicros: cpuOf("total"),
    rootCpuMicros: cpuOf("root"),
    loadCpuMicros: result.cpuMicrosPerRequest,
  };
}

async function runPath(path: Path, node: Omit<Place, "directory">, directory: string): Promise<unknown> {
  await using resources = new AsyncDisposableStack();
  const entries: { contestant: Contestant; running: RunningSubject; samples: Sample[] }[] = [];
  for (const contestant of path.contestants) {
    const own = mkdtempSync(join(directory, "subject-"));
    const running = await contestant.subject.start({ ...node, directory: own });
    if (running === null) {
      console.log(`${contestant.subject.name}: NOT INSTALLED, not measured`);
      continue;
    }
    resources.use(running);
    entries.push({ contestant, running, samples: [] });
  }
  for (let round = 0; round < rounds; round += 1) {
    // Every other round goes backwards, so that none always follows the same neighbour or a machine that warms up.
    for (const entry of round % 2 === 0 ? entries : entries.toReversed()) {
      entry.samples.push(await measure(path, entry.contestant, entry.running));
    }
  }
  const rows = entries.map(({ contestant, samples }) => ({
    name: contestant.subject.name,
    label: contestant.subject.name + contestant.note,
    ...summarise(samples),
  }));
  printTable(`${path.name} path (${path.method})`, rows, path.peer);
  if (path.name === "hit") {
    console.log(
      "\nnginx keys its cache by the whole body: with ids that change, as clients send them, it would never hit.",
    );
  }
  return { path: path.name, rows };
}

async function main(): Promise<void> {
  const isWhole = existsSync(join(import.meta.dir, "..", "..", "server", "src", "compose.ts"));
  const form = values.sluice === "rooms" || values.sluice === "server" ? values.sluice : isWhole ? "server" : "rooms";
  const directory = mkdtempSync(join(tmpdir(), "sluice-bench-rpc-"));
  const upstream = spawnChild([process.execPath, join(import.meta.dir, "upstream.ts"), ...(values.tls ? ["tls"] : [])]);
  const authorityFile = join(directory, "authority.pem");
  try {
    await Bun.write(authorityFile, authority);
    const { port } = JSON.parse(await upstream.line()) as { port: number };
    const processor = cpus()[0]?.model ?? "unknown processor";
    console.log(
      `${processor}, ${availableParallelism()} cores; ${rounds} rounds of ${seconds} s, ${connections} connections, ${batch === 1 ? "single calls" : `batches of ${batch}`}${values.tls ? ", a node over TLS" : ""}`,
    );
    const results: unknown[] = [];
    for (const path of pathsOf(sluiceForms[form], direct(upstream.pid))) {
      if ((values.tls ? "miss" : (values.only ?? path.name)) !== path.name) continue;
      const node = { upstreamPort: port, ...(values.tls ? { authorityFile } : {}) };
      results.push(await runPath(path, node, directory));
    }
    if (values.json !== undefined)
      await Bun.write(values.json, `${JSON.stringify({ processor, rounds, seconds, results }, null, 2)}\n`);
  } finally {
    await upstream.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

await main();
