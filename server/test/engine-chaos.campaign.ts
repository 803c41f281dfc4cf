import { runChaos } from "./testing/chaos-run.ts";

const shownFaults = 10;
const pace = { slotMs: 100, atATime: 12, roundBundles: 64 } as const;

const told = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([name, number]) => `${number} ${name}`)
    .join(", ");

/**
 * Hands `n` bundles to a whole server over gRPC and REST from several searchers, before a development chain of short slots:
 * sound ones, ones that fight over an account or share a transaction, come twice, fail, expire, pay too little or are no
 * bundles. Meanwhile the server, its simulators, its ledger's engine and the leaders' machine are killed, slots are skipped
 * and forks abandoned. Then each bundle that was accepted has an end that the finalized blocks bear out: none is in the
 * chain in part or twice, and none is lost sight of.
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  const { handed, kills, forks, skips, slots, reasons, verdict } = await runChaos({ n, seed, ...pace });
  const { outcomes, faults, taken, broughtBack } = verdict;
  const lines = [
    `answers: ${told(handed)}`,
    `accepted bundles: ${told(outcomes)}`,
    `reasons: ${told(reasons)}`,
    `kills: ${told(kills)}; ${forks} forks, ${skips} skips, ${slots} slots`,
    `${taken} in the chain in part by another way, ${broughtBack} brought back by a fork after their end`,
    `${faults.length} faults`,
    ...faults.slice(0, shownFaults),
  ];
  const happened = (outcomes["included"] ?? 0) > 0 && (outcomes["expired"] ?? 0) > 0;
  return { passed: faults.length === 0 && happened, summary: lines.join("\n") };
}
