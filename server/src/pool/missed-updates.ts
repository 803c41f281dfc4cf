import type { PoolSample } from "../ledger/index.ts";
import type { PoolSnapshot } from "./snapshot.ts";

/**
 * The epoch of the update before the pool's last one, by the last sample that was taken before that; null where the
 * sample does not tell it. The pool itself keeps what it held before its last update and not since when.
 *
 * A sample of the epoch right before names the update of that epoch. Of an older one the pool must be found as the last
 * update found it: an update between the two would have changed it, and so would a deposit.
 */
export function updateBefore({ pool }: Pick<PoolSnapshot, "pool">, sample: PoolSample | null): bigint | null {
  if (sample === null || sample.updatedIn === 0n || sample.updatedIn >= pool.lastUpdateEpoch) return null;
  if (sample.updatedIn === pool.lastUpdateEpoch - 1n) return sample.updatedIn;
  const isAsFound = sample.lamports === pool.lastEpochTotalLamports && sample.tokens === pool.lastEpochPoolTokenSupply;
  return isAsFound ? sample.updatedIn : null;
}
