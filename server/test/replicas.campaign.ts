import { runReplicas } from "./testing/replica-run.ts";

const shownFaults = 10;

const reported = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([name, number]) => `${number} ${name}`)
    .join(", ");

/** Of rising milliseconds. */
function spread(sorted: readonly number[]): string {
  const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
  return `${at(0.5)} ms (median), ${at(0.95)} ms (95%), ${at(1)} ms at most`;
}

/**
 * Three whole processes on PostgreSQL with a standby, Redis behind a sentinel, one ledger and two chains, asked by
 * customers with every kind of limit, while processes are killed, frozen and replaced, and stores are ended, locked,
 * paused, emptied and failed over. Each schedule of faults is drawn from the seed and its number, is mended at its end,
 * and is held against what is promised: no credit beyond the bound of an advance, no rate beyond the bucket and what
 * the return of Redis may add, a disabled key out within two seconds of a database that answers, no call lost on a
 * connection that a process that is replaced had taken and the right end for each stream, each accepted bundle with one
 * end that its chain and the ledger know, no process with another network's book, probes that say what calls find, and
 * no error of the processes' own in their logs. Times that promises name
 * are counted without those in which this checker or a process's event loop stood still. `--only 17,23` plays these.
 */
export async function run(options: {
  n: number;
  seed: number;
  only?: readonly string[];
}): Promise<{ passed: boolean; summary: string }> {
  const { n, seed, only } = options;
  const numbers = only?.map(Number) ?? Array.from({ length: n }, (_, number) => number);
  const figures = await runReplicas({ seed, numbers, told: (line) => console.log(line) });
  const { schedules, kinds, calls, statuses, broken, bundles, refusedBundles } = figures;
  const { revocations, endings, stallMsMax, faults } = figures;
  const lines = [
    `${schedules} schedules: ${reported(kinds)}`,
    `${calls} calls: ${reported(statuses)}; without an answer: ${reported(broken)}`,
    `accepted bundles: ${reported(bundles)}; refused: ${reported(refusedBundles)}`,
    `a disabled key was out everywhere after ${spread(revocations)}; a planned end took ${spread(endings)}`,
    `the checker and the processes stood still for ${stallMsMax} ms of a schedule at most`,
    `${faults.length} schedules with faults`,
    ...faults.slice(0, shownFaults),
  ];
  const wasAccepted = ["devnet", "testnet"].every((network) => (bundles[`finalized on ${network}`] ?? 0) > 0);
  return { passed: faults.length === 0 && wasAccepted, summary: lines.join("\n") };
}
