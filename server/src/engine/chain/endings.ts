import type { BundleReason } from "@sluice/contract/engine";
import type { Slot } from "@sluice/wire/identifiers";
import type { BundleChange, BundleRecord } from "../model/bundle.ts";

/** Transactions of a bundle that came into a block otherwise than with the whole bundle. */
export interface Spoil {
  readonly slot: Slot;
  readonly reason: "already_processed" | "not_landed";
  readonly detail: string;
}

/** How far the chain was looked at, and what was seen of one bundle. */
export interface EndView {
  /** The newest block that was looked at. */
  readonly tip: { readonly slot: Slot };
  /** The newest finalized one of them. */
  readonly base: { readonly slot: Slot; readonly height: bigint };
  /** The newest slots that were known when the bundle's time was first found to be over; null before that. */
  readonly overSince: { readonly confirmed: bigint; readonly processed: bigint } | null;
  readonly spoil: Spoil | null;
  /** Whether it was there before this process, which may not have been left a note that it was handed to a leader. */
  readonly isInherited: boolean;
}

/** The last of the four slots in a row that one leader has. */
const lastOfLeader = (slot: bigint): bigint => slot | 3n;
/**
 * The last slot in which a leader may place what it was handed for a slot: what comes too late for it, or finds no room, is
 * kept while the leader has a slot this near. Source: Agave, HOLD_TRANSACTIONS_SLOT_OFFSET.
 */
const heldSlots = 20n;
export const heldThrough = (slot: bigint): bigint => lastOfLeader(slot + heldSlots);

/** Why no block that is to come, or that was not looked at yet, can hold the bundle; null while one can. */
function outOf(record: BundleRecord, view: EndView): BundleReason | null {
  const { targetSlot, lastValidBlockHeight, forwarded, state } = record;
  // What was included is given up only by what is final; a target that was missed is told as soon as it is confirmed.
  const looked = state === "included" ? view.base.slot : view.tip.slot;
  const isHanded = forwarded !== null || view.isInherited;
  if (targetSlot !== null && looked >= (isHanded ? heldThrough : lastOfLeader)(targetSlot)) return "target_slot_past";
  // The block after the one at the last valid height still takes it: its bank's newest hash is its parent's.
  if (lastValidBlockHeight !== null && view.base.height > lastValidBlockHeight) return "blockhash_expired";
  const { overSince } = view;
  if (overSince === null) return null;
  if (!isHanded && state === "accepted") return view.tip.slot >= overSince.confirmed ? "not_landed" : null;
  const last = forwarded === null ? 0n : heldThrough(forwarded.slot);
  return view.base.slot >= (last > overSince.processed ? last : overSince.processed) ? "not_landed" : null;
}

/**
 * The end of a bundle that is whole in no block of the chain as far as it was looked at; null while it may still land.
 * One that was included before has lost its block with a fork.
 */
export function endOf(record: BundleRecord, view: EndView): BundleChange | null {
  const { spoil } = view;
  if (record.state === "included") {
    const isOut = spoil === null ? outOf(record, view) !== null : spoil.slot <= view.base.slot;
    if (!isOut) return null;
    const lost = `slot ${record.landed?.slot ?? "?"} is not in the chain`;
    return { to: "dropped", reason: "fork", detail: spoil === null ? lost : `${lost}; ${spoil.detail}` };
  }
  if (spoil !== null) {
    // A leader that was handed it places it still, should the block that spoilt it be lost though it was confirmed.
    const mayBePlaced = record.forwarded !== null || view.isInherited;
    if (mayBePlaced && spoil.slot > view.base.slot) return null;
    return { to: "dropped", reason: spoil.reason, detail: spoil.detail };
  }
  const reason = outOf(record, view);
  return reason === null ? null : { to: "expired", reason };
}
