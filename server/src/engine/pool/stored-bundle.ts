import { parseAddress, parseSignature, parseSlot, type Slot } from "@sluice/wire/identifiers";
import { StateError, type StoredBundle, type StoredBundleStanding } from "../../state/index.ts";
import type { BundleIngress, BundleRecord, NewBundle, OpenedContent } from "../model/bundle.ts";

const doors: Readonly<Record<BundleIngress, true>> = {
  grpc: true,
  stream: true,
  rest: true,
  "jito-grpc": true,
  "jito-rpc": true,
};
const isDoor = (door: string): door is BundleIngress => Object.hasOwn(doors, door);

function sound<T>(what: string, value: T | null): T {
  if (value !== null) return value;
  throw unsound(what);
}

/** The fault of a column that holds what no book writes. */
export function unsound(column: string): StateError {
  return new StateError(
    "CORRUPT",
    `The state database holds a value that it cannot have been given: bundles.${column}.`,
  );
}

const slotOrNull = (what: string, slot: bigint | null): Slot | null =>
  slot === null ? null : sound(what, parseSlot(slot));

/** What the state store holds as the engine knows it. Throws StateError CORRUPT for what no book has written. */
export function toRecord(stored: StoredBundle): BundleRecord {
  const { landed, forwarded } = stored;
  return {
    ...stored,
    ingress: sound("door", isDoor(stored.ingress) ? stored.ingress : null),
    signatures: stored.signatures.map((signature) => sound("signatures", parseSignature(signature))),
    targetSlot: slotOrNull("target_slot", stored.targetSlot),
    acceptedSlot: sound("accepted_slot", parseSlot(stored.acceptedSlot)),
    landed: landed === null ? null : { ...landed, slot: sound("landed_slot", parseSlot(landed.slot)) },
    forwarded:
      forwarded === null
        ? null
        : {
            times: forwarded.times,
            slot: sound("forwarded_slot", parseSlot(forwarded.slot)),
            leader: sound("forwarded_leader", parseAddress(forwarded.leader)),
          },
  };
}

export function standingOf(record: BundleRecord): StoredBundleStanding {
  const { state, reason, detail, landed, forwarded, tipSeen, computeUnits, changedAt } = record;
  return { state, reason, detail, landed, forwarded, tipSeen, computeUnits, changedAt };
}

export function acceptedRecord(bundle: NewBundle): BundleRecord {
  return {
    ...bundle,
    state: "accepted",
    reason: null,
    detail: null,
    landed: null,
    forwarded: null,
    tipSeen: null,
    computeUnits: null,
    changedAt: bundle.receivedAt,
  };
}

/** Named one by one: who opens an envelope may hand in more, such as the id of what was in it. */
export function openedRecord(record: BundleRecord, content: OpenedContent): BundleRecord {
  const { transactions, signatures, lastValidBlockHeight } = content;
  return { ...record, transactions, signatures, lastValidBlockHeight, sealed: null };
}

/** What was noted while a step was being written. A step sets the tip that its block shows. */
export function withNotes(to: BundleRecord, { forwarded, computeUnits }: BundleRecord): BundleRecord {
  return { ...to, forwarded, computeUnits };
}
