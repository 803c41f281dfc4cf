import { type BundleReason, shownState } from "@sluice/contract/engine";
import type { BundleConfirmationMessage } from "@sluice/contract/proto";
import type { BundleRecord } from "../model/bundle.ts";
import type { BlockEngineService, SubmitOutcome } from "../model/service.ts";
import { reasonText } from "./request.ts";

type Rejected = Extract<SubmitOutcome, { readonly accepted: false }>;

/** A bundle as the stream tells it: slot and signatures while it is in a block, the reason when it is in none any more. */
export function confirmationOf(bundle: BundleRecord | Rejected): BundleConfirmationMessage {
  if (!("state" in bundle)) {
    return {
      bundle_id: bundle.id,
      status: "dropped",
      signatures: [],
      reason: reasonText(bundle.reason, bundle.detail),
    };
  }
  const { id, reason, detail, landed } = bundle;
  const status = shownState(bundle.state);
  if (status === "included" && landed !== null) {
    return { bundle_id: id, status, slot: String(landed.slot), signatures: bundle.signatures };
  }
  const why = reason === null ? {} : { reason: reasonText(reason, detail) };
  return { bundle_id: id, status, signatures: [], ...why };
}

/** A bundle that was not looked at; it has no id. */
export function droppedAtOnce(
  desk: BlockEngineService,
  reason: Extract<BundleReason, "maintenance" | "rate_limited">,
): Rejected {
  return { accepted: false, id: "", reason, detail: null, tipFloor: desk.tipFloor().floor };
}
