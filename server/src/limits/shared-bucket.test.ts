import { expect, test } from "bun:test";
import {
  adaptBlock,
  evictOne,
  holdOff,
  knownTokens,
  openShared,
  type SharedBucket,
  sharedDecision,
} from "./shared-bucket.ts";

/** Buckets by name, the oldest first, each changed as is said. */
function bucketsOf(changes: Readonly<Record<string, Partial<SharedBucket>>>): Map<string, SharedBucket> {
  const entries = Object.entries(changes);
  return new Map(entries.map(([name, change]) => [name, Object.assign(openShared(name, 10, 20, 0), change)]));
}

const waiter = { cost: 1, resolve: () => {} };

test("a bucket that holds tokens, owes some, is leasing or is waited for is never forgotten", () => {
  for (const busy of [{ held: 1 }, { owed: 1 }, { isLeasing: true }, { waiters: [waiter] }]) {
    const buckets = bucketsOf({ busy });
    expect([evictOne(buckets), [...buckets.keys()]]).toEqual([false, ["busy"]]);
    buckets.set("idle", openShared("idle", 10, 20, 0));
    expect([evictOne(buckets), [...buckets.keys()]]).toEqual([true, ["busy"]]);
  }
});

test("one that has nothing goes, the oldest first, and one alone", () => {
  const buckets = bucketsOf({ first: {}, second: {} });
  expect([evictOne(buckets), [...buckets.keys()]]).toEqual([true, ["second"]]);
});

test("each look is bounded and the next goes on where it ended, so that a busy crowd does not hide an idle one for good", () => {
  const crowd = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`busy ${index}`, { held: 1 }]));
  const buckets = bucketsOf({ ...crowd, idle: {} });
  const outcomes = [evictOne(buckets), evictOne(buckets), evictOne(buckets)];
  expect([outcomes, buckets.has("idle"), buckets.size]).toEqual([[false, false, true], false, 40]);
});

test("a bucket that did not cover a cost is asked again when it would, between 2 and 250 ms later", () => {
  const waitFor = (cost: number, change: Partial<SharedBucket>): number => {
    const bucket = Object.assign(openShared("a", 10, 20, 0), change);
    holdOff(bucket, cost, 1_000);
    expect(bucket.emptyCost).toBe(cost);
    return bucket.emptyUntilMs - 1_000;
  };
  expect(waitFor(1, { held: 0, level: 0 })).toBe(100);
  expect(waitFor(4, { held: 2, level: 1 })).toBe(100);
  expect(waitFor(1, { held: 0, level: 0.99 })).toBe(2);
  expect(waitFor(20, { held: 0, level: 0 })).toBe(250);
});

test("each look is at sixteen buckets", () => {
  const busy = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`busy ${at}`, { held: 1 }]));
  expect(evictOne(bucketsOf({ ...busy(15), idle: {} }))).toBe(true);
  expect(evictOne(bucketsOf({ ...busy(16), idle: {} }))).toBe(false);
});

test("a new bucket leases an eighth of a second's tokens ahead, between one and eight", () => {
  expect([4, 8, 16, 40, 64, 1_000].map((rate) => openShared("a", rate, 2 * rate, 0).block)).toEqual([1, 1, 2, 5, 8, 8]);
});

test("a lease that was gone within 50 ms is followed by twice as much, one that lasted over 500 ms by half", () => {
  const nextBlock = (rate: number, block: number, lastedMs: number): number => {
    const bucket = Object.assign(openShared("a", rate, 2 * rate, 0), { block, leasedAtMs: 70 });
    adaptBlock(bucket, 70 + lastedMs);
    expect(bucket.leasedAtMs).toBe(70 + lastedMs);
    return bucket.block;
  };
  expect([49, 50, 500, 501].map((lastedMs) => nextBlock(1_000, 10, lastedMs))).toEqual([20, 10, 10, 5]);
  // Between one token and a sixteenth of a second's.
  expect([nextBlock(1_000, 40, 0), nextBlock(8, 1, 0), nextBlock(1_000, 1, 600)]).toEqual([62, 1, 1]);
});

test("what is known to be there is what is held and what was left, with what flowed in since, up to the burst", () => {
  const bucket = Object.assign(openShared("a", 10, 20, 0), { held: 3, level: 4, levelAtMs: 1_000 });
  expect([900, 1_000, 1_500, 9_000].map((nowMs) => knownTokens(bucket, nowMs))).toEqual([7, 7, 12, 20]);
});

test("a decision reports the tokens known, when the bucket is full, and when as much as was refused may be there", () => {
  const bucket = Object.assign(openShared("a", 10, 100, 0), { held: 3, level: 5, levelAtMs: 1_000 });
  const times = { nowMs: 1_000, unixMs: 1_800_000_000_000 };
  expect(sharedDecision(bucket, true, 1, times)).toEqual({
    allowed: true,
    limit: 10,
    burst: 100,
    remaining: 8,
    resetAt: 1_800_000_010,
    retryAfterSeconds: 0,
  });
  const retryAfter = (cost: number, change: Partial<SharedBucket> = {}): number =>
    sharedDecision(Object.assign({ ...bucket }, change), false, cost, times).retryAfterSeconds;
  expect([retryAfter(8), retryAfter(18), retryAfter(19), retryAfter(500)]).toEqual([1, 1, 2, 10]);
  expect(retryAfter(1, { held: 0, level: 0 })).toBe(1);
  expect(retryAfter(5_000, { rate: 1, burst: 5_000 })).toBe(3_600);
});
