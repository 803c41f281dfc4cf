import type { TokenDecision, TokenRequest } from "./hot.ts";

/**
 * The bucket's level when it was last changed. It counts thousandths of a token, so that a rate in tokens a second is
 * one in thousandths a millisecond, and whole rates keep the arithmetic in whole numbers, exact in a double.
 */
export interface BucketLevel {
  readonly thousandths: number;
  readonly atMs: number;
}

export function checkTokenRequest({ rate, burst, cost }: TokenRequest): void {
  if (!(rate > 0 && rate <= 1_000_000)) throw new RangeError("A rate is over 0 and up to 1,000,000 a second.");
  if (!Number.isSafeInteger(burst) || burst < 1 || burst > 1_000_000_000) {
    throw new RangeError("A burst is a whole number from 1 to 1,000,000,000.");
  }
  if (!Number.isSafeInteger(cost) || cost < 0) throw new RangeError("A cost is a whole number of at least 0.");
}

/**
 * Takes `cost` tokens if they are there. `level` is null for a bucket that is full, which is how one begins and what one
 * becomes when it is left alone. Gives the level to keep, or null when the bucket is full. A refusal keeps the level as it
 * was, so refusing costs no write. A clock that steps back refills nothing and takes nothing away. The script in `scripts.ts` is the same arithmetic inside Redis.
 */
export function takeFromBucket(
  level: BucketLevel | null,
  nowMs: number,
  { rate, burst, cost }: TokenRequest,
): { decision: TokenDecision; level: BucketLevel | null } {
  const full = burst * 1_000;
  const price = cost * 1_000;
  const before = level === null ? full : Math.min(full, level.thousandths + Math.max(0, nowMs - level.atMs) * rate);
  const allowed = before >= price;
  const after = allowed ? before - price : before;
  const resetMs = Math.ceil((full - after) / rate);
  const decision: TokenDecision = {
    allowed,
    remaining: Math.floor(after / 1_000),
    resetMs,
    retryMs: allowed ? 0 : Math.ceil((Math.min(price, full) - after) / rate),
  };
  if (after >= full) return { decision, level: null };
  const changed = level === null || after !== before || nowMs < level.atMs;
  return { decision, level: changed ? { thousandths: after, atMs: nowMs } : level };
}
