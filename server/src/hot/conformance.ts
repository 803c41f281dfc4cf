import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sharingConformance } from "./conformance/sharing.ts";
import type { HotSubject } from "./conformance/subject.ts";
import type { Hot } from "./hot.ts";

/** An empty store of one driver. */
export interface HotHarness extends AsyncDisposable {
  readonly hot: Hot;
  /** A second replica's view of the same store; for memory that is the same one. */
  readonly other: Hot;
  /** Lets that much time pass, by the clock that the store lives on. */
  pass(durationMs: number): Promise<void>;
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
/** Drivers may answer with a kind of Uint8Array of their own; only the bytes are compared. */
const plain = (value: Uint8Array | null): Uint8Array | null => (value === null ? null : Uint8Array.from(value));

/** Every promise that `Hot` makes while the store is there, as tests. Each driver passes the same ones. */
export function describeHotConformance(driver: string, open: () => Promise<HotHarness>): void {
  describe(`hot conformance on ${driver}`, () => {
    let harness: HotHarness | null = null;
    let keys = 0;
    const opened = (): HotHarness => {
      if (harness === null) throw new Error("The store is not open.");
      return harness;
    };
    beforeAll(async () => {
      harness = await open();
    });
    afterAll(async () => {
      await harness?.[Symbol.asyncDispose]();
    });
    const subject: HotSubject = {
      hot: () => opened().hot,
      other: () => opened().other,
      pass: (durationMs) => opened().pass(durationMs),
      newKey: () => {
        keys += 1;
        return `key ${keys} {x} é\n🦀`;
      },
    };
    valueConformance(subject);
    counterConformance(subject);
    bucketConformance(subject);
    sharingConformance(subject);
    boundsConformance(subject);
  });
}

function valueConformance({ hot, other, pass, newKey }: HotSubject): void {
  describe("values", () => {
    test("any bytes come back as they were, to every replica, and nothing comes back for another key", async () => {
      const key = newKey();
      const all = Uint8Array.from({ length: 256 }, (_, value) => value);
      await hot().set(key, all, 60_000);
      expect(plain(await other().get(key))).toEqual(all);
      await hot().set(key, new Uint8Array(0), 60_000);
      expect((await hot().get(key))?.length).toBe(0);
      expect(await hot().get(newKey())).toBeNull();
    });

    test("changing the buffer after it was stored changes nothing", async () => {
      const [key, buffer] = [newKey(), bytes("before")];
      await hot().set(key, buffer, 60_000);
      buffer.fill(0);
      expect(plain(await hot().get(key))).toEqual(bytes("before"));
    });

    test("a value is gone when its life is over, and a new one has a life of its own", async () => {
      const [short, renewed] = [newKey(), newKey()];
      await hot().set(short, bytes("a"), 40);
      await hot().set(renewed, bytes("a"), 40);
      await hot().set(renewed, bytes("b"), 60_000);
      await pass(60);
      expect(await hot().get(short)).toBeNull();
      expect(plain(await hot().get(renewed))).toEqual(bytes("b"));
    });

    test("a deleted value is gone, and deleting what is not there is no failure", async () => {
      const key = newKey();
      await hot().set(key, bytes("a"), 60_000);
      await other().delete(key);
      await other().delete(key);
      expect(await hot().get(key)).toBeNull();
    });

    test("a value over 16 MiB is not kept, and neither is the one it was to replace", async () => {
      const key = newKey();
      await hot().set(key, bytes("small"), 60_000);
      await hot().set(key, new Uint8Array(16 * 1024 * 1024 + 1), 60_000);
      expect(await hot().get(key)).toBeNull();
    });

    test("values, counters, buckets and leases under one key do not meet", async () => {
      const key = newKey();
      await hot().set(key, bytes("value"), 60_000);
      expect(await hot().increment(key, 5, 60_000)).toBe(5);
      expect((await hot().takeTokens(key, { rate: 1, burst: 1, cost: 1 })).allowed).toBe(true);
      expect(await hot().acquire(key, "me", 60_000)).toBe(true);
      expect(plain(await hot().get(key))).toEqual(bytes("value"));
    });
  });
}

function counterConformance({ hot, other, pass, newKey }: HotSubject): void {
  describe("counters", () => {
    test("increments from every replica at once all count, and each gets a count of its own", async () => {
      const key = newKey();
      const counts = await Promise.all(
        Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? hot() : other()).increment(key, 2, 60_000)),
      );
      expect(counts.toSorted((left, right) => left - right)).toEqual(Array.from({ length: 50 }, (_, n) => 2 * n + 2));
      expect(await hot().increment(key, -100, 60_000)).toBe(0);
    });

    test("the life begins with the first increment and later ones do not prolong it", async () => {
      const key = newKey();
      await hot().increment(key, 1, 100);
      await pass(60);
      expect(await hot().increment(key, 1, 60_000)).toBe(2);
      await pass(60);
      expect(await hot().increment(key, 1, 60_000)).toBe(1);
    });
  });
}

function bucketConformance({ hot, other, pass, newKey }: HotSubject): void {
  describe("token buckets", () => {
    test("takes from every replica at once never go over the burst", async () => {
      const key = newKey();
      const request = { rate: 0.001, burst: 20, cost: 1 };
      const decisions = await Promise.all(
        Array.from({ length: 60 }, (_, index) => (index % 2 === 0 ? hot() : other()).takeTokens(key, request)),
      );
      expect(decisions.filter(({ allowed }) => allowed).length).toBe(20);
      const remaining = decisions.filter(({ allowed }) => allowed).map((decision) => decision.remaining);
      expect(remaining.toSorted((left, right) => left - right)).toEqual(Array.from({ length: 20 }, (_, left) => left));
    });

    test("a refusal says when to come back, and coming back then is allowed", async () => {
      const key = newKey();
      const request = { rate: 20, burst: 2, cost: 2 };
      expect(await hot().takeTokens(key, request)).toEqual({ allowed: true, remaining: 0, resetMs: 100, retryMs: 0 });
      const refused = await hot().takeTokens(key, request);
      expect(refused).toMatchObject({ allowed: false });
      expect(refused.retryMs).toBeGreaterThan(0);
      expect(refused.retryMs).toBeLessThanOrEqual(100);
      expect(refused.resetMs).toBe(refused.retryMs);
      await pass(refused.retryMs);
      expect((await hot().takeTokens(key, request)).allowed).toBe(true);
    });

    test("a cost of nothing looks without taking, and a cost above the burst is never allowed and takes nothing", async () => {
      const key = newKey();
      const bucket = { rate: 0.001, burst: 3 };
      expect(await hot().takeTokens(key, { ...bucket, cost: 0 })).toEqual({
        allowed: true,
        remaining: 3,
        resetMs: 0,
        retryMs: 0,
      });
      expect(await hot().takeTokens(key, { ...bucket, cost: 4 })).toMatchObject({ allowed: false, remaining: 3 });
      expect(await hot().takeTokens(key, { ...bucket, cost: 3 })).toMatchObject({ allowed: true, remaining: 0 });
    });
  });
}

function boundsConformance({ hot, newKey }: HotSubject): void {
  describe("bounds", () => {
    test("keys, lives and amounts out of bounds are refused with RangeError", async () => {
      const value = bytes("a");
      for (const key of ["", "x".repeat(513)]) await expect(hot().get(key)).rejects.toThrow(RangeError);
      for (const ttlMs of [0, -1, 1.5, Number.NaN, 31 * 24 * 3_600_000]) {
        await expect(hot().set(newKey(), value, ttlMs)).rejects.toThrow(RangeError);
        await expect(hot().increment(newKey(), 1, ttlMs)).rejects.toThrow(RangeError);
        await expect(hot().acquire(newKey(), "me", ttlMs)).rejects.toThrow(RangeError);
      }
      await expect(hot().increment(newKey(), 0.5, 1_000)).rejects.toThrow(RangeError);
      const good = { rate: 1, burst: 1, cost: 1 };
      for (const wrong of [{ rate: 0 }, { rate: Number.NaN }, { burst: 0 }, { burst: 1.5 }, { cost: -1 }]) {
        await expect(hot().takeTokens(newKey(), { ...good, ...wrong })).rejects.toThrow(RangeError);
      }
    });

    test("an open store answers a ping", async () => {
      expect(await hot().ping()).toBe(true);
    });
  });
}
