/**
 * bench/ingest: blocks on their way through a running server, 5,000 transfers a second from a node of which nothing is
 * slow (node.ts), by two Yellowstone streams: from the node's last byte to a follower in the server's process (its own
 * metric) and to one in another process over JetStream, to the ledger where it is read, and the CPU of each part; and
 * what all this costs the gateway's hit path in the same process.
 * `npm run bench -- ingest [--only segments,jetstream,hits] [--rate 5000] [--slots 100] [--workload transfers|mix]
 * [--seconds 10]`. Linux; nats-server for JetStream.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openChainLog } from "../../server/src/log/index.ts";
import { natsBinary, startNats } from "../../server/src/log/testing/nats-servers.ts";
import { observed, standardOptions } from "../../server/src/log/testing/segment-logs.ts";
import { type Gateway, sluice, startGateway } from "../../server/test/testing/gateway.ts";
import { identityOf } from "../../server/test/testing/ingest-verdict.ts";
import { type LedgerServer, startLedgerServer } from "../../server/test/testing/ledger-server.ts";
import { type RunningChild, spawnChild } from "../rpc/child.ts";
import type { LoadPlan, LoadResult } from "../rpc/load.ts";
import { treeCpu } from "../rpc/process-cpu.ts";
import { Histogram } from "./histogram.ts";
import type { NodePlan } from "./node.ts";
import { now } from "./now.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "segments,jetstream,hits" },
    rate: { type: "string", default: "5000" },
    slots: { type: "string", default: "100" },
    workload: { type: "string", default: "transfers" },
    seconds: { type: "string", default: "10" },
  },
});
const slotMs = 400;
const transactions = Math.round((Number(values.rate) * slotMs) / 1_000);
const workload = values.workload === "mix" ? "mix" : "transfers";
const slots = Number(values.slots);
const seconds = Number(values.seconds);
const metricsPort = 9464;
const upWithinMs = 120_000;
/** Blocks that are not measured: the first ones find code that has not run yet. */
const warmSlots = 10;
const pollMs = 25;
const settleMs = 60_000;
const silentForMs = 2_000;

const at = (numbers: readonly number[], share: number): number => {
  const sorted = numbers.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
};
const shown = (numbers: readonly number[]): string =>
  `${at(numbers, 0.5).toFixed(1)} / ${at(numbers, 0.99).toFixed(1)}`;

interface Node {
  readonly child: RunningChild;
  readonly rpc: string;
  readonly upstreams: string;
  /** By slot, the moment at which its last byte was sent. */
  readonly sentMs: Map<number, number>;
  begin(): void;
  readonly over: Promise<void>;
}

async function startNode(resources: AsyncDisposableStack, nodeSlots: number): Promise<Node> {
  const plan: NodePlan = { workload, slots: nodeSlots, slotMs, transactions };
  const child = spawnChild([process.execPath, join(import.meta.dir, "node.ts"), JSON.stringify(plan)]);
  resources.defer(() => child.stop());
  const sentMs = new Map<number, number>();
  const take = (line: string): boolean => {
    const [word, slot, ms] = line.split(" ");
    if (word === "sent") sentMs.set(Number(slot), Number(ms));
    return word === "over";
  };
  let line = await child.line();
  while (!line.startsWith("{")) {
    take(line);
    line = await child.line();
  }
  const { rpc, ws, grpc } = JSON.parse(line) as Record<"rpc" | "ws" | "grpc", string>;
  const upstreams = ["one", "other"].map((label) => `${label}=${rpc};ws=${ws};grpc=${grpc}`).join(",");
  const over = (async () => {
    while (!take(await child.line()));
  })().catch(() => undefined);
  return { child, rpc, upstreams, sentMs, begin: () => child.write("begin\n"), over };
}

function temporary(resources: AsyncDisposableStack): string {
  const directory = mkdtempSync(join(tmpdir(), "sluice-bench-ingest-"));
  resources.defer(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

async function startServer(resources: AsyncDisposableStack, environment: Record<string, string>): Promise<Gateway> {
  const gateway = await startGateway(
    temporary(resources),
    { MASTER_KEY: "5e".repeat(32), NETWORK_DEFAULT: "devnet", LOG_LEVEL: "warn", BIND: "127.0.0.1", ...environment },
    { port: metricsPort, upWithinMs },
  );
  resources.defer(async () => {
    await gateway.end();
    if (gateway.said() !== "") console.log(gateway.said());
  });
  return gateway;
}

const delayOf = async ({ offset }: Gateway): Promise<Histogram> => {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort + offset}/metrics`)).text();
  return Histogram.parse(text, "sluice_ingest_delay_seconds");
};

/** Notes, by slot, the moment at which a reader of the ledger finds its block. */
async function watchLedger(server: LedgerServer, seen: Map<number, number>, until: { isOver: boolean }): Promise<void> {
  const { origin, username, password } = new URL(server.url);
  const headers = { Authorization: `Basic ${btoa(`${username}:${password}`)}` };
  for (let last = 0; !until.isOver; last = Math.max(last, ...seen.keys())) {
    const body = `SELECT slot FROM sluice.blocks WHERE network = 'devnet' AND slot > ${last} GROUP BY slot FORMAT TSV`;
    const answer = await fetch(origin, { method: "POST", headers, body });
    // There is no table before the server has made it.
    const found = answer.ok ? (await answer.text()).trim().split("\n").filter(Boolean) : [];
    for (const slot of found) seen.set(Number(slot), now());
    await Bun.sleep(pollMs);
  }
}

/** By slot, the moment at which a follower in this process is told its block. */
async function watchLog(logUrl: string, rpc: string, until: { isOver: boolean }): Promise<Map<number, number>> {
  const told = new Map<number, number>();
  const options = { ...standardOptions, chain: await identityOf(rpc), logUrl, dataDirectory: "" };
  await using log = await openChainLog(options, observed().dependencies);
  const outcome = log.follow({ stage: "confirmed", from: "earliest" });
  if (!outcome.ok) throw new Error(outcome.code);
  const { follower } = outcome;
  const ending = (async () => {
    while (!until.isOver) await Bun.sleep(pollMs);
    await follower.return();
  })();
  for await (const event of follower) if (event.type === "block") told.set(Number(event.header.slot), now());
  await ending;
  return told;
}

/** Milliseconds from the node to each slot's moment, without the first slots and those that never came. */
function delays(sentMs: ReadonlyMap<number, number>, moments: ReadonlyMap<number, number>): number[] {
  return [...sentMs].flatMap(([slot, ms]) => {
    const moment = moments.get(slot);
    return slot <= warmSlots || moment === undefined ? [] : [moment - ms];
  });
}

async function blocksThrough(driver: "segments" | "jetstream"): Promise<string> {
  await using resources = new AsyncDisposableStack();
  const node = await startNode(resources, slots);
  const ledger = resources.use(await startLedgerServer());
  const environment: Record<string, string> = {
    ROLES: "ingest",
    UPSTREAMS_DEVNET: node.upstreams,
    CLICKHOUSE_URL: ledger.url,
  };
  if (driver === "jetstream") {
    const servers = await startNats(temporary(resources), 1);
    for (const server of servers) resources.defer(() => server.kill());
    environment["LOG_URL"] = `nats://${servers.map(({ port }) => `127.0.0.1:${port}`).join(",")}`;
  }
  const gateway = await startServer(resources, environment);
  const until = { isOver: false };
  const seen = new Map<number, number>();
  const watching = watchLedger(ledger, seen, until);
  const url = environment["LOG_URL"];
  const inFollower = url === undefined ? null : watchLog(url, node.rpc, until);
  await Bun.sleep(silentForMs);
  node.begin();
  await Bun.sleep(warmSlots * slotMs);
  const [delayBefore, cpuBefore, beganMs] = [await delayOf(gateway), treeCpu(gateway.process.pid), now()];
  await node.over;
  const [delayAfter, cpuAfter, endedMs] = [await delayOf(gateway), treeCpu(gateway.process.pid), now()];
  const untilMs = now() + settleMs;
  while (!seen.has(slots) && now() < untilMs) await Bun.sleep(pollMs);
  until.isOver = true;
  await watching;
  const ledgerMs = delays(node.sentMs, seen);
  const followerMs = inFollower === null ? null : delays(node.sentMs, await inFollower);
  const count = ((endedMs - beganMs) / slotMs) * transactions;
  const cpu = ((cpuAfter?.total ?? Number.NaN) - (cpuBefore?.total ?? Number.NaN)) / count;
  const delay = delayAfter.since(delayBefore);
  return [
    driver,
    `${(delay.quantile(0.5) * 1_000).toFixed(1)} / ${(delay.quantile(0.99) * 1_000).toFixed(1)}`,
    followerMs === null ? "-" : shown(followerMs),
    shown(ledgerMs),
    `${ledgerMs.length} of ${slots - warmSlots}`,
    cpu.toFixed(1),
  ].join(" | ");
}

interface HitFigures {
  readonly requests: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Of the server's process alone, not of its ledger's engine, over the load's time. */
  readonly cpuMicros: number;
  readonly seconds: number;
}

async function hits(gateway: Gateway, key: string): Promise<HitFigures> {
  const plan: LoadPlan = {
    port: Number(new URL(gateway.url).port),
    path: "/rpc",
    headers: { "X-API-Key": key },
    connections: 16,
    seconds,
    method: "getTransaction",
    params: `["${"5".repeat(87)}",{"commitment":"finalized"}]`,
    ids: "changing",
    batch: 1,
  };
  const load = spawnChild([process.execPath, join(import.meta.dir, "../rpc/load.ts"), JSON.stringify(plan)]);
  await Bun.sleep(700);
  const before = treeCpu(gateway.process.pid)?.root ?? Number.NaN;
  load.write("start\n");
  const result = JSON.parse(await load.line()) as LoadResult;
  const cpuMicros = (treeCpu(gateway.process.pid)?.root ?? Number.NaN) - before;
  await load.stop();
  if (result.fault !== null) throw new Error(result.fault);
  if (result.cacheStatus !== "HIT") throw new Error(`the answers were ${result.cacheStatus}, not hits`);
  return { ...result, cpuMicros };
}

async function keyOf(gateway: Gateway): Promise<string> {
  const account = await sluice(gateway, {}, "accounts", "create", "--name", "bench", "--tier", "business");
  const limits = ["--requests-per-second", "1000000", "--credits-monthly", "1000000000000"];
  await sluice(gateway, {}, "accounts", "set-limits", account.id, ...limits);
  const { key } = await sluice(gateway, {}, "keys", "create", "--account", account.id, "--name", "bench");
  return String(key);
}

const loadSpanMs = (seconds + 3) * 1_000;

/** The hit path in a process that ingests nothing, in one that ingests, and what that one takes without a load. */
async function hitPath(): Promise<string[]> {
  const figures: Record<string, HitFigures> = {};
  let idleMicros = 0;
  for (const roles of ["gateway", "gateway,ingest"]) {
    await using resources = new AsyncDisposableStack();
    const node = await startNode(resources, Math.ceil((loadSpanMs * 2) / slotMs) + warmSlots * 4);
    const gateway = await startServer(resources, { ROLES: roles, UPSTREAMS_DEVNET: node.upstreams });
    const key = await keyOf(gateway);
    await Bun.sleep(silentForMs);
    node.begin();
    await Bun.sleep(warmSlots * slotMs * 2);
    const before = treeCpu(gateway.process.pid)?.root ?? Number.NaN;
    await Bun.sleep(seconds * 1_000);
    idleMicros = (treeCpu(gateway.process.pid)?.root ?? Number.NaN) - before;
    figures[roles] = await hits(gateway, key);
  }
  const [without, beside] = [figures["gateway"], figures["gateway,ingest"]];
  if (without === undefined || beside === undefined) return [];
  const row = (name: string, { requests, p50Ms, p99Ms, seconds: span }: HitFigures, micros: number): string =>
    [name, Math.round(requests / span), (micros / requests).toFixed(1), p50Ms.toFixed(2), p99Ms.toFixed(2)].join(" | ");
  return [
    "hit path | calls/s | CPU µs a call | p50 ms | p99 ms",
    row("without ingest", without, without.cpuMicros),
    row("beside ingest, its own CPU taken off", beside, beside.cpuMicros - idleMicros * (beside.seconds / seconds)),
    `ingest alone: ${((idleMicros / (seconds * 1_000_000)) * 100).toFixed(0)}% of a core in the server's process`,
  ];
}

const only = values.only.split(",");
console.log(`${workload}: blocks of ${transactions} transactions every ${slotMs} ms, ${slots} slots`);
if (only.includes("segments") || only.includes("jetstream")) {
  console.log(
    "log | to a follower in the server's process, p50 / p99 ms | in another process | in the ledger | blocks | CPU µs a transaction, without the ledger's engine",
  );
}
if (only.includes("segments")) console.log(await blocksThrough("segments"));
if (only.includes("jetstream")) {
  if (natsBinary === null) console.log("NOT RUN: JetStream (there is no nats-server)");
  else console.log(await blocksThrough("jetstream"));
}
if (only.includes("hits")) for (const line of await hitPath()) console.log(line);
process.exit(0);
