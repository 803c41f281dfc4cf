import { seededRandom } from "@sluice/lib";
import { drawPlan } from "./testing/plan.ts";
import { World } from "./testing/schedule.ts";

/**
 * `n` schedules of one or two ingesters over one to three simulated nodes, by a clock of their own: skipped slots,
 * forks of confirmed blocks, lag, pruning, outages, lost, doubled and late notices and blocks, nodes that lie, blocks
 * that nobody has, logs that take nothing, kills of ingesters with all that they have not stored. A follower that
 * goes on in another process after every event has to be told the chain: nothing missing, nothing twice, no fork that
 * died, and a gap where nobody has a block; two ingesters with logs of their own write the same.
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  const random = seededRandom(seed);
  const sums = { slots: 0, kills: 0, undone: 0, gaps: 0, lies: 0, alterations: 0, skips: 0 };
  const failed: string[] = [];
  for (let schedule = 0; schedule < n; schedule += 1) {
    const ownSeed = Math.floor(random.next() * 2 ** 32);
    const plan = drawPlan(seededRandom(ownSeed));
    const report = await new World(ownSeed, plan).run();
    for (const key of ["slots", "kills", "undone", "gaps", "lies", "alterations", "skips"] as const)
      sums[key] += report[key];
    if (report.faults.length > 0) failed.push(`schedule ${schedule} (${ownSeed}): ${report.faults.join("; ")}`);
    if (failed.length >= failuresMax) break;
  }
  const counted = `${sums.slots} slots, ${sums.kills} kills, ${sums.undone} undone, ${sums.gaps} gaps told (${sums.skips} holes ended by an operator), ${sums.lies} liars and ${sums.alterations} altered results found`;
  const summary = [`${n} schedules: ${counted}`, ...failed].join("\n");
  return { passed: failed.length === 0, summary };
}

const failuresMax = 10;
