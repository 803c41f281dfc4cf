import type { Timer } from "@sluice/lib";
import type { LimitDecision } from "./limits.ts";

/** A take that waits for the shared bucket. */
export interface BucketWaiter {
  readonly cost: number;
  readonly resolve: (decision: LimitDecision) => void;
}

/** What this process knows and holds of a bucket that it shares with others. Times are monotonic milliseconds. */
export interface SharedBucket {
  readonly name: string;
  rate: number;
  burst: number;
  /** Leased tokens that are not spent; nothing once `heldUntilMs` has come. */
  held: number;
  heldUntilMs: number;
  /** Below this the next lease is fetched while this one lasts. */
  watermark: number;
  /** Tokens to lease ahead of need. */
  block: number;
  leasedAtMs: number;
  /** What was left for everybody at the last lease, and when that was. */
  level: number;
  levelAtMs: number;
  /** Until then a take of `emptyCost` or more is refused without asking. */
  emptyUntilMs: number;
  emptyCost: number;
  /** Given out while the shared bucket was out of reach, and not yet reported to it. */
  owed: number;
  isLeasing: boolean;
  readonly waiters: BucketWaiter[];
  /** Ends the waiting; set while there are waiters. */
  deadline: Timer | null;
  usedAtSweep: number;
}

export function openShared(name: string, rate: number, burst: number, nowMs: number): SharedBucket {
  return {
    name,
    rate,
    burst,
    held: 0,
    heldUntilMs: 0,
    watermark: 0,
    // An eighth of a second's tokens at most, so that what lies about in one process is not missed in another.
    block: Math.max(1, Math.min(8, Math.floor(rate / 8))),
    leasedAtMs: nowMs,
    level: burst,
    levelAtMs: nowMs,
    emptyUntilMs: 0,
    emptyCost: 0,
    owed: 0,
    isLeasing: false,
    waiters: [],
    deadline: null,
    usedAtSweep: 0,
  };
}

/** A lease that is spent faster than this is followed by one twice as large, at most this much of a second's tokens. */
const spentQuicklyMs = 50;
const spentSlowlyMs = 500;
const blockParts = 16;

export function adaptBlock(bucket: SharedBucket, nowMs: number): void {
  const lastedMs = nowMs - bucket.leasedAtMs;
  const blockMax = Math.max(1, Math.floor(bucket.rate / blockParts));
  if (lastedMs < spentQuicklyMs) bucket.block = Math.min(bucket.block * 2, blockMax);
  else if (lastedMs > spentSlowlyMs) bucket.block = Math.max(1, Math.floor(bucket.block / 2));
  bucket.leasedAtMs = nowMs;
}

/** Tokens that are there by all that is known here: held, and left in the shared bucket or flowed in since. */
export function knownTokens(bucket: SharedBucket, nowMs: number): number {
  const flowed = ((nowMs - bucket.levelAtMs) * bucket.rate) / 1_000;
  return Math.min(bucket.burst, bucket.held + bucket.level + Math.max(0, flowed));
}

/**
 * After a lease that did not cover what was needed: when the shared bucket, left alone, would hold `cost`. Asking
 * sooner is pointless; others may give back what they hold, so it is never put off for long.
 */
export function holdOff(bucket: SharedBucket, cost: number, nowMs: number): void {
  const waitMs = Math.ceil(((cost - bucket.held - bucket.level) * 1_000) / bucket.rate);
  bucket.emptyCost = cost;
  bucket.emptyUntilMs = nowMs + Math.min(Math.max(waitMs, holdOffMsMin), holdOffMsMax);
}

/** The least keeps a flood of refused calls from becoming a flood of questions to Redis. */
const holdOffMsMin = 2;
const holdOffMsMax = 250;
const retryAfterMax = 3_600;

/** The decision as headers show it; `remaining` counts what other processes hold as spent. */
export function sharedDecision(
  bucket: SharedBucket,
  allowed: boolean,
  cost: number,
  times: { readonly nowMs: number; readonly unixMs: number },
): LimitDecision {
  const { rate, burst } = bucket;
  const tokens = knownTokens(bucket, times.nowMs);
  const missing = Math.max(0, Math.min(cost, burst) - tokens);
  return {
    allowed,
    limit: rate,
    burst,
    remaining: Math.max(0, Math.floor(tokens)),
    resetAt: Math.ceil((times.unixMs + ((burst - tokens) * 1_000) / rate) / 1_000),
    retryAfterSeconds: allowed ? 0 : Math.min(Math.max(1, Math.ceil(missing / rate)), retryAfterMax),
  };
}

export function stopWaiting(bucket: SharedBucket): void {
  bucket.deadline?.cancel();
  bucket.deadline = null;
}

/** Buckets examined for one that can be evicted. */
const evictionSteps = 16;

/** Makes room: one that holds and owes nothing can be forgotten, since the bucket itself is elsewhere. */
export function evictOne(buckets: Map<string, SharedBucket>): boolean {
  let steps = 0;
  for (const [name, bucket] of buckets) {
    steps += 1;
    if (steps > evictionSteps) return false;
    buckets.delete(name);
    if (!bucket.isLeasing && bucket.held === 0 && bucket.owed === 0 && bucket.waiters.length === 0) return true;
    buckets.set(name, bucket);
  }
  return false;
}
