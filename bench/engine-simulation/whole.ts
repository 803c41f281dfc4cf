import { readFileSync } from "node:fs";
import { systemClock, systemRandom } from "@sluice/lib";
import { addressOfBytes } from "@sluice/wire/identifiers";
import type { SimulatedBundle } from "../../server/src/engine/simulation/simulation.ts";
import { createSimulator } from "../../server/src/engine/simulation/simulator.ts";
import type { Load } from "./load.ts";

const together = 1_024;
const warmUpMs = 400;
const roundMs = 600;
/** Of the clock by which Linux counts a process's time. */
const ticksPerSecond = 100;

function childMicroseconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return ((Number(fields[11]) + Number(fields[12])) * 1e6) / ticksPerSecond;
}

/** The whole way: what a bundle costs the server's own process, and what it costs the machine's. */
export async function simulatorRates(load: Load): Promise<Record<string, number>> {
  await using simulator = await createSimulator(
    { tipAccounts: load.tips.map((key) => addressOfBytes(key)) },
    {
      source: load.source,
      clock: systemClock,
      random: systemRandom,
      log: { info: () => undefined, warn: (...what) => console.error(...what) },
      isRecentBlockhash: () => true,
      machineEnded: () => undefined,
    },
  );
  simulator.onSlot(1n);
  const figures: Record<string, number> = {};
  for (const [name, bundles] of [
    ["one", load.single],
    ["five", load.five],
  ] as const) {
    const all = bundles.map((transactions, index): SimulatedBundle => ({ id: String(index), transactions }));
    const run = async (): Promise<void> => {
      const asked = Array.from({ length: together }, (_, index) =>
        simulator.simulate(all[index % all.length] as SimulatedBundle),
      );
      for (const outcome of await Promise.all(asked)) if (!outcome.ok) throw new Error(JSON.stringify(outcome));
    };
    const began = performance.now();
    while (performance.now() - began < warmUpMs) await run();
    const [pid = 0] = simulator.facts.pids;
    const [start, childBefore, before] = [performance.now(), childMicroseconds(pid), process.cpuUsage()];
    let runs = 0;
    for (; performance.now() - start < roundMs; runs += 1) await run();
    const { user, system } = process.cpuUsage(before);
    figures[`whole way: bundle of ${name}, the machine's process`] =
      (childMicroseconds(pid) - childBefore) / (runs * together);
    figures[`whole way: bundle of ${name}, the server's process`] = (user + system) / (runs * together);
  }
  return figures;
}
