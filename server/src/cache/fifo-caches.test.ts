import { describe, expect, test } from "bun:test";
import { seededRandom } from "@sluice/lib";
import { FifoCache, S3FifoCache } from "./fifo-caches.ts";

interface Value {
  readonly sizeBytes: number;
}

/** Keys by popularity (Zipf), mixed with keys that are asked for once. */
function makeTrace(options: { reads: number; keys: number; exponent: number; onceIn: number }): string[] {
  const random = seededRandom(5);
  const sums: number[] = [];
  let sum = 0;
  for (let rank = 1; rank <= options.keys; rank += 1) {
    sum += 1 / rank ** options.exponent;
    sums.push(sum);
  }
  const popular = (): number => {
    const target = random.next() * sum;
    let [low, high] = [0, sums.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sums[middle] ?? 0) < target) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return Array.from({ length: options.reads }, (_, index) =>
    index % options.onceIn === 0 ? `once ${index}` : `key ${popular()}`,
  );
}

const sizeOf = (key: string): number => 512 + (Bun.hash.xxHash32(key) % 7_680);

function hitRatio(trace: readonly string[], bytesMax: number, kind: "lru" | "admitting"): number {
  const lru = new FifoCache<Value>({ bytesMax });
  const admitting = new S3FifoCache<Value>({ bytesMax });
  const store = kind === "lru" ? lru : admitting;
  let hits = 0;
  for (const key of trace) {
    if (store.get(key, 0) === undefined) store.set(key, { sizeBytes: sizeOf(key) }, 1);
    else {
      hits += 1;
      // Setting it again makes it the newest: first in, first out then is least recently used.
      if (kind === "lru") lru.set(key, { sizeBytes: sizeOf(key) }, 1);
    }
  }
  return hits / trace.length;
}

test("on a skewed trace with one-off answers more is hit than with plain LRU", () => {
  const trace = makeTrace({ reads: 200_000, keys: 20_000, exponent: 0.9, onceIn: 3 });
  const bytesMax = (20_000 * 4_352) / 20;
  const [lru, admitting] = [hitRatio(trace, bytesMax, "lru"), hitRatio(trace, bytesMax, "admitting")];
  if (process.env["SHOW"] !== undefined) console.log({ lru, admitting });
  expect(admitting).toBeGreaterThan(lru * 1.2);
});

test("a flood of answers that are read once, and large ones, leave what is read often where it is", () => {
  const store = new S3FifoCache<Value>({ bytesMax: 1_000_000 });
  for (let key = 0; key < 100; key += 1) store.set(`hot ${key}`, { sizeBytes: 2_000 }, 10);
  for (let flood = 0; flood < 20_000; flood += 1) {
    store.get(`hot ${flood % 100}`, 0);
    store.set(`once ${flood}`, { sizeBytes: flood % 50 === 0 ? 110_000 : 2_000 }, 10);
    expect(store.bytes).toBeLessThanOrEqual(1_000_000);
  }
  const kept = Array.from({ length: 100 }, (_, key) => store.get(`hot ${key}`, 0)).filter(
    (value) => value !== undefined,
  );
  expect(kept.length).toBe(100);
});

test("a key that is asked for again soon after it left its trial comes to stay", () => {
  const store = new S3FifoCache<Value>({ bytesMax: 100_000 });
  store.set("missed", { sizeBytes: 1_000 }, 10);
  for (let flood = 0; flood < 200; flood += 1) store.set(`once ${flood}`, { sizeBytes: 1_000 }, 10);
  expect(store.get("missed", 0)).toBeUndefined();
  store.set("missed", { sizeBytes: 1_000 }, 10);
  for (let flood = 200; flood < 280; flood += 1) store.set(`once ${flood}`, { sizeBytes: 1_000 }, 10);
  expect(store.get("missed", 0)).toBeDefined();
});

test("an expired answer is not given, a replaced one is counted once, and one over an eighth of the bound is not kept", () => {
  const store = new S3FifoCache<Value>({ bytesMax: 100_000 });
  store.set("a", { sizeBytes: 1_000 }, 10);
  const bytes = store.bytes;
  for (let again = 0; again < 500; again += 1) store.set("a", { sizeBytes: 1_000 }, 10);
  expect([store.bytes, store.size]).toEqual([bytes, 1]);
  expect(store.get("a", 10)).toBeUndefined();
  expect([store.bytes, store.size]).toEqual([0, 0]);
  store.set("large", { sizeBytes: 13_000 }, 10);
  expect(store.get("large", 0)).toBeUndefined();
});

test("a key is counted with two bytes for each character, and an entry with its own memory", () => {
  const bytesOf = (key: string): number => {
    const store = new S3FifoCache<Value>({ bytesMax: 100_000 });
    store.set(key, { sizeBytes: 1_000 }, 10);
    return store.bytes;
  };
  expect(bytesOf("a")).toBeGreaterThan(1_200);
  expect(bytesOf("a".repeat(51)) - bytesOf("a")).toBe(100);
});

describe("with room for twenty values", () => {
  const bytesEach = 1_000;
  const bytesMax = 20 * bytesEach;
  /** With the 288 bytes that an entry of a key of four characters has beside its value. */
  const given = { sizeBytes: bytesEach - 288 };
  const set = (store: S3FifoCache<Value>, number: number): void =>
    store.set(String(number).padStart(4, "0"), given, 10);
  const isKept = (store: S3FifoCache<Value>, number: number): boolean =>
    store.get(String(number).padStart(4, "0"), 0) !== undefined;

  /** Of 200 keys that were set, the last twenty are on trial, and the others are admitted when they are set again. */
  function afterFlood(): S3FifoCache<Value> {
    const store = new S3FifoCache<Value>({ bytesMax });
    for (let number = 0; number < 200; number += 1) set(store, number);
    return store;
  }

  test("all twenty are kept, and an eighth of the bound is the largest value", () => {
    const store = new S3FifoCache<Value>({ bytesMax });
    for (let number = 0; number < 20; number += 1) set(store, number);
    expect([store.size, store.bytes]).toEqual([20, bytesMax]);
    const eighth = new S3FifoCache<Value>({ bytesMax: 8 * bytesEach });
    set(eighth, 1);
    expect(eighth.size).toBe(1);
  });

  test("what is on trial is evicted before what is admitted, down to a tenth of the bound", () => {
    const store = afterFlood();
    for (let number = 0; number < 18; number += 1) set(store, number);
    expect([197, 198, 199, 0, 17].map((number) => isKept(store, number))).toEqual([false, true, true, true, true]);
    const further = afterFlood();
    for (let number = 0; number < 19; number += 1) set(further, number);
    expect([198, 199, 0, 1, 18].map((number) => isKept(further, number))).toEqual([true, true, false, true, true]);
  });

  /** The admissions after which key 0 is evicted, which was admitted first, with 17 others, and then read. */
  function admissionsUntilGone(reads: number): number {
    for (let admissions = 1; admissions < 150; admissions += 1) {
      const store = afterFlood();
      for (let number = 0; number < 18; number += 1) set(store, number);
      for (let read = 0; read < reads; read += 1) expect(isKept(store, 0)).toBe(true);
      for (let number = 18; number < 18 + admissions; number += 1) set(store, number);
      if (!isKept(store, 0)) return admissions;
    }
    throw new RangeError("the key is not evicted");
  }

  test("each read keeps what is admitted for one more turn of the eighteen, and three reads are the most that count", () => {
    expect([0, 1, 2, 3, 4, 9].map(admissionsUntilGone)).toEqual([1, 19, 37, 55, 55, 55]);
  });

  test("what was read on its trial is admitted, and the read does not count there again", () => {
    const store = afterFlood();
    expect(isKept(store, 180)).toBe(true);
    for (let number = 0; number < 18; number += 1) set(store, number);
    expect([0, 1].map((number) => isKept(store, number))).toEqual([false, true]);
    set(store, 18);
    expect(isKept(store, 180)).toBe(false);
  });

  test("a key that left its trial is remembered while at most 1,023 others do", () => {
    const isRemembered = (others: number): boolean => {
      const store = new S3FifoCache<Value>({ bytesMax });
      for (let number = 0; number < 21 + others; number += 1) set(store, number);
      set(store, 0);
      for (let number = 2_000; number < 2_040; number += 1) set(store, number);
      return isKept(store, 0);
    };
    expect([isRemembered(0), isRemembered(1_023), isRemembered(1_024)]).toEqual([true, true, false]);
  });
});
