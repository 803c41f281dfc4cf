import { expect, test } from "bun:test";
import { BoundedMap } from "./bounded-map.ts";
import { InvariantError, invariant } from "./invariant.ts";

test("a map at its bound removes the entry that was set longest ago", () => {
  const evicted: [string, number][] = [];
  const map = new BoundedMap<string, number>({ max: 2, onEvict: (key, value) => evicted.push([key, value]) });
  map.set("a", 1);
  map.set("b", 2);
  expect(map.get("a")).toBe(1);
  map.set("c", 3);
  expect([...map.entries()]).toEqual([
    ["b", 2],
    ["c", 3],
  ]);
  expect(evicted).toEqual([["a", 1]]);
});

test("setting a key again makes it the newest and evicts nothing", () => {
  const map = new BoundedMap<string, number>({ max: 2 });
  map.set("a", 1);
  map.set("b", 2);
  map.set("a", 3);
  expect([...map.keys()]).toEqual(["b", "a"]);
  expect([...map.values()]).toEqual([2, 3]);
});

test("reading counts as a use where the least recently used entry goes first", () => {
  const map = new BoundedMap<string, number>({ max: 2, evicts: "least-recently-used" });
  map.set("a", 1);
  map.set("b", 2);
  expect(map.get("a")).toBe(1);
  map.set("c", 3);
  expect(map.has("a")).toBe(true);
  expect(map.has("b")).toBe(false);
});

test("what is deleted or cleared is gone and is not reported as evicted", () => {
  let evicted = 0;
  const map = new BoundedMap<string, number>({ max: 1, onEvict: () => (evicted += 1) });
  map.set("a", 1);
  expect(map.delete("a")).toBe(true);
  expect(map.delete("a")).toBe(false);
  map.set("b", 2);
  map.clear();
  expect([map.size, evicted]).toEqual([0, 0]);
  expect(map.get("b")).toBeUndefined();
});

test("a bound that is not a whole number of at least 1 is refused", () => {
  for (const max of [0, -1, 1.5, Number.NaN]) expect(() => new BoundedMap({ max })).toThrow(RangeError);
});

test("a broken invariant throws an error of its own class", () => {
  invariant(true, "holds");
  expect(() => invariant(false, "a lease is spent once")).toThrow(InvariantError);
});

test("a value is created once, until it is evicted, and again when its creation failed", () => {
  const map = new BoundedMap<string, number>({ max: 2 });
  let created = 0;
  const ask = (key: string): number => map.getOrCreate(key, () => ++created);
  expect([ask("a"), ask("b"), ask("a"), ask("c"), ask("a")]).toEqual([1, 2, 1, 3, 4]);
  expect(map.size).toBe(2);
  const failing = () => {
    throw new RangeError("no");
  };
  expect(() => map.getOrCreate("d", failing)).toThrow(RangeError);
  expect(map.getOrCreate("d", () => 1)).toBe(1);
});

test("the order of eviction is that of a list, whatever is set, deleted and cleared in between", () => {
  const map = new BoundedMap<number, number>({ max: 20 });
  const list: number[] = [];
  let state = 7;
  for (let step = 0; step < 50_000; step += 1) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    const key = (state >> 8) % 60;
    const at = list.indexOf(key);
    if (at >= 0) list.splice(at, 1);
    if ((state >> 4) % 5 === 0) map.delete(key);
    else {
      map.set(key, step);
      list.push(key);
      if (list.length > 20) list.shift();
    }
    if ((state >> 3) % 5_000 === 0) {
      map.clear();
      list.length = 0;
    }
  }
  expect([...map.keys()]).toEqual(list);
});
