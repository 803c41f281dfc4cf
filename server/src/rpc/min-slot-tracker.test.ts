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

test("after thirty seconds a chain that went back is believed", () => {
  const floors = new MinSlotTracker();
  floors.passes(view, 100n, 0);
  expect(floors.passes(view, 10n, 30_000)).toBe(false);
  expect(floors.of(view, 30_001)).toBeNull();
  expect(floors.passes(view, 10n, 30_001)).toBe(true);
});

test("views are bounded: the one that was unused for longest is forgotten", () => {
  const floors = new MinSlotTracker();
  for (let key = 0; key <= 50_000; key += 1) floors.passes({ ...view, keyId: `${key}` }, 1n, 0);
  expect(floors.of({ ...view, keyId: "0" }, 1)).toBeNull();
  expect(floors.of({ ...view, keyId: "50000" }, 1)).toBe(1n);
});
