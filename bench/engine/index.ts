/**
 * bench/engine: what the whole block engine takes. Searchers send signed bundles of one transaction at an even pace,
 * half of them by calls and half by streams, to the server as `npm start` runs it, beside a bare grpc-js server that
 * answers messages of the same sizes; rounds alternate, medians are printed. Times are from when a bundle was due to
 * its answer `accepted`, which comes when it is verified, simulated and on disk. CPU is what a bundle costs until it is
 * final, what an idle server takes left out. Then one searcher sends a hundred times its rate, and the others' times
 * are compared.
 *
 *   npm run bench -- engine [--rounds 5] [--rates 2000] [--seconds 2]
 *     [--slot-ms 400] [--simulators 2] [--flood 20] [--warm-up 10]
 *
 * Verifying and simulating alone is bench/engine-simulation, the auction bench/engine-auction.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { spawnChild } from "../rpc/child.ts";
import { treeCpu } from "../rpc/process-cpu.ts";
import { payerLamports, payers } from "./bundles.ts";
import { fairness } from "./fairness.ts";
import { Loads } from "./loads.ts";
import { cpuByPart, type Part } from "./processes.ts";
import { median, quantile, row } from "./report.ts";
import { startSluice } from "./sluice.ts";

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: {
    rounds: { type: "string", default: "5" },
    rates: { type: "string", default: "2000" },
    seconds: { type: "string", default: "2" },
    "slot-ms": { type: "string", default: "400" },
    simulators: { type: "string", default: "2" },
    /** Bundles a second of each searcher while one of them floods; 0 leaves this out. */
    flood: { type: "string", default: "20" },
    /**
     * Seconds of bundles before anything is measured: the runtime compiles for tens of seconds, at a third of its CPU
     * first.
     */
    "warm-up": { type: "string", default: "10" },
  },
});
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const rates = values.rates.split(",").map(Number);
const searchers = 8;
/** Latency that grows while a round lasts says that the rate is beyond what is taken. */
const stableMsMax = 250;

interface Window {
  readonly perSecond: number;
  readonly sent: number;
  readonly accepted: number;
  readonly refused: Readonly<Record<string, number>>;
  readonly unary: readonly number[];
  readonly streamed: readonly number[];
  /** CPU µs of a bundle, by part. */
  readonly cpu: Readonly<Partial<Record<Part, number>>>;
  readonly loadCpu: number;
}

const parts = ["server", "simulations", "ledger", "chain"] as const;
const perSearcher = { bundlesPerSecond: 10_000, burst: 10_000 };
const limited = { bundlesPerSecond: Math.max(1, Number(values.flood)), burst: Math.max(1, Number(values.flood)) * 2 };
await using sluice = await startSluice({ slotMs: Number(values["slot-ms"]), simulators: Number(values.simulators) }, [
  ...Array.from({ length: searchers }, () => perSearcher),
  ...Array.from({ length: 5 }, () => limited),
]);
const echo = spawnChild([process.execPath, join(import.meta.dir, "echo.ts")]);
const echoPort = (JSON.parse(await echo.line()) as { port: number }).port;
const loads = new Loads(sluice);

async function fundPayers(): Promise<void> {
  const before = await sluice.rpc<number>("getBlockHeight");
  for (const { address } of payers) await sluice.rpc("requestAirdrop", address, Number(payerLamports));
  const held = () => sluice.rpc<{ value: number }>("getBalance", payers.at(-1)?.address, { commitment: "confirmed" });
  for (const until = Date.now() + 20_000; (await held()).value === 0; await Bun.sleep(50)) {
    if (Date.now() > until) throw new Error(`the payers were not funded, at height ${before}`);
  }
}

/** Resolves when no bundle can change any more, and gives how long that took. */
async function drained(): Promise<void> {
  for (const until = Date.now() + 90_000; ; await Bun.sleep(1_000)) {
    if ((await sluice.metric("sluice_engine_bundles_live")) === 0) return;
    if (Date.now() > until) throw new Error("bundles did not end");
  }
}

const cpuOf = (used: Readonly<Record<Part, number>>, before: Readonly<Record<Part, number>>) => (part: Part) =>
  used[part] - before[part];

/** CPU µs a millisecond of each part while nothing is sent. */
async function idle(): Promise<(part: Part) => number> {
  const idleMs = 3_000;
  const before = cpuByPart(sluice.pid);
  await Bun.sleep(idleMs);
  const used = cpuOf(cpuByPart(sluice.pid), before);
  return (part) => used(part) / idleMs;
}

function senders(perSecond: number) {
  return Array.from({ length: searchers }, (_, index) => ({
    key: sluice.keys[index] ?? "",
    way: index % 2 === 0 ? ("unary" as const) : ("stream" as const),
    perSecond: perSecond / searchers,
  }));
}

async function window(
  of: "sluice" | "echo",
  perSecond: number,
  idling: (part: Part) => number,
  lasting = seconds,
): Promise<Window> {
  const plan = senders(perSecond);
  await loads.prepare(of === "sluice" ? sluice.grpcPort : echoPort, plan, lasting);
  const before = of === "sluice" ? cpuByPart(sluice.pid) : null;
  const echoBefore = treeCpu(echo.pid)?.root ?? 0;
  const startedAt = performance.now();
  const result = await loads.run();
  if (of === "sluice") await Bun.sleep(2_500).then(drained);
  const tookMs = performance.now() - startedAt;
  const sent = result.senders.reduce((sum, each) => sum + each.sent, 0);
  const used = before === null ? null : cpuOf(cpuByPart(sluice.pid), before);
  const refused: Record<string, number> = {};
  for (const each of result.senders) {
    for (const [reason, count] of Object.entries(each.refused)) refused[reason] = (refused[reason] ?? 0) + count;
  }
  const took = (way: string) => result.senders.flatMap((each, index) => (plan[index]?.way === way ? each.tookMs : []));
  return {
    perSecond: sent / result.seconds,
    sent,
    accepted: result.senders.reduce((sum, each) => sum + each.accepted, 0),
    refused,
    unary: took("unary"),
    streamed: took("stream"),
    cpu:
      used === null
        ? { server: ((treeCpu(echo.pid)?.root ?? 0) - echoBefore) / sent }
        : Object.fromEntries(parts.map((part) => [part, (used(part) - idling(part) * tookMs) / sent])),
    loadCpu: result.cpuMicros / sent,
  };
}

function report(name: string, windows: readonly Window[]): void {
  const over = (of: (window: Window) => number) => median(windows.map(of));
  const times = [
    over(({ unary }) => quantile(unary, 0.5)),
    over(({ unary }) => quantile(unary, 0.99)),
    over(({ streamed }) => quantile(streamed, 0.5)),
    over(({ streamed }) => quantile(streamed, 0.99)),
  ];
  const cpu = parts.map((part) => over((each) => each.cpu[part] ?? Number.NaN));
  const answered = windows.reduce((sum, { accepted }) => sum + accepted, 0);
  const sent = windows.reduce((sum, each) => sum + each.sent, 0);
  row(name, [
    ...times.map((ms) => ms.toFixed(1)),
    ...cpu.map((micros) => (Number.isNaN(micros) ? "" : micros.toFixed(0))),
    over(({ loadCpu }) => loadCpu).toFixed(0),
    `${answered}/${sent}`,
  ]);
  const refused = windows.flatMap((each) => Object.entries(each.refused));
  if (refused.length > 0) console.log(`    refused: ${JSON.stringify(refused)}`);
}

async function measure(perSecond: number, idling: (part: Part) => number): Promise<void> {
  const found = { sluice: [] as Window[], echo: [] as Window[] };
  for (let round = 0; round < rounds; round += 1) {
    const order = round % 2 === 0 ? (["sluice", "echo"] as const) : (["echo", "sluice"] as const);
    for (const of of order) found[of].push(await window(of, perSecond, idling));
  }
  console.log(`\n${perSecond} bundles a second, ${rounds} rounds of ${seconds} s, medians`);
  row("", ["calls p50", "p99 ms", "stream p50", "p99 ms", ...parts, "load", "accepted"]);
  report("sluice", found.sluice);
  report("bare grpc-js", found.echo);
  const p99 = (windows: readonly Window[]) =>
    median(windows.map((each) => quantile([...each.unary, ...each.streamed], 0.99)));
  const cpu = (windows: readonly Window[]) => median(windows.map((each) => each.cpu.server ?? Number.NaN));
  const isStable = found.sluice.every((each) => each.accepted === each.sent) && p99(found.sluice) < stableMsMax;
  row("ratio", [
    "",
    (p99(found.sluice) / p99(found.echo)).toFixed(1),
    "",
    "",
    (cpu(found.sluice) / cpu(found.echo)).toFixed(1),
  ]);
  console.log(`    ${isStable ? "stable" : "NOT stable"}: every bundle accepted and p99 below ${stableMsMax} ms`);
}

await fundPayers();
for (const of of ["sluice", "echo"] as const) {
  await window(of, Math.min(...rates, 500), () => 0, Math.max(1, Number(values["warm-up"])));
}
const idling = await idle();
for (const perSecond of rates) await measure(perSecond, idling);
if (Number(values.flood) > 0) {
  await fairness({
    loads,
    sluice,
    echoPort,
    rounds,
    seconds,
    perSecond: Number(values.flood),
    keys: sluice.keys.slice(searchers),
    drained,
  });
}
console.log(readFileSync("/proc/loadavg", "utf8").trim());
await Promise.all([loads.stop(), echo.stop()]);
