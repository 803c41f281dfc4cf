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
