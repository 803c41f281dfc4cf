import type { BundleReason } from "@sluice/contract/engine";
import type { BundleRecord } from "../model/bundle.ts";

/** What a searcher's reputation learns from. */
export type ReputationOutcome =
  /** A bundle came in, whatever became of it. */
  | { readonly kind: "submitted" }
  /** A bundle was simulated for the first time. */
  | { readonly kind: "simulated"; readonly ok: boolean }
  /** A bundle is in the finalized chain; `medianTip` is the median of tips that landed about then. Lamports. */
  | { readonly kind: "landed"; readonly tip: bigint; readonly medianTip: bigint }
  /** A bundle was handed to a leader and can no longer land. */
  | { readonly kind: "missed" }
  /** A bundle ended without a fault of its own: others paid more, or the chain or we prevented it. */
  | { readonly kind: "outbid" }
  /** A bundle that nobody sends in good faith. */
  | { readonly kind: "abuse" };

/** Reasons that no sound client runs into: forged or spoilt bytes, a tip that is claimed and not paid, front running. */
const abuses: ReadonlySet<BundleReason> = new Set([
  "malformed_transaction",
  "non_canonical_transaction",
  "bad_base64",
  "signature_invalid",
  "tip_not_paid",
  "decryption_failed",
  "front_run_protected",
]);

/** What a refusal tells of its searcher; null for those that tell nothing, such as a floor that rose or a full bucket. */
export function outcomeOfRejection(reason: BundleReason): ReputationOutcome | null {
  if (abuses.has(reason)) return { kind: "abuse" };
  return reason === "simulation_failed" ? { kind: "simulated", ok: false } : null;
}

/** Ends of bundles that a leader had and did not land. */
const missed: ReadonlySet<BundleReason> = new Set(["blockhash_expired", "target_slot_past", "not_landed"]);

/** What a bundle's last state tells; null while it can still change. `medianTip` is the median of landed tips, lamports. */
export function outcomeOfEnd(record: BundleRecord, medianTip: bigint): ReputationOutcome | null {
  if (record.state === "accepted" || record.state === "included") return null;
  if (record.state === "finalized") return { kind: "landed", tip: record.tipSeen ?? record.tip, medianTip };
  const { reason, forwarded } = record;
  const rejection = reason === null ? null : outcomeOfRejection(reason);
  if (rejection !== null) return rejection;
  return forwarded !== null && reason !== null && missed.has(reason) ? { kind: "missed" } : { kind: "outbid" };
}
