import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { ManualClock, seededRandom } from "@sluice/lib";
import fc from "fast-check";
import { describeHotConformance } from "./conformance.ts";
import type { Hot, HotLog, TokenDecision, TokenRequest } from "./hot.ts";
import { MemoryHot } from "./memory.ts";
import { openHot } from "./open.ts";
import { RedisHot } from "./redis.ts";
import { parseRedisUrl } from "./redis-url.ts";

const log: HotLog = { info: () => {}, warn: () => {} };
const redisUrl = Bun.env["REDIS_URL"] ?? "";
if (redisUrl === "") console.warn("NOT RUN: hot conformance on Redis (REDIS_URL is not set)");
const times = { commandMs: 2_000, silenceMs: 4_000, connectMs: 2_000 };

function openMemory(clock: ManualClock, valuesBytesMax = 64 * 1024 * 1024): MemoryHot {
  return new MemoryHot({ valuesBytesMax }, { clock, log });
}

/** A view with a prefix of its own, so that runs on one server do not meet; whatever it writes expires by itself. */
async function openRedis(prefix: string): Promise<RedisHot> {
  const options = { address: parseRedisUrl(redisUrl), prefix, times, pingMs: 1_000 };
  const hot = new RedisHot(options, { log, random: seededRandom(1) });
  if (!(await hot.connected(5_000))) throw new Error("REDIS_URL is set and no Redis answers there.");
  return hot;
}

describeHotConformance("memory", async () => {
  const clock = new ManualClock(1_790_000_000_000);
  const hot = openMemory(clock);
  const pass = async (durationMs: number): Promise<void> => clock.advance(durationMs);
  return { hot, other: hot, pass, [Symbol.asyncDispose]: () => hot[Symbol.asyncDispose]() };
});

if (redisUrl !== "") {
  describeHotConformance("Redis", async () => {
    const prefix = `sluice-test-${randomUUID()}:`;
    const [hot, other] = [await openRedis(prefix), await openRedis(prefix)];
    return {
      hot,
      other,
      pass: (durationMs) => Bun.sleep(durationMs),
      [Symbol.asyncDispose]: async () => {
        await hot[Symbol.asyncDispose]();
        await other[Symbol.asyncDispose]();
      },
    };
  });
}

/** A bucket stepped a millisecond at a time in exact integers (thousandths of a token): slow, and plainly right. */
class ReferenceBucket {
  #thousandths: bigint | null = null;

  step(durationMs: number, rate: number, burst: number): void {
    const full = BigInt(burst) * 1_000n;
    for (let passed = 0; passed < durationMs && this.#thousandths !== null; passed += 1) {
      this.#thousandths += BigInt(rate);
      if (this.#thousandths >= full) this.#thousandths = null;
    }
  }

  take({ rate, burst, cost }: TokenRequest): TokenDecision {
    const full = BigInt(burst) * 1_000n;
    const price = BigInt(cost) * 1_000n;
    let level = this.#thousandths ?? full;
    const allowed = level >= price;
    if (allowed) level -= price;
    this.#thousandths = level === full ? null : level;
    return {
      allowed,
      remaining: Number(level / 1_000n),
      resetMs: waitFor(full - level, rate),
      retryMs: allowed ? 0 : waitFor((price < full ? price : full) - level, rate),
    };
  }
}

function waitFor(missing: bigint, rate: number): number {
  return Number((missing + BigInt(rate) - 1n) / BigInt(rate));
}

interface Takes {
  readonly rate: number;
  readonly burst: number;
  readonly steps: readonly { readonly waitMs: number; readonly cost: number }[];
}

const takes = fc.record<Takes>({
  rate: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.constant(999_983)),
  burst: fc.integer({ min: 1, max: 40 }),
  steps: fc.array(
    fc.record({
      waitMs: fc.oneof(fc.constant(0), fc.nat(30), fc.nat(3_000)),
      cost: fc.oneof(fc.constant(1), fc.nat(45)),
    }),
    { maxLength: 30 },
  ),
});

/** Runs the same takes against a store and the reference and compares every decision. */
async function followsReference(
  { rate, burst, steps }: Takes,
  take: (waitMs: number, request: TokenRequest) => Promise<TokenDecision>,
): Promise<void> {
  const reference = new ReferenceBucket();
  for (const { waitMs, cost } of steps) {
    reference.step(waitMs, rate, burst);
    expect(await take(waitMs, { rate, burst, cost })).toEqual(reference.take({ rate, burst, cost }));
  }
}

describe("token bucket against a reference stepped by milliseconds", () => {
  test("memory decides the same, whatever is taken when", async () => {
    const property = fc.asyncProperty(takes, async (run) => {
      const clock = new ManualClock();
      const hot = openMemory(clock);
      await followsReference(run, (waitMs, request) => {
        clock.advance(waitMs);
        return hot.takeTokens("bucket", request);
      });
    });
    await fc.assert(property, { numRuns: 300, seed: 11 });
  });

  if (redisUrl !== "") {
    test("the script in Redis decides the same, whatever is taken when", async () => {
      await using hot = await openRedis(`sluice-test-${randomUUID()}:`);
      let bucket = 0;
      const property = fc.asyncProperty(takes, async (run) => {
        bucket += 1;
        // Redis lets a bucket expire by its own clock. With costs of whole seconds' worth of tokens a bucket that was taken
        // from lives on for a second at least, which is longer than the run.
        const { rate } = run;
        const costs = run.steps.map(({ waitMs, cost }) => ({ waitMs, cost: cost * rate }));
        const slow: Takes = { rate, burst: run.burst * rate, steps: costs };
        let nowMs = 1_790_000_000_000;
        await followsReference(slow, (waitMs, request) => {
          nowMs += waitMs;
          return hot.takeTokensAt(`bucket ${bucket}`, request, nowMs);
        });
      });
      await fc.assert(property, { numRuns: 60, seed: 11 });
    });
  }

  test("setting the machine's clock neither fills nor empties a bucket in memory", async () => {
    const clock = new ManualClock(1_790_000_000_000);
    const hot = openMemory(clock);
    const request = { rate: 1, burst: 5, cost: 5 };
    await hot.takeTokens("bucket", request);
    clock.jump(1_890_000_000_000);
    expect((await hot.takeTokens("bucket", request)).retryMs).toBe(5_000);
    clock.jump(0);
    clock.advance(5_000);
    expect((await hot.takeTokens("bucket", request)).allowed).toBe(true);
  });
});

describe("memory's bounds", () => {
  test("values are let go longest unused first when they take more than they may", async () => {
    const hot = openMemory(new ManualClock(), 10_000);
    const value = new Uint8Array(2_000);
    for (const key of ["a", "b", "c", "d"]) await hot.set(key, value, 60_000);
    await hot.get("a");
    await hot.set("e", value, 60_000);
    const kept = await Promise.all(["a", "b", "c", "d", "e"].map(async (key) => (await hot.get(key)) !== null));
    expect(kept).toEqual([true, false, true, true, true]);
  });

  test("a hundred thousand leases are the most; expired ones make room and held ones are never dropped", async () => {
    const clock = new ManualClock();
    const hot: Hot = openMemory(clock);
    expect(await hot.acquire("held", "me", 1_000_000)).toBe(true);
    for (let index = 1; index < 100_000; index += 1) await hot.acquire(`lease ${index}`, "me", 1_000);
    expect(await hot.acquire("one more", "me", 1_000)).toBe(false);
    clock.advance(1_000);
    expect(await hot.acquire("one more", "me", 1_000)).toBe(true);
    expect(await hot.acquire("held", "you", 1_000)).toBe(false);
  });

  test("a closed store refuses", async () => {
    const hot = await openHot({ redisUrl: null }, { clock: new ManualClock(), log });
    await hot[Symbol.asyncDispose]();
    await expect(hot.get("key")).rejects.toMatchObject({ name: "HotUnavailable", code: "OVERLOADED" });
    expect(await hot.ping()).toBe(false);
  });
});
