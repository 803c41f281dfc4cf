import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { SlotTracker } from "./slot-tracker.ts";

/** A tracker over three nodes whose claims a test sets, and the slots that it has reported. */
function boot() {
  const clock = new ManualClock();
  const nodes = [{}, {}, {}];
  const slots = [100n, 100n, 100n];
  const reported: bigint[] = [];
  const tracker = new SlotTracker({
    clock,
    claims: () => nodes.map((node, index) => ({ node, slot: slots[index] ?? null, isHeard: true })),
    onSlot: (_commitment, slot) => void reported.push(slot),
    onRestart: () => {},
  });
  const show = (...claims: readonly bigint[]): void => {
    slots.splice(0, 3, ...claims);
    tracker.update("processed");
  };
  return { clock, tracker, reported, show };
}

test("each new slot is reported once while the chain goes on, whoever shows it first", () => {
  const { clock, reported, show } = boot();
  show(100n, 100n, 100n);
  for (let slot = 101n; slot < 110n; slot += 1n) {
    clock.advance(200);
    show(slot, slot - 1n, slot - 1n);
    clock.advance(200);
    show(slot, slot, slot);
  }
  expect(reported).toEqual(Array.from({ length: 10 }, (_, index) => 100n + BigInt(index)));
});

test("a slot that one node has claimed and nobody reaches does not hide that the chain goes on", () => {
  const { clock, reported, show } = boot();
  show(100n, 100n, 100n);
  show(160n, 100n, 100n);
  expect(reported).toEqual([100n, 160n]);
  for (let slot = 101n; slot < 110n; slot += 1n) {
    clock.advance(400);
    show(5_000n, slot, slot);
  }
  // From 800 ms on, at each slot of the others.
  expect(reported.slice(2)).toEqual(Array.from({ length: 8 }, () => 160n));
});
