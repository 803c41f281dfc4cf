import { describe, expect, test } from "bun:test";
import type { Slot } from "@sluice/wire/identifiers";
import { acceptedBundle } from "../testing/accepted-bundle.ts";
import { type EndView, endOf } from "./bundle-watch.ts";
import { addressNamed, signatureNamed } from "./testing/names.ts";

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

describe("a bundle whose transactions a confirmed block holds by another way", () => {
  const spoil = { slot: 110n as Slot, reason: "already_processed", detail: "1 of 3" } as const;
  const dropped = { to: "dropped", reason: "already_processed", detail: "1 of 3" } as const;
  const untargeted = acceptedBundle({ id: "untargeted", signatures: [signatureNamed("untargeted")] });
  const held = { ...untargeted, forwarded: { times: 1, slot: 109n as Slot, leader: addressNamed("leader") } };

  test("ends at once when no leader was handed it", () => {
    expect(endOf(untargeted, seenThrough(110n, { spoil }))).toEqual(dropped);
  });

  test("ends when that block is finalized where a leader could place it again, should the block be lost", () => {
    for (const [record, isInherited] of [
      [held, false],
      [untargeted, true],
    ] as const) {
      expect(endOf(record, seenThrough(141n, { spoil, isInherited }))).toBeNull();
      expect(endOf(record, seenThrough(142n, { spoil, isInherited }))).toEqual(dropped);
    }
  });
});

describe("a bundle whose nonce is another by a slot that was not read yet", () => {
  const spoil = { slot: 110n as Slot, reason: "nonce_spent", detail: "another" } as const;
  const durable = acceptedBundle({ id: "durable", signatures: [signatureNamed("durable")] });

  test("ends when that slot was read and did not hold it, since it may have used the nonce itself", () => {
    expect(endOf(durable, seenThrough(109n, { spoil }))).toBeNull();
    expect(endOf(durable, seenThrough(110n, { spoil }))).toEqual({
      to: "dropped",
      reason: "nonce_spent",
      detail: "another",
    });
  });
});
