import type { Slot } from "@sluice/wire/identifiers";
import type { BlockPlace, Stage } from "../../log/index.ts";
import type { FlowBlock } from "./flow-block.ts";

/**
 * Where a receiver begins: with what comes next, with the first block of a slot or later, or after a cursor. With
 * `isBound` nothing below the slot is ever told; who begins so is live once a block from the slot on is final.
 */
export type FlowFrom = "live" | { readonly slot: Slot; readonly isBound?: boolean } | { readonly cursor: string };

/** How far a receiver has been told with an event. */
export interface FlowPosition {
  readonly stage: Stage;
  /** After the whole event; `cursorWithin` makes that of an item of a block from it, at any time later. */
  readonly cursor: string;
  /** Items of the block that the receiver's own cursor says were handled; 0 for a whole block. */
  readonly skip: number;
}

/** Why nothing more is told. Whoever goes on from its last cursor is told why it cannot, or goes on. */
export type FlowEnd =
  /** The log closes: this process ends, or the network's chain is another one from now on. */
  | "closed"
  /** What comes next is no longer held: it was taken too slowly. */
  | "expired"
  /** The log cannot be followed, or the receiver failed. */
  | "failed";

/** Slots of which blocks may exist that cannot be had. */
export interface FlowGap {
  readonly from: Slot;
  readonly to: Slot;
  readonly reason: string;
}

/**
 * Who is told the blocks of a network at one stage, in order: first from where it begins, paced by `ready`, then live
 * with all others. All is called synchronously, nothing after `ended`, and nothing once the receiver has left.
 */
export interface FlowReceiver {
  /**
   * Takes a block. While it catches up it may take a part: it returns the last item that it has handled, -1 for none,
   * and is told the block again after `ready`, with `skip` behind that item. Null is the whole block. What it returns
   * once it is live says nothing.
   */
  block(block: FlowBlock, at: FlowPosition): number | null;
  /** The block is not on the chain, nor is any that was told after `back`; at stage processed it alone. */
  undo(undo: BlockPlace, back: BlockPlace, at: FlowPosition): void;
  gap(gap: FlowGap, at: FlowPosition): void;
  /** Asked after each event while it catches up: null when more may come, else what is waited for. */
  ready(): Promise<void> | null;
  /** It is told live from now on, and is not asked whether it is ready. Not called for who begins live. */
  caughtUp(): void;
  ended(end: FlowEnd): void;
}

/** A receiver's place in the flow. */
export interface FlowMembership extends Disposable {
  /** Whether it is told live. */
  readonly isLive: boolean;
}

export type FlowOutcome =
  /** `cursor` is where it begins: what comes after it is told. */
  | { readonly ok: true; readonly membership: FlowMembership; readonly cursor: string }
  | { readonly ok: false; readonly code: "CURSOR_INVALID" }
  /** `firstSlot` is the first that can be had; null when none can. */
  | { readonly ok: false; readonly code: "CURSOR_EXPIRED"; readonly firstSlot: Slot | null };
