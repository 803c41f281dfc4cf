import { runChaos } from "./testing/chaos-run.ts";

const shownFaults = 10;
const pace = { slotMs: 100, atATime: 16, roundBundles: 64 } as const;

const reported = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([name, number]) => `${number} ${name}`)
    .join(", ");

const seconds = (ms: number): string => `${Math.round(ms / 1_000)} s`;

/**
 * Hands `n` bundles to a whole server at every endpoint (REST, gRPC, its stream, Jito's SearcherService and JSON-RPC,
 * encrypted and not) from several searchers, before a development chain of short slots: sound ones, ones that fight
 * over an account or share a transaction, come twice, fail, expire, pay too little, are sealed wrongly or are no
 * bundles. Meanwhile the server, its simulators, its ledger's engine and the leaders' machine are killed, the leaders'
 * links and searchers' streams are cut, slots are skipped and forks abandoned, confirmed ones too. Then each bundle
 * that was accepted has one end, over REST, in the streams and in the ledger, that the finalized blocks bear out: none
 * is in the chain in part or twice, none is lost sight of, and what a fork took and nothing brought back is dropped for
 * that reason.
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  const figures = await runChaos({ n, seed, ...pace });
  const { handed, endpoints, kills, happened, slots, streams, lostWithForks, reasons, verdict, took } = figures;
  const { outcomes, faults, taken, broughtBack } = verdict;
  const lines = [
    `answers: ${reported(handed)}`,
    `accepted at: ${reported(endpoints)}`,
    `accepted bundles: ${reported(outcomes)}`,
    `reasons: ${reported(reasons)}`,
    `kills: ${reported(kills)}; ${slots} slots, ${streams} streams`,
    `mishaps: ${reported(happened)}`,
    `${lostWithForks} reported in a block that a fork took`,
    `${taken} in the chain in part by another way, ${broughtBack} brought back by a fork after their end`,
    `${seconds(took.handing)} of handing in, ${seconds(took.down)} of them without a server, and ${seconds(took.ending)}`,
    `${faults.length} faults`,
    ...faults.slice(0, shownFaults),
  ];
  const hasEachEnd = ["included", "expired", "dropped"].every((status) => (outcomes[status] ?? 0) > 0);
  return { passed: faults.length === 0 && hasEachEnd, summary: lines.join("\n") };
}
