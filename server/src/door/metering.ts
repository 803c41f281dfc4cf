import type { DoorCredits, DoorGrant, DoorLimits, LimitDecision } from "./interfaces.ts";

/**
 * Takes `count` tokens from each bucket that binds the key. The decision that refuses is the answer; else that of the
 * first bucket, which is the narrowest. A bucket that was passed before another refused keeps what it took: the call
 * was made, and only the wider limit stopped it.
 */
export function takeRequestTokens(limits: DoorLimits, grant: DoorGrant, count: number): LimitDecision | null {
  let first: LimitDecision | null = null;
  for (const { bucket, requestsPerSecond, burst } of grant.buckets.requests) {
    const decision = limits.take(bucket, requestsPerSecond, burst, count);
    if (!decision.allowed) return decision;
    first ??= decision;
  }
  return first;
}

/** sendTransaction has a bucket of its own beside the ordinary one. */
export function takeSendToken(limits: DoorLimits, grant: DoorGrant): LimitDecision {
  const { bucket, requestsPerSecond, burst } = grant.buckets.send;
  return limits.take(bucket, requestsPerSecond, burst, 1);
}

/** Takes the price of a call or a batch; synchronous while the account's lease lasts. */
export function takeCredits(credits: DoorCredits, grant: DoorGrant, cost: number): boolean | Promise<boolean> {
  return cost === 0 ? true : credits.take(grant.accountId, grant.creditsMonthly, cost);
}
