import type { DoorCredits, DoorGrant, DoorLimits, LimitDecision } from "./interfaces.ts";

/**
 * Takes `count` tokens from each bucket that binds the key. The decision that refuses is the answer; else that of the
 * first bucket, which is the narrowest. A bucket that was passed before another refused keeps what it took: the call
 * was made, and only the wider limit stopped it. A promise only when buckets are shared and one has to be asked.
 */
export function takeRequestTokens(
  limits: DoorLimits,
  grant: DoorGrant,
  count: number,
): LimitDecision | null | Promise<LimitDecision | null> {
  let first: LimitDecision | null = null;
  for (const [index, { bucket, requestsPerSecond, burst }] of grant.buckets.requests.entries()) {
    const decision = limits.take(bucket, requestsPerSecond, burst, count);
    if (decision instanceof Promise) return takeRest(limits, grant, count, { index, first, decision });
    if (!decision.allowed) return decision;
    first ??= decision;
  }
  return first;
}

async function takeRest(
  limits: DoorLimits,
  grant: DoorGrant,
  count: number,
  so: { readonly index: number; readonly first: LimitDecision | null; readonly decision: Promise<LimitDecision> },
): Promise<LimitDecision> {
  const waitedFor = await so.decision;
  if (!waitedFor.allowed) return waitedFor;
  for (const { bucket, requestsPerSecond, burst } of grant.buckets.requests.slice(so.index + 1)) {
    const decision = await limits.take(bucket, requestsPerSecond, burst, count);
    if (!decision.allowed) return decision;
  }
  return so.first ?? waitedFor;
}

/** sendTransaction has a bucket of its own beside the ordinary one. */
export function takeSendToken(limits: DoorLimits, grant: DoorGrant): LimitDecision | Promise<LimitDecision> {
  const { bucket, requestsPerSecond, burst } = grant.buckets.send;
  return limits.take(bucket, requestsPerSecond, burst, 1);
}

/** Takes the price of a call or a batch; synchronous while the account's lease lasts. */
export function takeCredits(credits: DoorCredits, grant: DoorGrant, cost: number): boolean | Promise<boolean> {
  return cost === 0 ? true : credits.take(grant.accountId, grant.creditsMonthly, cost);
}
