import { expect, test } from "bun:test";
import { KeyCache, type KeyEntry, LastUsed, type UsedKey } from "./key-cache.ts";

const entry = (presented: string, changes: Partial<KeyEntry> = {}): KeyEntry => ({
  presented,
  hash: `hash of ${presented}`,
  keyId: `id of ${presented}`,
  accountId: "acc_1",
  grant: null,
  checkedAtMs: 0,
  freshUntilMs: 0,
  isUsed: true,
  isTouched: false,
  usedAtMs: 0,
  ...changes,
});

/** A cache that knows these keys, in this order, all of them used. */
function cacheOf(names: readonly string[], knownMax = names.length): KeyCache {
  const cache = new KeyCache({ knownMax, unknownMax: 2 });
  for (const name of names) cache.putKnown(entry(name));
  return cache;
}

const numbered = (count: number): string[] => Array.from({ length: count }, (_, index) => `key ${index}`);
const missing = (cache: KeyCache, names: readonly string[]): string[] =>
  names.filter((name) => cache.known(name) === undefined);

test("of keys that were all used since, the sixty-fifth that is visited makes room", () => {
  const names = numbered(70);
  const cache = cacheOf(names);
  cache.putKnown(entry("new"));
  expect([missing(cache, names), cache.size.known]).toEqual([["key 64"], 70]);
  // The next visit goes on behind it: the five that were not visited, then those that have lost their mark.
  cache.putKnown(entry("newer"));
  expect(missing(cache, names)).toEqual(["key 0", "key 64"]);
});

test("a key that was not used since its last visit makes room before any that was", () => {
  const names = numbered(5);
  const cache = cacheOf(names);
  const third = cache.known("key 2");
  if (third !== undefined) third.isUsed = false;
  cache.putKnown(entry("new"));
  expect(missing(cache, names)).toEqual(["key 2"]);
});

test("a key that is known already needs no room", () => {
  const names = numbered(3);
  const cache = cacheOf(names);
  const anew = entry("key 1", { accountId: "acc_2" });
  cache.putKnown(anew);
  expect([missing(cache, names), cache.known("key 1")]).toEqual([[], anew]);
});

test("while there is room nothing is forgotten", () => {
  expect(missing(cacheOf(numbered(2), 3), numbered(2))).toEqual([]);
  expect(missing(cacheOf(numbered(3), 3), numbered(3))).toEqual([]);
});

test("a key is remembered as one that exists when it is forgotten, until it was found not to", () => {
  const cache = cacheOf(["a", "b"]);
  cache.forgetHash("hash of a");
  cache.clear();
  expect(["a", "b", "c"].map((name) => cache.wasKnown(name))).toEqual([true, true, false]);
  cache.putUnknown("a", "hash of a", 1_000);
  expect(cache.wasKnown("a")).toBe(false);
});

test("a text is unknown until its time has come, and takes no room afterwards", () => {
  const cache = cacheOf([], 1);
  cache.putUnknown("x", "hash of x", 1_000);
  expect([cache.isUnknown("x", 999), cache.isUnknown("y", 0), cache.size.unknown]).toEqual([true, false, 1]);
  expect([cache.isUnknown("x", 1_000), cache.size.unknown]).toEqual([false, 0]);
});

test("a key is either known or unknown, as was said last", () => {
  const cache = cacheOf(["a"]);
  cache.putUnknown("a", "hash of a", 1_000);
  expect([cache.size, cache.isUnknown("a", 0)]).toEqual([{ known: 0, unknown: 1, hashes: 1 }, true]);
  cache.putKnown(entry("a"));
  expect([cache.size, cache.isUnknown("a", 0)]).toEqual([{ known: 1, unknown: 0, hashes: 1 }, false]);
  cache.forgetHash("hash of a");
  expect(cache.size).toEqual({ known: 0, unknown: 0, hashes: 0 });
});

test("of what was evicted nothing is kept", () => {
  const cache = cacheOf(numbered(10), 3);
  for (let text = 0; text < 5; text += 1) cache.putUnknown(`text ${text}`, `hash of text ${text}`, 1_000);
  expect(cache.size).toEqual({ known: 3, unknown: 2, hashes: 5 });
});

test("what is forgotten by its hash is that key alone, known or unknown", () => {
  const cache = cacheOf(["a", "b"]);
  cache.putUnknown("x", "hash of x", 1_000);
  cache.putUnknown("y", "hash of y", 1_000);
  for (const hash of ["hash of a", "hash of x", "hash of nothing"]) cache.forgetHash(hash);
  expect([missing(cache, ["a", "b"]), cache.isUnknown("x", 0), cache.isUnknown("y", 0)]).toEqual([["a"], false, true]);
});

test("what is forgotten by its account is its keys alone", () => {
  const cache = cacheOf(["a", "b"], 3);
  cache.putKnown(entry("c", { accountId: "acc_2" }));
  cache.forgetAccount("acc_1");
  expect(missing(cache, ["a", "b", "c"])).toEqual(["a", "b"]);
});

test("after all was forgotten keys come and go as before", () => {
  const cache = cacheOf(numbered(3));
  cache.putUnknown("x", "hash of x", 1_000);
  cache.clear();
  expect(cache.size).toEqual({ known: 0, unknown: 0, hashes: 0 });
  for (const name of ["a", "b", "c", "d"]) cache.putKnown(entry(name));
  expect(missing(cache, ["a", "b", "c", "d"])).toEqual(["a"]);
});

/** Last-used times over a store that a test lets go on, or fails. */
function bootLastUsed() {
  const written: Map<string, number>[] = [];
  const store = { isDown: false, gate: Promise.resolve() };
  const lastUsed = new LastUsed(async (times) => {
    await store.gate;
    if (store.isDown) throw new Error("store down");
    written.push(times);
  });
  return { lastUsed, written, store };
}

const used = (keyId: string): UsedKey => ({ keyId, usedAtMs: 0, isTouched: false });

test("last-used times go in batches of ten thousand, one at each flush, all of them at the end", async () => {
  const { lastUsed, written } = bootLastUsed();
  for (let key = 0; key < 25_000; key += 1) lastUsed.note(used(`key ${key}`), 5);
  await lastUsed.flush();
  expect(written.map(({ size }) => size)).toEqual([10_000]);
  await lastUsed.drain();
  expect(written.map(({ size }) => size)).toEqual([10_000, 10_000, 5_000]);
  expect(new Set(written.flatMap((times) => [...times.keys()])).size).toBe(25_000);
});

test("a hundred thousand keys wait to be written at most", async () => {
  const { lastUsed, written } = bootLastUsed();
  for (let key = 0; key < 100_001; key += 1) lastUsed.note(used(`key ${key}`), 5);
  await lastUsed.drain();
  expect(written.reduce((sum, { size }) => sum + size, 0)).toBe(100_000);
});

test("a key that is used while its time is written is written again, with the later time", async () => {
  const { lastUsed, written, store } = bootLastUsed();
  const gate = Promise.withResolvers<void>();
  store.gate = gate.promise;
  const key = used("a");
  lastUsed.note(key, 5);
  const flushed = lastUsed.flush();
  lastUsed.note(key, 6);
  gate.resolve();
  await flushed;
  await lastUsed.flush();
  expect(written).toEqual([new Map([["a", 5]]), new Map([["a", 6]])]);
});

test("the end waits for the batch that is being written, and gives up at one that fails", async () => {
  const { lastUsed, written, store } = bootLastUsed();
  const gate = Promise.withResolvers<void>();
  store.gate = gate.promise;
  lastUsed.note(used("a"), 5);
  void lastUsed.flush();
  const drained = lastUsed.drain();
  expect(await Promise.race([drained, Bun.sleep(0).then(() => "waits")])).toBe("waits");
  gate.resolve();
  await drained;
  expect(written).toHaveLength(1);
  lastUsed.note(used("b"), 5);
  store.isDown = true;
  await expect(lastUsed.drain()).rejects.toThrow("store down");
});
