/**
 * bench/engine-simulation: bundles that one core verifies and runs, beside the bare rate of ed25519 on the same core in the
 * same run. CPU time is counted and not the clock on the wall. First the machine alone, so that the time of verifying and
 * that of running can be told apart; then the whole way through a simulator and its process. Run it with
 * `npm run bench -- engine-simulation`; it takes about half a minute.
 */
import { readFileSync } from "node:fs";
import { makeLoad } from "./load.ts";
import { bareRates, machineRates } from "./machine.ts";
import { simulatorRates } from "./whole.ts";

const rounds = 5;
const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

/** Medians of what several rounds measured, by name, in microseconds of CPU. */
async function medians(measure: () => Promise<Record<string, number>>): Promise<Record<string, number>> {
  const found: Record<string, number[]> = {};
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, value] of Object.entries(await measure())) {
      found[name] = [...(found[name] ?? []), value];
    }
  }
  return Object.fromEntries(Object.entries(found).map(([name, values]) => [name, median(values)]));
}

const load = makeLoad();
const figures = await medians(async () => ({
  ...(await bareRates(load)),
  ...(await machineRates(load)),
  ...(await simulatorRates(load)),
}));

for (const [name, microseconds] of Object.entries(figures)) {
  console.log(
    `${name.padEnd(58)} ${microseconds.toFixed(1).padStart(8)} µs ${Math.round(1e6 / microseconds)} a second`,
  );
}
const ours = figures["machine: bundle of one, verified and run"] ?? Number.POSITIVE_INFINITY;
console.log("\nverified and simulated bundles of one, as a part of the bare rate of signatures (goal 0.8)");
for (const name of ["ed25519, node:crypto, key kept", "ed25519, LiteSVM's own"]) {
  console.log(`${name.padEnd(58)} ${((figures[name] ?? 0) / ours).toFixed(2).padStart(8)}`);
}
console.log(readFileSync("/proc/loadavg", "utf8").trim());
