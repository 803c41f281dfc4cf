import { describe, expect, test } from "bun:test";
import type { Slot } from "@sluice/wire";
import { type EndView, endOf } from "./endings.ts";
import { addressNamed, signatureNamed } from "./testing/names.ts";
import { acceptedBundle } from "./testing/simulated-book.ts";

/** The last of a leader's four slots in a row. */
const target = 103n as Slot;
const meant = acceptedBundle({ id: "meant", signatures: [signatureNamed("meant")], targetSlot: target });
const handed = { ...meant, forwarded: { times: 1, slot: target, leader: addressNamed("leader") } };

function seenThrough(slot: bigint, others: Partial<EndView> = {}): EndView {
  const base = { slot: (slot - 32n) as Slot, height: slot - 32n };
  return { tip: { slot: slot as Slot }, base, overSince: null, spoil: null, isInherited: false, ...others };
}

describe("a bundle that missed its target slot", () => {
  test("ends at once when no leader was handed it", () => {
    expect(endOf(meant, seenThrough(102n))).toBeNull();
    expect(endOf(meant, seenThrough(103n))).toEqual({ to: "expired", reason: "target_slot_past" });
  });

  test("ends after the slots in which the leader that was handed it may still place it", () => {
    expect(endOf(handed, seenThrough(122n))).toBeNull();
    expect(endOf(handed, seenThrough(123n))).toEqual({ to: "expired", reason: "target_slot_past" });
  });

  test("counts as handed over when it was there before the process, whose notes may be lost", () => {
    expect(endOf(meant, seenThrough(122n, { isInherited: true }))).toBeNull();
    expect(endOf(meant, seenThrough(123n, { isInherited: true }))).not.toBeNull();
  });
});
