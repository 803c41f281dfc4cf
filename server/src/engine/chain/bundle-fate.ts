import type { BundleReason } from "@sluice/contract/engine";
import type { Signature, Slot } from "@sluice/wire/identifiers";
import type { BundleChange, BundleRecord } from "../model/bundle.ts";
import type { ChainBlock } from "./block-reader.ts";

/** A block in which transactions are found by their ids. */
export interface SeenBlock {
  readonly block: ChainBlock;
  readonly places: ReadonlyMap<Signature, number>;
  /** Bundles that landed in it, and of each of their transactions whose it is. */
  readonly landed: Set<string>;
  readonly ours: Map<Signature, string>;
}

export function seenBlock(block: ChainBlock): SeenBlock {
  const places = new Map(block.transactions.map(({ signature }, place) => [signature, place]));
  return { block, places, landed: new Set(), ours: new Map() };
}

/** How a bundle is in a block: as a whole, in its order and with success; or in any other way, which spoils it. */
export type Landing =
  | { readonly isWhole: true; readonly tip: bigint; readonly units: number }
  | { readonly isWhole: false; readonly present: readonly Signature[]; readonly detail: string };

/** Null where none of the bundle's transactions is in the block. */
export function landingOf(
  { signatures }: Pick<BundleRecord, "signatures">,
  { block, places }: SeenBlock,
): Landing | null {
  const present = signatures.filter((signature) => places.has(signature));
  if (present.length === 0) return null;
  const found = signatures.flatMap((signature) => {
    const place = places.get(signature);
    const transaction = place === undefined ? undefined : block.transactions[place];
    return place === undefined || transaction === undefined ? [] : [{ place, transaction }];
  });
  const spoilt = (what: string): Landing => ({ isWhole: false, present, detail: `${what} in slot ${block.slot}` });
  if (found.length < signatures.length) return spoilt(`${found.length} of ${signatures.length} transactions are`);
  const failed = found.findIndex(({ transaction }) => transaction.failed);
  if (failed !== -1) return spoilt(`transaction ${failed} failed`);
  if (found.some(({ place }, index) => index > 0 && place < (found[index - 1]?.place ?? 0))) {
    return spoilt("its transactions are in another order");
  }
  return {
    isWhole: true,
    tip: found.reduce((sum, { transaction }) => sum + transaction.tip, 0n),
    units: found.reduce((sum, { transaction }) => sum + transaction.units, 0),
  };
}

/**
 * Of bundles that are whole in one block and hold the same transactions only one can have brought them: the one that is
 * included already, else one that was handed to a leader, else the longest.
 */
export function claimsBefore(one: BundleRecord, other: BundleRecord): number {
  const rank = ({ state, forwarded }: BundleRecord): number => (state === "included" ? 2 : forwarded !== null ? 1 : 0);
  return rank(other) - rank(one) || other.signatures.length - one.signatures.length;
}

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
