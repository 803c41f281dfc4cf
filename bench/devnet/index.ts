/**
 * bench/devnet: transfers that the development chain takes by sendTransaction and confirms, beside LiteSVM alone on one
 * core with its signature checks on, in alternating rounds of one run; and answers a second of the reads that products
 * ask most. Block time is kept meanwhile: the regularity of slots is printed with it.
 *
 *   npm run bench -- devnet [--rounds 5] [--transfers 50000] [--calls 100] [--slot-ms 400]
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { encodeBase58 } from "@sluice/wire/base58";
import { type RunningChild, spawnChild } from "../rpc/child.ts";
import { treeCpu } from "../rpc/process-cpu.ts";
import type { LoadPlan, LoadResult } from "./load.ts";
import type { RawResult } from "./raw.ts";
import { readRate } from "./reads.ts";
import { makeWallets, walletLamports } from "./transfers.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    transfers: { type: "string", default: "50000" },
    calls: { type: "string", default: "100" },
    "slot-ms": { type: "string", default: "400" },
  },
});
const rounds = Number(values.rounds);
const transfers = Number(values.transfers);
const readSeconds = 2;
const readMethods = ["getAccountInfo", "getBalance", "getLatestBlockhash"];

interface Ports {
  readonly rpc: number;
  readonly ws: number;
}

async function call<Result>(port: number, method: string, ...params: unknown[]): Promise<Result> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`http://127.0.0.1:${port}`, { method: "POST", headers, body });
  const { result, error } = (await answer.json()) as { result: Result; error?: unknown };
  if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
  return result;
}

function program(name: string): RunningChild {
  return spawnChild([process.execPath, join(import.meta.dir, name)]);
}

async function startChain(): Promise<{ readonly chain: RunningChild; readonly ports: Ports }> {
  const main = join(import.meta.dir, "../../devnet/chain/main.ts");
  // Transfers are counted by the chain's own count of transactions, which holds its votes otherwise.
  const flags = ["--rpc-port", "0", "--pubsub-port", "0", "--slot-ms", values["slot-ms"], "--admin", "--no-votes"];
  const chain = spawnChild([process.execPath, main, "--exit-with-parent", ...flags]);
  const { rpc, ws } = JSON.parse(await chain.line()) as { rpc: string; ws: string };
  return { chain, ports: { rpc: Number(new URL(rpc).port), ws: Number(new URL(ws).port) } };
}

async function fundWallets(port: number): Promise<void> {
  const addresses = makeWallets().map(({ publicKey }) => encodeBase58(publicKey));
  for (const address of addresses) await call(port, "requestAirdrop", address, Number(walletLamports));
  const last = addresses.at(-1);
  const until = Date.now() + 20_000;
  const held = () => call<{ value: number }>(port, "getBalance", last, { commitment: "confirmed" });
  while ((await held()).value === 0) {
    if (Date.now() > until) throw new Error("the wallets were not funded");
    await Bun.sleep(50);
  }
}

interface ChainRound extends LoadResult {
  /** CPU µs of a transfer. */
  readonly chainCpu: number;
  readonly machineCpu: number;
}

async function expectLine(child: RunningChild, expected: string): Promise<void> {
  const line = await child.line();
  if (line !== expected) throw new Error(line);
}

async function chainRound(load: RunningChild, chain: RunningChild, machine: number, plan: LoadPlan) {
  const used = () => [treeCpu(chain.pid)?.root ?? 0, treeCpu(machine)?.root ?? 0] as const;
  load.write(`${JSON.stringify(plan)}\n`);
  await expectLine(load, "ready");
  const before = used();
  await expectLine(load, "confirmed");
  const after = used();
  const result = JSON.parse(await load.line()) as LoadResult;
  return {
    ...result,
    chainCpu: (after[0] - before[0]) / plan.transfers,
    machineCpu: (after[1] - before[1]) / plan.transfers,
  } satisfies ChainRound;
}

function quantile(list: readonly number[], q: number): number {
  const sorted = list.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
}

const median = (list: readonly number[]) => quantile(list, 0.5);

function row(name: string, cells: readonly string[]): void {
  console.log(`  ${name.padEnd(34)}${cells.map((cell) => cell.padStart(12)).join("")}`);
}

function report(raw: readonly RawResult[], chain: readonly ChainRound[]): void {
  const rawRates = raw.map((round) => round.transfers / round.seconds);
  const chainRates = chain.map((round) => round.confirmedPerSecond);
  const range = (list: readonly number[]) => `${Math.min(...list).toFixed(0)}-${Math.max(...list).toFixed(0)}`;
  console.log(`transfers, medians of ${rounds} rounds of ${transfers}`);
  row("", ["per second", "range", "CPU µs each"]);
  row("LiteSVM alone, signatures checked", [
    median(rawRates).toFixed(0),
    range(rawRates),
    median(raw.map((round) => round.cpuMicros / round.transfers)).toFixed(1),
  ]);
  const cpu = (of: (round: ChainRound) => number) => median(chain.map(of)).toFixed(1);
  row("chain, confirmed", [median(chainRates).toFixed(0), range(chainRates), ""]);
  row("  its own process", ["", "", cpu((round) => round.chainCpu)]);
  row("  the machine's process", ["", "", cpu((round) => round.machineCpu)]);
  row("  (the load)", ["", "", cpu((round) => round.cpuMicros / round.transfers)]);
  row("ratio", [(median(chainRates) / median(rawRates)).toFixed(2)]);
  const slots = chain.flatMap((round) => round.slotMs);
  const reads = chain.flatMap((round) => round.readMs);
  console.log("meanwhile");
  row("", ["p50 ms", "p99 ms", "worst ms"]);
  row(
    "between slots",
    [0.5, 0.99, 1].map((q) => quantile(slots, q).toFixed(1)),
  );
  row(
    "getAccountInfo",
    [0.5, 0.99, 1].map((q) => quantile(reads, q).toFixed(2)),
  );
}

async function reportReads(port: number, chain: RunningChild): Promise<void> {
  console.log(`reads, single calls over 8 connections, ${readSeconds} s each`);
  row("", ["per second", "CPU µs each"]);
  for (const method of readMethods) {
    const before = treeCpu(chain.pid)?.root ?? 0;
    const { perSecond } = await readRate(port, method, readSeconds);
    const micros = ((treeCpu(chain.pid)?.root ?? 0) - before) / (perSecond * readSeconds);
    row(method, [perSecond.toFixed(0), micros.toFixed(1)]);
  }
}

const { chain, ports } = await startChain();
const raw = program("raw.ts");
const load = program("load.ts");
await fundWallets(ports.rpc);
const { machine } = await call<{ machine: { pid: number } }>(ports.rpc, "devnet_info");
const found = { raw: [] as RawResult[], chain: [] as ChainRound[] };
/** The first round of each warms up and is not counted. */
for (let round = 0; round <= rounds; round += 1) {
  const plan: LoadPlan = {
    port: ports.rpc,
    socketPort: ports.ws,
    transfers,
    first: round * transfers,
    callsPerRequest: Number(values.calls),
  };
  const runRaw = async () => {
    raw.write(`${transfers}\n`);
    return JSON.parse(await raw.line()) as RawResult;
  };
  const runChain = () => chainRound(load, chain, machine.pid, plan);
  const results =
    round % 2 === 0
      ? { raw: await runRaw(), chain: await runChain() }
      : { chain: await runChain(), raw: await runRaw() };
  if (round === 0) continue;
  found.raw.push(results.raw);
  found.chain.push(results.chain);
}
report(found.raw, found.chain);
await reportReads(ports.rpc, chain);
await Promise.all([load.stop(), raw.stop(), chain.stop()]);
process.exit(0);
