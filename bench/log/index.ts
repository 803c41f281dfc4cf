/**
 * bench/log: blocks of 1 to 5 MB through the log of a chain over both drivers: the time from the append to a follower,
 * CPU for each MB, and bytes on disk. Segment files with one and ten followers in the process that appends, under both
 * kinds of sync; JetStream on a server of its own with one and ten followers in another process.
 * `npm run bench -- log [--blocks 50] [--every-ms 400] [--rounds 3]`. Linux, and nats-server for JetStream.
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { natsBinary, startNats } from "../../server/src/log/testing/nats-servers.ts";
import { type RunningChild, spawnChild } from "../rpc/child.ts";
import { treeCpu } from "../rpc/process-cpu.ts";
import type { LogOrder, LogProcessOptions, LogReport } from "./log-process.ts";

const { values } = parseArgs({
  options: {
    blocks: { type: "string", default: "50" },
    "every-ms": { type: "string", default: "400" },
    rounds: { type: "string", default: "3" },
  },
});
const order: LogOrder = { blocks: Number(values.blocks), everyMs: Number(values["every-ms"]) };
const warmUp: LogOrder = { blocks: 4, everyMs: 50 };

interface Figures {
  readonly toldP50: number;
  readonly toldP99: number;
  readonly storedP50: number;
  readonly storedP99: number;
  /** CPU in ms for each raw MB. */
  readonly appends: number;
  readonly follows: number;
  readonly server: number;
  /** Bytes on disk for each raw byte. */
  readonly disk: number;
}

const at = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
const ascending = (numbers: readonly number[]): number[] => numbers.toSorted((one, other) => one - other);

async function open(options: LogProcessOptions): Promise<RunningChild> {
  const child = spawnChild([process.execPath, join(import.meta.dir, "log-process.ts"), JSON.stringify(options)]);
  await child.line();
  return child;
}

async function ask(child: RunningChild, asked: LogOrder): Promise<LogReport> {
  child.write(`${JSON.stringify(asked)}\n`);
  return JSON.parse(await child.line()) as LogReport;
}

function bytesIn(directory: string): number {
  return readdirSync(directory, { recursive: true, encoding: "utf8" }).reduce((sum, name) => {
    const { size, blocks } = statSync(join(directory, name));
    return sum + Math.min(size, blocks * 512);
  }, 0);
}

/** What was reported over one round; `serverMicros` is the CPU of a server beside the processes. */
function figuresOf(
  { writer, reader, serverMicros }: { writer: LogReport; reader: LogReport; serverMicros: number },
  disk: number,
): Figures {
  const megabytes = writer.bytes / 1e6;
  const told = ascending(reader.toldMs);
  const storedMs = ascending(writer.storedMs);
  const isOne = writer === reader;
  return {
    toldP50: at(told, 0.5),
    toldP99: at(told, 0.99),
    storedP50: at(storedMs, 0.5),
    storedP99: at(storedMs, 0.99),
    appends: writer.cpuMicros / 1e3 / megabytes,
    follows: isOne ? 0 : reader.cpuMicros / 1e3 / megabytes,
    server: serverMicros / 1e3 / megabytes,
    disk: disk / writer.bytes,
  };
}

async function segments(sync: "block" | "interval", followers: number): Promise<Figures> {
  const directory = mkdtempSync(join(tmpdir(), "sluice-bench-log-"));
  const child = await open({ logUrl: null, directory, sync, followers });
  try {
    await ask(child, warmUp);
    const before = bytesIn(directory);
    const writer = await ask(child, order);
    // Files that are not full yet are as long as what was written to them.
    return figuresOf({ writer, reader: writer, serverMicros: 0 }, bytesIn(directory) - before);
  } finally {
    await child.stop();
    rmSync(directory, { recursive: true });
  }
}

async function jetstream(followers: number): Promise<Figures> {
  const directory = mkdtempSync(join(tmpdir(), "sluice-bench-nats-"));
  const [server] = await startNats(directory, 1);
  if (server === undefined) throw new Error("there is no server");
  const shared = { logUrl: `nats://127.0.0.1:${server.port}`, directory, sync: "block" } as const;
  const reader = await open({ ...shared, followers });
  const writer = await open({ ...shared, followers: 0 });
  const cpu = (): number => treeCpu(server.process.pid)?.total ?? 0;
  try {
    await ask(writer, warmUp);
    await Bun.sleep(1_000);
    await ask(reader, null);
    const [disk, micros] = [bytesIn(directory), cpu()];
    const written = await ask(writer, order);
    await Bun.sleep(2_000);
    const read = await ask(reader, null);
    return figuresOf({ writer: written, reader: read, serverMicros: cpu() - micros }, bytesIn(directory) - disk);
  } finally {
    for (const child of [reader, writer]) await child.stop();
    await server.kill();
    rmSync(directory, { recursive: true });
  }
}

const subjects: readonly (readonly [string, () => Promise<Figures>])[] = [
  ["segment files, sync by block, 1 follower", () => segments("block", 1)],
  ["segment files, sync by block, 10 followers", () => segments("block", 10)],
  ["segment files, sync by interval, 1 follower", () => segments("interval", 1)],
  ["segment files, sync by interval, 10 followers", () => segments("interval", 10)],
  ...(natsBinary === null
    ? []
    : ([
        ["JetStream, 1 follower in another process", () => jetstream(1)],
        ["JetStream, 10 followers in another process", () => jetstream(10)],
      ] as const)),
];
if (natsBinary === null) console.warn("NOT RUN: JetStream (there is no nats-server)");

const rounds = new Map<string, Figures[]>();
for (let round = 0; round < Number(values.rounds); round += 1) {
  for (const [name, measure] of subjects) rounds.set(name, [...(rounds.get(name) ?? []), await measure()]);
}
const middle = (name: string, key: keyof Figures): number =>
  at(ascending((rounds.get(name) ?? []).map((each) => each[key])), 0.5);
console.log(
  "| log | told p50 / p99 ms | stored p50 / p99 ms | CPU ms/MB: who appends | who follows | server | disk of raw |",
);
console.log("|---|---:|---:|---:|---:|---:|---:|");
for (const [name] of subjects) {
  const told = `${middle(name, "toldP50").toFixed(1)} / ${middle(name, "toldP99").toFixed(1)}`;
  const storedMs = `${middle(name, "storedP50").toFixed(1)} / ${middle(name, "storedP99").toFixed(1)}`;
  const cpu = (["appends", "follows", "server"] as const).map((key) => middle(name, key).toFixed(2)).join(" | ");
  console.log(`| ${name} | ${told} | ${storedMs} | ${cpu} | ${(100 * middle(name, "disk")).toFixed(0)}% |`);
}
