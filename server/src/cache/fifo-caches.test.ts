import { expect, test } from "bun:test";
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
