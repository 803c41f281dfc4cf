import { seededRandom } from "@sluice/lib";
import { drawPlan } from "./testing/plan.ts";
import { World } from "./testing/schedule.ts";

/**
 * `n` schedules of one or two ingesters over one to three simulated nodes, by a clock of their own: skipped slots,
 * forks of confirmed blocks, lag, pruning, outages, lost, doubled and late notices and blocks, nodes that lie or give
 * altered results under true signatures, blocks that nobody has, beside forks too, logs that take nothing, kills of
 * ingesters with all that they have not stored. A follower that goes on in another process after every event has to be
 * told the chain: nothing missing, nothing twice, no fork that died, and a gap where nobody has a block; two ingesters
 * with logs of their own write the same. Altered results are told when their block is read again. `--only 17,300-399`
 * plays these of the `n`.
 */
export async function run(options: {
  n: number;
  seed: number;
  only?: readonly string[];
}): Promise<{ passed: boolean; summary: string }> {
  const { n, seed, only = [`0-${n - 1}`] } = options;
  const random = seededRandom(seed);
  const sums = { slots: 0, kills: 0, undone: 0, gaps: 0, lies: 0, alterations: 0, skips: 0 };
  const failed: string[] = [];
  let played = 0;
  for (let schedule = 0; schedule < n && failed.length < failuresMax; schedule += 1) {
    const ownSeed = Math.floor(random.next() * 2 ** 32);
    if (!only.some((range) => isIn(schedule, range))) continue;
    const plan = drawPlan(seededRandom(ownSeed));
    const report = await new World(ownSeed, plan).run();
    played += 1;
    for (const key of ["slots", "kills", "undone", "gaps", "lies", "alterations", "skips"] as const)
      sums[key] += report[key];
    if (report.faults.length > 0) failed.push(`schedule ${schedule} (${ownSeed}): ${report.faults.join("; ")}`);
  }
  const counted = `${sums.slots} slots, ${sums.kills} kills, ${sums.undone} undone, ${sums.gaps} gaps told (${sums.skips} holes ended by an operator), ${sums.lies} liars and ${sums.alterations} altered results found`;
  const summary = [`${played} schedules: ${counted}`, ...failed].join("\n");
  return { passed: failed.length === 0 && played > 0, summary };
}

const failuresMax = 10;

/** Whether a number is in a range such as `300-399`, or is it. */
function isIn(schedule: number, range: string): boolean {
  const [from = "", to = from] = range.split("-");
  return schedule >= Number(from) && schedule <= Number(to);
}
