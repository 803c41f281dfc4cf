/**
 * bench/names: the resolver beside a bare Bun.serve that answers the same JSON, each in a separate process, at 5,000
 * requests a second of names it knows; and the cost of a name that it does not know over the bare RPC call. Rounds
 * alternate; medians of five. It takes about 45 seconds: `npm run bench -- names`.
 */
import { join } from "node:path";
import { Connections } from "./connections.ts";
import { coldEach, coldName, hotNames, rounds } from "./workload.ts";

const perSecond = 5_000;
const settleMs = 500;
const loadMs = 3_000;

interface Part extends Disposable {
  readonly url: string;
}

async function start(...roleAndUrl: string[]): Promise<Part> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "part.ts"), ...roleAndUrl], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const { value } = await child.stdout.getReader().read();
  const { url } = JSON.parse(new TextDecoder().decode(value)) as { url: string };
  return { url, [Symbol.dispose]: () => void child.stdin.end() };
}

const quantile = (sorted: ArrayLike<number>, q: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
const median = (values: readonly number[]): number =>
  quantile(
    values.toSorted((a, b) => a - b),
    0.5,
  );

async function cpuMicros(url: string): Promise<number> {
  return ((await (await fetch(`${url}/cpu`)).json()) as { cpuMicros: number }).cpuMicros;
}

async function timed(url: string, init?: RequestInit): Promise<number> {
  const start = performance.now();
  const response = await fetch(url, init);
  const text = await response.text();
  if (response.status !== 200 || !text.includes("owner")) throw new Error(`${url}: ${response.status} ${text}`);
  return performance.now() - start;
}

interface Load {
  readonly p50: number;
  readonly p99: number;
  readonly rate: number;
  readonly cpu: number;
}

/** Sends at a fixed rate for a while, whatever comes back; gives how many were sent. */
async function pace(connections: Connections, durationMs: number): Promise<number> {
  const start = performance.now();
  let sent = 0;
  for (let elapsed = 0; elapsed < durationMs; elapsed = performance.now() - start) {
    const due = Math.floor((elapsed / 1_000) * perSecond);
    for (; sent < due; sent++) connections.send(`/resolve/${hotNames[sent % hotNames.length]}`);
    await Bun.sleep(1);
  }
  await connections.settled();
  return sent;
}

/** Each latency is from the send to the last byte, as this process sees it. */
async function load(url: string): Promise<Load> {
  using connections = new Connections(url);
  await connections.open(32);
  // Every name is known when the clock starts, and stays so: answers are kept for longer than a round takes.
  await pace(connections, settleMs);
  connections.latenciesMs.length = 0;
  const cpuBefore = await cpuMicros(url);
  const start = performance.now();
  const sent = await pace(connections, loadMs);
  const took = performance.now() - start;
  const latencies = Float64Array.from(connections.latenciesMs).sort();
  return {
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    rate: (sent / took) * 1_000,
    cpu: ((await cpuMicros(url)) - cpuBefore) / sent,
  };
}

const rpcBody = (address: string): string =>
  JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "getMultipleAccounts",
    params: [[address], { encoding: "base64", commitment: "confirmed", dataSlice: { offset: 0, length: 512 } }],
  });

/** One name that the resolver has not met and one bare call, in turn, the first of them changing. */
async function cold(resolver: string, node: string, round: number): Promise<{ names: number[]; rpc: number[] }> {
  const body = rpcBody("nameQyUhZQQgnirGbbJRR9ECWSdq1W7mMaNUZZTBvtq");
  const times = { names: [] as number[], rpc: [] as number[] };
  const ask = {
    names: (at: number) => timed(`${resolver}/resolve/${coldName(round, at)}.x1`),
    rpc: () => timed(node, { method: "POST", headers: { "content-type": "application/json" }, body }),
  };
  for (let at = 0; at < coldEach; at++) {
    for (const who of at % 2 === 0 ? (["names", "rpc"] as const) : (["rpc", "names"] as const)) {
      times[who].push(await ask[who](at));
    }
  }
  return { names: times.names.sort((a, b) => a - b), rpc: times.rpc.sort((a, b) => a - b) };
}

function table(title: string, rows: readonly (readonly [string, readonly string[]])[]): void {
  console.log(title);
  for (const [name, cells] of rows)
    console.log(`  ${name.padEnd(22)}${cells.map((each) => each.padStart(14)).join("")}`);
}

using node = await start("node");
using resolver = await start("resolver", node.url);
using bare = await start("bare");

await load(resolver.url);
await load(bare.url);
await cold(resolver.url, node.url, -1);

const loads = { resolver: [] as Load[], bare: [] as Load[] };
const extra: number[] = [];
const colds = { names50: [] as number[], names99: [] as number[], rpc50: [] as number[], rpc99: [] as number[] };
for (let round = 0; round < rounds; round++) {
  const order = round % 2 === 0 ? (["resolver", "bare"] as const) : (["bare", "resolver"] as const);
  for (const who of order) loads[who].push(await load(who === "resolver" ? resolver.url : bare.url));
  const { names, rpc } = await cold(resolver.url, node.url, round);
  extra.push(quantile(names, 0.5) - quantile(rpc, 0.5));
  colds.names50.push(quantile(names, 0.5));
  colds.names99.push(quantile(names, 0.99));
  colds.rpc50.push(quantile(rpc, 0.5));
  colds.rpc99.push(quantile(rpc, 0.99));
}

const loadRow = (all: readonly Load[]): string[] => [
  `${median(all.map(({ p50 }) => p50)).toFixed(2)} ms`,
  `${median(all.map(({ p99 }) => p99)).toFixed(2)} ms`,
  `${median(all.map(({ cpu }) => cpu)).toFixed(1)} µs`,
  median(all.map(({ rate }) => rate)).toFixed(0),
];
table(`known names at ${perSecond}/s, median of ${rounds} rounds`, [
  ["", ["p50", "p99", "CPU/request", "achieved/s"]],
  ["resolver", loadRow(loads.resolver)],
  ["bare Bun.serve", loadRow(loads.bare)],
]);
table("a name not met before, one at a time", [
  ["", ["p50", "p99"]],
  ["resolver", [`${median(colds.names50).toFixed(2)} ms`, `${median(colds.names99).toFixed(2)} ms`]],
  ["bare RPC call", [`${median(colds.rpc50).toFixed(2)} ms`, `${median(colds.rpc99).toFixed(2)} ms`]],
  ["cost over the call", [`${median(extra).toFixed(2)} ms`]],
]);
