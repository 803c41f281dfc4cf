import { expect, test } from "bun:test";
import { MinSlotTracker } from "./min-slot-tracker.ts";

const view = { keyId: "one", network: "devnet", track: "confirmed" } as const;

test("what was shown is the floor: the same slot and later ones pass, earlier ones do not", () => {
  const floors = new MinSlotTracker();
  expect(floors.of(view, 0)).toBeNull();
  expect(floors.passes(view, 100n, 0)).toBe(true);
  expect(floors.of(view, 1)).toBe(100n);
  expect(floors.passes(view, 99n, 2)).toBe(false);
  expect(floors.passes(view, 100n, 3)).toBe(true);
  expect(floors.passes(view, 101n, 4)).toBe(true);
  expect(floors.of(view, 5)).toBe(101n);
});

test("keys, networks and tracks each have their own", () => {
  const floors = new MinSlotTracker();
  floors.passes(view, 100n, 0);
  for (const other of [
    { ...view, keyId: "two" },
    { ...view, network: "mainnet" as const },
    { ...view, track: "finalized" as const },
    { ...view, track: "height of confirmed" as const },
    { ...view, track: "counter of getMaxShredInsertSlot" as const },
  ]) {
    expect(floors.of(other, 1)).toBeNull();
    expect(floors.passes(other, 5n, 1)).toBe(true);
  }
});

test("thirty seconds after it was shown last, a chain that went back is believed", () => {
  const floors = new MinSlotTracker();
  const startMs = 1_000_000;
  floors.passes(view, 100n, startMs - 5_000);
  expect(floors.passes(view, 100n, startMs)).toBe(true);
  expect(floors.passes(view, 10n, startMs + 30_000)).toBe(false);
  expect(floors.of(view, startMs + 30_000)).toBe(100n);
  expect(floors.of(view, startMs + 30_001)).toBeNull();
  expect(floors.passes(view, 10n, startMs + 30_001)).toBe(true);
});

test("what was shown of a network is forgotten with it, and of no other", () => {
  const floors = new MinSlotTracker();
  const other = { ...view, network: "mainnet" } as const;
  for (const each of [view, other]) floors.passes(each, 100n, 0);
  floors.forget("devnet");
  expect([floors.of(view, 1), floors.of(other, 1)]).toEqual([null, 100n]);
});

test("50,000 views are remembered, and beyond them the one is forgotten that was unused for longest", () => {
  const floors = new MinSlotTracker();
  const of = (key: number) => ({ ...view, keyId: `${key}` });
  for (let key = 0; key < 50_000; key += 1) floors.passes(of(key), 1n, 0);
  expect(floors.of(of(0), 1)).toBe(1n);
  floors.passes(of(0), 2n, 1);
  floors.passes(of(1), 1n, 1);
  floors.passes(of(50_000), 1n, 1);
  expect([0, 1, 2, 3, 50_000].map((key) => floors.of(of(key), 1))).toEqual([2n, 1n, null, 1n, 1n]);
});
