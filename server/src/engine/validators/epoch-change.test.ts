import { expect, test } from "bun:test";
import type { Slot } from "@sluice/wire/identifiers";
import { EpochChange } from "./validator-registry.ts";

test("each epoch is reported once, when its schedule has had time to come, and none before it is known", () => {
  const reported: bigint[] = [];
  const state = { isKnown: false, slot: 0n };
  const change = new EpochChange({
    epochOf: (slot) => (state.isKnown ? { first: (slot / 100n) * 100n } : null),
    changed: () => void reported.push(state.slot),
  });
  for (let slot = 90n; slot < 310n; slot += 1n) {
    state.isKnown = slot >= 95n;
    state.slot = slot;
    change.reached(slot as Slot);
  }
  expect(reported).toEqual([95n, 116n, 216n]);
});
