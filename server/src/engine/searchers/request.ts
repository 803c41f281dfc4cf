import { type BundleReason, type MevType, mevTypes } from "@sluice/contract/engine";
import type { BundleRequestMessage } from "@sluice/contract/proto";
import { CallFault } from "../calls/index.ts";
import type { BundleIngress } from "../model/bundle.ts";
import type { BundleSubmission } from "../model/service.ts";

/** A bundle out of its message. Throws INVALID_ARGUMENT where the message has no meaning, whatever the bundle holds. */
export function submissionOf(message: BundleRequestMessage, ingress: BundleIngress): BundleSubmission {
  const sealed = sealedOf(message);
  if (sealed !== null && message.transactions.length > 0) {
    throw new CallFault("INVALID_ARGUMENT", "encrypted_payload stands in place of transactions, not beside them");
  }
  return {
    transactions: message.transactions,
    tip: BigInt(message.tip),
    mevType: mevTypeOf(message.mev_type),
    targetSlot: message.target_slot === undefined ? null : BigInt(message.target_slot),
    sealed,
    ingress,
  };
}

/** Clients that set each field of a message set this one to nothing where they have no envelope. */
const sealedOf = ({ encrypted_payload: sealed }: BundleRequestMessage): Uint8Array | null =>
  sealed === undefined || sealed.length === 0 ? null : sealed;

/** In any letter case. A field that was not set is an empty text in this protocol, and stands for `unknown`. */
function mevTypeOf(text: string): MevType {
  const found = text === "" ? "unknown" : mevTypes.find((each) => each === text.toLowerCase());
  if (found !== undefined) return found;
  throw new CallFault("INVALID_ARGUMENT", `mev_type is one of ${mevTypes.join(", ")}`);
}

/** How a reason is written: a failed simulation tells what the program said. */
export function reasonText(reason: BundleReason, detail: string | null): string {
  return reason === "simulation_failed" && detail !== null ? `${reason}: ${detail}` : reason;
}
