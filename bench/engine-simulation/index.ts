/**
 * bench/engine-simulation: bundles that one core verifies and runs, beside the bare rate of ed25519 on the same core in
 * the same run. CPU time is counted and not the clock on the wall. First the machine alone, so that the time of
 * verifying and that of running can be distinguished; then the whole way through a simulator and its process. Run it
 * with `npm run bench -- engine-simulation [--rounds 5] [--json]`; it takes about a minute.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { bundleMachineEnvironment } from "@sluice/svm/bundles";
import { bareRates } from "./bare.ts";
import { type Load, makeLoad } from "./load.ts";
import { LoadedMachine } from "./machine.ts";
import { machineOfSwaps } from "./swaps.ts";
import { simulatorRates } from "./whole.ts";

const { values } = parseArgs({
  options: { rounds: { type: "string", default: "5" }, json: { type: "boolean", default: false } },
});
const median = (list: readonly number[]): number => list.toSorted((a, b) => a - b)[list.length >> 1] ?? 0;

/** Medians of what several rounds measured, by name, in microseconds of CPU. */
async function medians(measure: () => Promise<Record<string, number>>): Promise<Record<string, number>> {
  const found: Record<string, number[]> = {};
  for (let round = 0; round < Number(values.rounds); round += 1) {
    for (const [name, value] of Object.entries(await measure())) {
      found[name] = [...(found[name] ?? []), value];
    }
  }
  return Object.fromEntries(Object.entries(found).map(([name, all]) => [name, median(all)]));
}

async function machineRates(machines: Readonly<Record<string, LoadedMachine>>): Promise<Record<string, number>> {
  const rates: Record<string, number> = {};
  for (const [name, machine] of Object.entries(machines)) {
    rates[`machine: ${name}, run alone`] = await machine.rate(false);
    rates[`machine: ${name}, verified and run`] = await machine.rate(true);
  }
  return rates;
}

function print(figures: Readonly<Record<string, number>>): void {
  for (const [name, microseconds] of Object.entries(figures)) {
    const columns = [microseconds.toFixed(1).padStart(8), "µs", Math.round(1e6 / microseconds), "a second"];
    console.log(name.padEnd(58), ...columns);
  }
  const ours = figures["machine: bundle of one, verified and run"] ?? Number.POSITIVE_INFINITY;
  console.log("\nverified and simulated bundles of one, as a part of the bare rate of signatures (goal 0.8)");
  for (const name of ["ed25519, node:crypto, key kept", "ed25519, LiteSVM's own"]) {
    console.log(name.padEnd(58), ((figures[name] ?? 0) / ours).toFixed(2).padStart(8));
  }
  console.log(readFileSync("/proc/loadavg", "utf8").trim());
}

async function measure(load: Load): Promise<void> {
  const machines = {
    "bundle of one": await LoadedMachine.of({ ...load, bundles: load.single }),
    "bundle of five": await LoadedMachine.of({ ...load, bundles: load.five }),
    "a swap": await machineOfSwaps(),
  };
  const figures = await medians(async () => ({
    ...(await bareRates(load)),
    ...(await machineRates(machines)),
    ...(await simulatorRates(load)),
  }));
  if (values.json) console.log(JSON.stringify(figures));
  else print(figures);
}

// A machine's process has its own allocator's settings, which are read when a process begins.
if (Object.entries(bundleMachineEnvironment).every(([name, value]) => process.env[name] === value))
  await measure(makeLoad());
else {
  const env = { ...process.env, ...bundleMachineEnvironment };
  const child = Bun.spawn([process.execPath, ...process.argv.slice(1)], {
    env,
    stdio: ["inherit", "inherit", "inherit"],
  });
  process.exitCode = await child.exited;
}
