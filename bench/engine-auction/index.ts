/**
 * bench/engine-auction: one tick of 2,000 bundles, and what it earns beside two greedy auctions over the same ticks:
 * the highest tip for a compute unit first, as leaders' schedulers do, and the highest tip first. Rounds alternate in
 * order. `npm run bench -- engine-auction`; it takes about 20 seconds, `--rounds N` sets the rounds (5).
 */
import { parseArgs } from "node:util";
import { runAuction } from "@sluice/auction";
import { greedy } from "./greedy.ts";
import { type Tick, tickOf, type Workload, workloads } from "./workload.ts";

const ticksEach = 40;
const warmingRounds = 2;

interface Sample {
  readonly revenue: bigint;
  readonly upperBound: bigint;
}

const auctions: Readonly<Record<string, (tick: Tick) => Sample>> = {
  sluice: ({ bundles, caps }) => runAuction(bundles, caps),
  "tip per unit": (tick) => greedy(tick, ({ tip, computeUnits }) => Number(tip) / Math.max(1, computeUnits)),
  tip: (tick) => greedy(tick, ({ tip }) => Number(tip)),
};

const quantile = (values: readonly number[], q: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * q))] ?? Number.NaN;

interface Series {
  readonly wallMs: number[];
  readonly cpuMs: number[];
  /** Of the best bound known for the tick. */
  readonly shares: number[];
  exact: number;
}

function measure(auction: (tick: Tick) => Sample, ticks: readonly Tick[], series: Series, bounds: bigint[]): void {
  ticks.forEach((tick, at) => {
    const before = process.cpuUsage();
    const start = performance.now();
    const { revenue, upperBound } = auction(tick);
    series.wallMs.push(performance.now() - start);
    const { user, system } = process.cpuUsage(before);
    series.cpuMs.push((user + system) / 1_000);
    bounds[at] ??= upperBound;
    series.shares.push(Number(revenue) / Number(bounds[at] ?? upperBound));
    if (revenue === upperBound) series.exact++;
  });
}

function run(workload: Workload, rounds: number): void {
  const ticks = Array.from({ length: ticksEach }, (_, seed) => tickOf(workload, seed));
  const names = Object.keys(auctions);
  const all = new Map<string, Series>();
  const bounds = ticks.map(({ bundles, caps }) => runAuction(bundles, caps).upperBound);
  for (let round = -warmingRounds; round < rounds; round++) {
    if (round === 0) all.clear();
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const series = all.get(name) ?? { wallMs: [], cpuMs: [], shares: [], exact: 0 };
      all.set(name, series);
      const auction = auctions[name];
      if (auction !== undefined) measure(auction, ticks, series, bounds);
    }
  }
  console.log(`${workload}: ${rounds} rounds of ${ticksEach} ticks`);
  for (const [name, { wallMs, cpuMs, shares, exact }] of all) {
    const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
    const times = [quantile(wallMs, 0.5), quantile(wallMs, 0.99), quantile(cpuMs, 0.5), quantile(cpuMs, 0.99)];
    const cells = [...times.map((ms) => `${ms.toFixed(2)} ms`), mean.toFixed(5), Math.min(...shares).toFixed(5)];
    const proved = name === "sluice" ? `${exact} of ${wallMs.length}` : "";
    console.log(`  ${name.padEnd(14)}${[...cells, proved].map((cell) => cell.padStart(13)).join("")}`);
  }
}

const { values } = parseArgs({ args: process.argv.slice(2), options: { rounds: { type: "string", default: "5" } } });
const heads = ["p50", "p99", "CPU p50", "CPU p99", "of the bound", "worst", "proved best"];
console.log(`                ${heads.map((head) => head.padStart(13)).join("")}`);
for (const workload of workloads) run(workload, Number(values.rounds));
