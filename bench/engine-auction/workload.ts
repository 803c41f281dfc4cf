import type { AuctionBundle, AuctionCaps } from "@sluice/auction";
import { seededRandom } from "@sluice/lib";

export interface Tick {
  readonly bundles: readonly AuctionBundle[];
  readonly caps: AuctionCaps;
}

export const workloads = ["mixed", "mixed, caps bind", "hard", "hard, caps bind"] as const;
export type Workload = (typeof workloads)[number];

const bundlesEach = 2_000;
const tipAccountCount = 8;
/** Programs and mints, which no bundle writes. */
const readOnlyCount = 40;

/**
 * A tick of 2,000 bundles. `mixed`: opportunities of one to three accounts, from one bundle to hundreds on each
 * (Pareto). `hard`: four groups of 500 that each share 50 accounts, four at most in a bundle. Every bundle also has a
 * payer, for one in ten a searcher's with several bundles, its own accounts, one of eight tip accounts, and accounts
 * that it only reads. Where caps bind, bundles are large and 60M compute units hold an eighth of them.
 */
export function tickOf(workload: Workload, seed: number): Tick {
  const random = seededRandom(seed);
  const upTo = (limit: number): number => Math.floor(random.next() * limit);
  let accounts = tipAccountCount + readOnlyCount;
  const fresh = (): number => accounts++;
  const isHard = workload.startsWith("hard");
  const bind = workload.endsWith("caps bind");
  const bundles: AuctionBundle[] = [];
  let payers: readonly number[] = [];
  const add = (hot: readonly number[], worth: number): void => {
    const payer = (upTo(10) === 0 ? payers[upTo(payers.length)] : undefined) ?? fresh();
    const reads = new Set(Array.from({ length: 2 + upTo(4) }, () => tipAccountCount + upTo(readOnlyCount)));
    const writes = new Set([payer, upTo(tipAccountCount), fresh(), fresh(), ...hot]);
    // One in ten reads an account that others write.
    const [first] = hot;
    if (hot.length > 1 && first !== undefined && upTo(10) === 0) {
      writes.delete(first);
      reads.add(first);
    }
    const computeUnits = bind ? 60_000 + upTo(1_000_000) : 15_000 + upTo(60_000);
    bundles.push({
      id: Array.from({ length: 8 }, () =>
        upTo(2 ** 32)
          .toString(16)
          .padStart(8, "0"),
      ).join(""),
      tip: BigInt(Math.floor(1_000 + worth * (0.3 + 0.6 * random.next()))),
      computeUnits,
      locks: { writes: [...writes], reads: [...reads] },
    });
  };
  const worthOf = (): number => 10 ** (4 + 4 * random.next());
  while (bundles.length < bundlesEach) {
    if (isHard) {
      const hot = Array.from({ length: 50 }, fresh);
      payers = Array.from({ length: 50 }, fresh);
      for (let count = 0; count < 500; count++) {
        const at = Array.from({ length: 1 + upTo(4) }, () => hot[Math.floor(50 * random.next() ** 1.5)] ?? 0);
        add([...new Set(at)], worthOf());
      }
      continue;
    }
    const hot = Array.from({ length: 1 + upTo(3) }, fresh);
    if (upTo(4) === 0) payers = Array.from({ length: 20 }, fresh);
    const worth = worthOf();
    const rivals = Math.min(300, Math.ceil(1 / random.next() ** 1.1), bundlesEach - bundles.length);
    for (let count = 0; count < rivals; count++) {
      const some = hot.filter((_, at) => at === 0 || upTo(2) === 0);
      add(some, worth);
    }
  }
  const tipAccounts = new Set(Array.from({ length: tipAccountCount }, (_, at) => at));
  return { bundles, caps: { computeUnits: 60_000_000, accountComputeUnits: 24_000_000, tipAccounts } };
}
