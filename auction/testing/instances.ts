import { type Random, seededRandom } from "@sluice/lib";
import type { AuctionBundle, AuctionCaps } from "../interfaces.ts";

export interface Instance {
  readonly bundles: readonly AuctionBundle[];
  readonly caps: AuctionCaps;
}

/**
 * Shapes of small instances, chosen so that conflicts, the block, tip accounts and ties each decide in many of them.
 */
export interface SmallShape {
  readonly bundlesMax: number;
}

const tipAccountIds = [0, 1, 2] as const;

/** A random instance that exhaustive search can judge. */
export function smallInstance(seed: number, { bundlesMax }: SmallShape): Instance {
  const random = seededRandom(seed);
  const upTo = (limit: number): number => Math.floor(random.next() * limit);
  const size = 1 + upTo(bundlesMax);
  const accounts = 1 + upTo(2 * size);
  const locksMax = 1 + upTo(4);
  const tipKind = upTo(5);
  const computeKind = upTo(4);
  const oneTipAccount = upTo(3) === 0;
  const bundles = Array.from({ length: size }, (_, index): AuctionBundle => {
    const writes = new Set<number>(upTo(12) === 0 ? [] : [oneTipAccount ? 0 : upTo(tipAccountIds.length)]);
    const reads = new Set<number>();
    for (let lock = upTo(locksMax + 1); lock > 0; lock--) (upTo(3) === 0 ? reads : writes).add(3 + upTo(accounts));
    const computeUnits = computeOf(computeKind, random);
    const locks = { writes: [...writes], reads: [...reads.difference(writes)] };
    const isSplit = upTo(4) === 0;
    return {
      id: (upTo(2 ** 31) * 64 + index).toString(16).padStart(64, "0"),
      tip: tipOf(tipKind, random, computeUnits),
      computeUnits,
      locks: isSplit ? { ...locks, writeComputeUnits: locks.writes.map(() => upTo(computeUnits + 1)) } : locks,
    };
  });
  const total = bundles.reduce((sum, { computeUnits }) => sum + computeUnits, 0);
  const share = (): number => Math.floor(total * (0.1 + random.next()));
  const used = upTo(3) === 0 ? Array.from({ length: accounts + 3 }, () => upTo(Math.ceil(total / 4))) : null;
  return {
    bundles,
    caps: {
      computeUnits: upTo(3) === 0 ? total : share(),
      accountComputeUnits: upTo(3) === 0 ? total * 2 : share(),
      tipAccounts: new Set(tipAccountIds),
      ...(used === null ? {} : { usedBy: (account: number) => used[account] ?? 0 }),
    },
  };
}

function computeOf(kind: number, random: Random): number {
  const upTo = (limit: number): number => Math.floor(random.next() * limit);
  if (kind === 0) return 1 + upTo(4);
  if (kind === 1) return upTo(8) === 0 ? 0 : 1_000 * (1 + upTo(1_400));
  return 5_000 + upTo(kind === 2 ? 1_400_000 : 7_000_000);
}

/**
 * Few values (ties), wide ones, ones that grow with compute, so that no price distinguishes bundles, and none at all.
 */
function tipOf(kind: number, random: Random, computeUnits: number): bigint {
  const upTo = (limit: number): number => Math.floor(random.next() * limit);
  if (kind === 0) return BigInt(1_000 * (1 + upTo(4)));
  if (kind === 1) return BigInt(Math.floor(1_000 * 10 ** (6 * random.next())));
  if (kind === 2) return BigInt(1_000 + computeUnits);
  if (kind === 3) return upTo(4) === 0 ? 0n : BigInt(1_000 + upTo(1_000_000));
  return BigInt(1_000 + upTo(10)) + BigInt(computeUnits >> 8);
}
