import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { ManualClock, seededRandom, systemClock } from "@sluice/lib";
import { parseRedisUrl } from "../config/index.ts";
import type { HotLog } from "./hot.ts";
import { MemoryHot } from "./memory.ts";
import { openHot } from "./open.ts";
import { RedisHot } from "./redis.ts";
import { describeHotConformance } from "./testing/conformance.ts";

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
  const hot = new RedisHot(options, { clock: systemClock, log, random: seededRandom(1) });
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

describe("memory's bounds", () => {
  test("setting the machine's clock neither fills nor empties a bucket", async () => {
    const clock = new ManualClock(1_790_000_000_000);
    const hot = openMemory(clock);
    const all = { rate: 1, burst: 5, held: 0, needed: 5, want: 5, owed: 0, lifeMs: 1 };
    expect((await hot.leaseTokens("bucket", { ...all, holder: "first", sequence: 1 })).granted).toBe(5);
    clock.jump(1_890_000_000_000);
    expect((await hot.leaseTokens("bucket", { ...all, holder: "second", sequence: 1 })).granted).toBe(0);
    clock.jump(0);
    clock.advance(5_000);
    expect((await hot.leaseTokens("bucket", { ...all, holder: "second", sequence: 2 })).granted).toBe(5);
  });

  test("values are let go longest unused first when they take more than they may", async () => {
    const hot = openMemory(new ManualClock(), 10_000);
    const value = new Uint8Array(2_000);
    for (const key of ["a", "b", "c", "d"]) await hot.set(key, value, 60_000);
    await hot.get("a");
    await hot.set("e", value, 60_000);
    const kept = await Promise.all(["a", "b", "c", "d", "e"].map(async (key) => (await hot.get(key)) !== null));
    expect(kept).toEqual([true, false, true, true, true]);
  });

  test("who attends is there until its time is over, and not at that moment", async () => {
    const clock = new ManualClock();
    const hot = openMemory(clock);
    expect(await hot.attend("key", "first", 1_000)).toBe(1);
    clock.advance(999);
    expect(await hot.attend("key", "second", 1_000)).toBe(2);
    clock.advance(1);
    expect(await hot.attend("key", "second", 1_000)).toBe(1);
    expect(await hot.attend("key", "second", 0)).toBe(0);
  });

  test("a closed store refuses", async () => {
    const hot = await openHot({ redisUrl: null }, { clock: new ManualClock(), log });
    await hot[Symbol.asyncDispose]();
    await expect(hot.get("key")).rejects.toMatchObject({ name: "HotUnavailable", code: "OVERLOADED" });
    expect(await hot.ping()).toBe(false);
  });
});
