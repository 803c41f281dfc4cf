import { expect, test } from "bun:test";
import { evictOne, holdOff, openShared, type SharedBucket } from "./shared-bucket.ts";

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
