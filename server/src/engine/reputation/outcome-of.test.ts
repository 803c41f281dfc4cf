import { describe, expect, test } from "bun:test";
import { type BundleReason, bundleReasons } from "@sluice/contract/engine";
import type { Address, Slot } from "@sluice/wire/identifiers";
import type { BundleRecord } from "../model/bundle.ts";
import { acceptedBundle } from "../testing/accepted-bundle.ts";
import { outcomeOfEnd, outcomeOfRejection } from "./reputation.ts";

const forwarded = { times: 1, slot: 9n as Slot, leader: "leader" as Address };

const record = (parts: Partial<BundleRecord>): BundleRecord => acceptedBundle({ tip: 5_000n, ...parts });

describe("what an end reports about a searcher", () => {
  test("nothing before the end", () => {
    expect(outcomeOfEnd(record({ state: "accepted" }), 1n)).toBeNull();
    expect(outcomeOfEnd(record({ state: "included", forwarded }), 1n)).toBeNull();
  });
  test("a landing with the tip that the chain saw", () => {
    const landed = record({ state: "finalized", tipSeen: 7_000n });
    expect(outcomeOfEnd(landed, 8_000n)).toEqual({ kind: "landed", tip: 7_000n, medianTip: 8_000n });
  });
  test("a miss only of what a leader had; who was never forwarded was outbid", () => {
    for (const reason of ["blockhash_expired", "target_slot_past", "not_landed"] as const) {
      expect(outcomeOfEnd(record({ state: "expired", reason, forwarded }), 1n)).toEqual({ kind: "missed" });
      expect(outcomeOfEnd(record({ state: "expired", reason }), 1n)).toEqual({ kind: "outbid" });
    }
  });
  test("no fault for a fork, for another's landing, or for ours", () => {
    for (const reason of ["fork", "already_processed", "no_leader", "maintenance", "tip_below_floor"] as const) {
      expect(outcomeOfEnd(record({ state: "dropped", reason, forwarded }), 1n)).toEqual({ kind: "outbid" });
    }
  });
  test("a sealed bundle that turned out unsound is evaluated as if it had come open", () => {
    expect(outcomeOfEnd(record({ state: "dropped", reason: "tip_not_paid" }), 1n)).toEqual({ kind: "abuse" });
    const failed = record({ state: "dropped", reason: "simulation_failed" });
    expect(outcomeOfEnd(failed, 1n)).toEqual({ kind: "simulated", ok: false });
  });
  test("of refusals only these are abuse", () => {
    const abuse = bundleReasons.filter((reason: BundleReason) => outcomeOfRejection(reason)?.kind === "abuse");
    expect(abuse).toEqual([
      "malformed_transaction",
      "non_canonical_transaction",
      "bad_base64",
      "signature_invalid",
      "tip_not_paid",
      "decryption_failed",
      "front_run_protected",
    ]);
  });
});
