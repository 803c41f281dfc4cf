import { CampaignRandom, mutate } from "./testing/campaign-random.ts";
import { disagreementWithKit } from "./testing/kit-agreement.ts";
import { kitTransaction } from "./testing/kit-corpus.ts";

/** Bytes that mean something to the format: counts, continuation bits, versions. */
const alphabet = [0, 1, 2, 3, 12, 13, 32, 63, 64, 65, 0x7f, 0x80, 0x81, 0x82, 0xff];

/** A transaction lives for this many mutations before a new one is built. */
const mutationsEach = 50;

/**
 * Mutational fuzz of the transaction parser against @solana/kit: `n` mutated transactions, none of which may throw, be
 * read differently, or encode to other bytes. About 200,000 in a minute.
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  const random = new CampaignRandom(seed);
  let original = kitTransaction(random);
  let accepted = 0;
  for (let i = 0; i < n; i++) {
    if (i % mutationsEach === 0) original = kitTransaction(random);
    const bytes = i % mutationsEach === 0 ? original : mutate(original, random, alphabet);
    try {
      const agreement = disagreementWithKit(bytes);
      if (agreement.accepted) accepted++;
      const unmutatedRefused = i % mutationsEach === 0 && !agreement.accepted;
      if (agreement.difference !== null || unmutatedRefused) {
        const why = agreement.difference ?? "we refuse what kit built";
        return { passed: false, summary: `seed ${seed}, case ${i}: ${why}; bytes ${bytes.toHex()}` };
      }
    } catch (error) {
      return { passed: false, summary: `seed ${seed}, case ${i}: threw ${String(error)}; bytes ${bytes.toHex()}` };
    }
  }
  // A run in which nothing is accepted, or nothing refused, compares nothing.
  const passed = n < 100 || (accepted > n / 20 && accepted < (n * 19) / 20);
  return { passed, summary: `${n} transactions, ${accepted} accepted, no disagreement with kit` };
}
