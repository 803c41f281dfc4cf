import { type Random, seededRandom } from "@sluice/lib";
import type { AuctionBundle, AuctionCaps } from "../interfaces.ts";
import type { Instance } from "./instances.ts";

export interface BundleShape {
  readonly tip: number | bigint;
  readonly computeUnits?: number;
  readonly writes?: readonly number[];
  readonly reads?: readonly number[];
}

/** Accounts 0 to 7 are tip accounts. */
export const tipAccounts: ReadonlySet<number> = new Set([0, 1, 2, 3, 4, 5, 6, 7]);

export const wholeBlock: AuctionCaps = { computeUnits: 60_000_000, accountComputeUnits: 24_000_000, tipAccounts };

/** A bundle named by a short text. */
export function bundle(
  id: string,
  { tip, computeUnits = 100_000, writes = [], reads = [] }: BundleShape,
): AuctionBundle {
  return { id, tip: BigInt(tip), computeUnits, locks: { writes, reads } };
}

/** One conflict group: bundles on a chain of accounts, so that all are connected, and on others at random. */
export function connectedGroup(seed: number, size: number, accounts: number, caps: AuctionCaps = wholeBlock): Instance {
  const random = seededRandom(seed);
  const upTo = (limit: number): number => Math.floor(random.next() * limit);
  const bundles = Array.from({ length: size }, (_, index) => {
    const more = Array.from({ length: 1 + upTo(3) }, () => 8 + upTo(accounts));
    const writes = new Set([upTo(8), 1_000 + index, 1_001 + index, ...more]);
    return bundle(index.toString(16).padStart(4, "0"), {
      tip: Math.floor(1_000 * 10 ** (3 * random.next())),
      computeUnits: 20_000 + upTo(1_400_000),
      writes: [...writes],
    });
  });
  return { bundles, caps };
}

export function shuffled<T>(values: readonly T[], random: Random): T[] {
  const order = values.map((value) => ({ value, key: random.next() }));
  return order.sort((a, b) => a.key - b.key).map(({ value }) => value);
}
