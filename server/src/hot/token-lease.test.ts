import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { seededRandom, systemClock } from "@sluice/lib";
import { parseRedisUrl } from "../config/index.ts";
import { RedisHot } from "./redis.ts";
import {
  checkLeaseRequest,
  type LeasedBucket,
  leaseFromBucket,
  type TokenLease,
  type TokenLeaseRequest,
} from "./token-lease.ts";

const redisUrl = Bun.env["REDIS_URL"] ?? "";
if (redisUrl === "") console.warn("NOT RUN: leases of tokens on Redis (REDIS_URL is not set)");

const plain: TokenLeaseRequest = {
  rate: 10,
  burst: 20,
  holder: "a",
  sequence: 1,
  held: 0,
  needed: 0,
  want: 0,
  owed: 0,
  lifeMs: 3_000,
};

/** One bucket, asked in turn. */
function bucketAt(): (nowMs: number, request: Partial<TokenLeaseRequest>) => TokenLease {
  let bucket: LeasedBucket | null = null;
  let sequence = 0;
  return (nowMs, request) => {
    sequence += 1;
    const outcome = leaseFromBucket(bucket, nowMs, { ...plain, sequence, ...request });
    bucket = outcome.bucket;
    return outcome.lease;
  };
}

test("a request is taken up to the bounds of each member, and refused beyond them", () => {
  const bounds = {
    rate: [1, 1_000_000],
    burst: [1, 1_000_000_000],
    lifeMs: [1, 60_000],
    sequence: [0, 1e12],
    held: [0, 1e12],
    needed: [0, 1e12],
    want: [0, 1e12],
    owed: [0, 1e12],
  } as const;
  for (const [name, [least, most]] of Object.entries(bounds)) {
    for (const value of [least, most]) expect(() => checkLeaseRequest({ ...plain, [name]: value })).not.toThrow();
    for (const value of [least - 1, most + 1, least + 0.5, Number.NaN]) {
      expect(() => checkLeaseRequest({ ...plain, [name]: value })).toThrow(RangeError);
    }
  }
  for (const holder of ["a", "A-z_9".repeat(12)]) expect(() => checkLeaseRequest({ ...plain, holder })).not.toThrow();
  for (const holder of ["", "a b", "a".repeat(65)]) {
    expect(() => checkLeaseRequest({ ...plain, holder })).toThrow(RangeError);
  }
});

test("need is granted as far as tokens are there, and ahead of it only a part of an equal share", () => {
  const lease = bucketAt();
  expect(lease(0, { needed: 3, want: 100 })).toEqual({ granted: 3 + 8, thousandths: 9_000 });
  expect(lease(0, { holder: "b", needed: 1, want: 100 })).toEqual({ granted: 1 + 2, thousandths: 6_000 });
  expect(lease(0, { holder: "b", held: 3, needed: 30, want: 40 })).toEqual({ granted: 6, thousandths: 0 });
  expect(lease(0, { holder: "c", needed: 1, want: 5 })).toEqual({ granted: 0, thousandths: 0 });
});

test("a bucket does not fill while its tokens are held by a process, and does when they are given back", () => {
  const lease = bucketAt();
  lease(0, { needed: 10, want: 10 });
  expect(lease(2_000, { holder: "b" }).thousandths).toBe(10_000);
  expect(lease(2_000, { held: 10, want: 0 })).toEqual({ granted: 0, thousandths: 20_000 });
});

test("what a holder took with it is lost with its life, and then flows in again at the rate", () => {
  const lease = bucketAt();
  lease(0, { needed: 10, want: 10 });
  expect(lease(2_999, { holder: "b" }).thousandths).toBe(10_000);
  expect(lease(3_500, { holder: "b" }).thousandths).toBe(15_010);
});

test("a debt is worked off before anything is granted, and is never larger than the burst", () => {
  const lease = bucketAt();
  expect(lease(0, { owed: 1_000, needed: 1, want: 1 })).toEqual({ granted: 0, thousandths: -20_000 });
  expect(lease(1_999, { needed: 1, want: 1 }).granted).toBe(0);
  expect(lease(2_100, { needed: 1, want: 1 }).granted).toBe(1);
});

test("a request that comes after a newer one of its holder changes nothing", () => {
  const lease = bucketAt();
  lease(0, { needed: 5, want: 5, sequence: 8 });
  expect(lease(0, { held: 5, want: 0, sequence: 7 })).toEqual({ granted: 0, thousandths: 15_000 });
  expect(lease(0, { held: 5, want: 0, sequence: 9 })).toEqual({ granted: 0, thousandths: 20_000 });
});

if (redisUrl !== "") {
  describe("on Redis", () => {
    test("the script leases as the arithmetic here does, whatever is asked when", async () => {
      const times = { commandMs: 2_000, silenceMs: 4_000, connectMs: 2_000 };
      const prefix = `sluice-test-${randomUUID()}:`;
      await using hot = new RedisHot(
        { address: parseRedisUrl(redisUrl), prefix, times, pingMs: 1_000 },
        { clock: systemClock, log: { info: () => {}, warn: () => {} }, random: seededRandom(1) },
      );
      expect(await hot.connected(5_000)).toBe(true);
      const random = seededRandom(7);
      const upTo = (limit: number): number => Math.floor(random.next() * limit);
      let nowMs = 1_790_000_000_000;
      for (let play = 0; play < 12; play += 1) {
        const [rate, burst] = [1 + upTo(40), 20 + upTo(400)];
        let bucket: LeasedBucket | null = null;
        for (let sequence = 1; sequence <= 60; sequence += 1) {
          nowMs += upTo(4) === 0 ? -upTo(50) : upTo(900);
          const request: TokenLeaseRequest = {
            rate,
            burst,
            holder: `holder-${upTo(4)}`,
            sequence: upTo(8) === 0 ? Math.max(0, sequence - 5) : sequence,
            held: upTo(6),
            needed: upTo(9),
            want: upTo(30),
            owed: upTo(10) === 0 ? upTo(500) : 0,
            lifeMs: 3_000,
          };
          const expected = leaseFromBucket(bucket, nowMs, request);
          bucket = expected.bucket;
          expect(await hot.leaseTokensAt(`bucket ${play}`, request, nowMs)).toEqual(expected.lease);
        }
      }
    });
  });
}
