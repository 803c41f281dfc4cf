import type { Network } from "@sluice/contract/tiers";
import type { Slot } from "@sluice/wire/identifiers";

/** How settled a block is; a later stage includes the earlier ones. */
export const stages = ["processed", "confirmed", "finalized"] as const;
export type Stage = (typeof stages)[number];

/** Which chain a network is, since one may be started anew with the same genesis (decision record 0026). */
export interface ChainIdentity {
  /** The genesis hash in base58. */
  readonly genesisHash: string;
  /** The hash of the first block after the genesis that nodes had; null while none was seen. */
  readonly firstBlockhash: string | null;
}

/** Whether both name one chain. One whose first block was not known yet is the same one when it is. */
export function isSameChain(one: ChainIdentity, other: ChainIdentity): boolean {
  if (one.genesisHash !== other.genesisHash) return false;
  return one.firstBlockhash === other.firstBlockhash || one.firstBlockhash === null || other.firstBlockhash === null;
}

/** The place of a block on a chain; hashes are base58 of 32 bytes. */
export interface BlockPlace {
  readonly slot: Slot;
  readonly blockhash: string;
}

/** What the log knows of a block without reading its body. */
export interface BlockHeader extends BlockPlace {
  readonly chain: ChainIdentity;
  /** Below `slot`. */
  readonly parentSlot: Slot;
  readonly parentBlockhash: string;
  /** Unix seconds; null where nodes do not know it. */
  readonly blockTime: bigint | null;
  readonly height: bigint | null;
  /** The number of transactions in the block. */
  readonly transactions: number;
}

/**
 * What is appended. A body is stored once for each block, whoever brings it first; that a block is confirmed or
 * finalized is a record without a body. Records may come in any order and from several processes.
 */
export type LogRecord =
  | {
      readonly kind: "block";
      readonly header: BlockHeader;
      readonly stage: Stage;
      /** Opaque to the log, at most `bodyBytesMax`. It is not to be changed afterwards. */
      readonly body: Uint8Array;
    }
  | { readonly kind: "stage"; readonly header: BlockHeader; readonly stage: Exclude<Stage, "processed"> }
  | GapRecord;

/** Slots of which blocks may exist that cannot be had: `from` is the first after the last block that is known. */
export interface GapRecord {
  readonly kind: "gap";
  readonly from: Slot;
  readonly to: Slot;
  /** A word for programs and operators, 1 to 64 characters. */
  readonly reason: string;
}

/** `repeat`: the log holds all of the record already, on disk. */
export type AppendOutcome = "stored" | "repeat";

/** What a follower is told. Whoever stores `cursor` goes on right after the event, in any process. */
export type LogEvent =
  | {
      readonly type: "block";
      readonly header: BlockHeader;
      readonly stage: Stage;
      /** Shared by all followers, who do not change it. */
      readonly body: Uint8Array;
      /** Items of the block that the cursor says were handled; 0 for a whole block. */
      readonly skip: number;
      readonly cursor: string;
    }
  /**
   * The block is not on the chain, nor is any that was told after `back`, the last one that stands. At stage processed
   * only the block itself is meant.
   */
  | { readonly type: "undo"; readonly undo: BlockPlace; readonly back: BlockPlace; readonly cursor: string }
  | {
      readonly type: "gap";
      readonly from: Slot;
      readonly to: Slot;
      readonly reason: string;
      readonly cursor: string;
    }
  /** The follower is that many slots behind the head; told once until it has caught up. */
  | { readonly type: "lagging"; readonly slots: number; readonly cursor: string }
  /** What comes next is no longer held; nothing follows. */
  | { readonly type: "expired"; readonly firstSlot: Slot | null };

/**
 * Where a follower begins: at what is held, at the head, at the first block of a slot or a later one, or after what a
 * cursor says. With `isBound` nothing below the slot is told, also where the head has not come to it yet, and where a
 * fork replaces what is above it.
 */
export type FollowFrom =
  | "earliest"
  | "latest"
  | { readonly slot: Slot; readonly isBound?: boolean }
  | { readonly cursor: string };

export interface FollowOptions {
  readonly stage: Stage;
  readonly from: FollowFrom;
}

/** Where a cursor stands, for those who have what the log no longer holds. */
export interface CursorPlace extends BlockPlace {
  /** Items of the block up to this one were handled; null when all of it was. */
  readonly index: number | null;
  /** The last finalized slot that was known; null before the first. */
  readonly finalizedSlot: Slot | null;
  /** Nothing of a lower slot is told. Where the place is below it, nothing that stands was told; null for no bound. */
  readonly from: Slot | null;
}

/** Events in order, as fast as they are taken; nothing waits in memory for a follower that takes none. */
export interface Follower extends AsyncIterableIterator<LogEvent>, AsyncDisposable {
  /** The cursor of what was told last; `index` marks a block as handled up to that item. */
  cursor(index?: number): string;
  return(): Promise<IteratorResult<LogEvent>>;
}

export type FollowOutcome =
  | { readonly ok: true; readonly follower: Follower }
  | { readonly ok: false; readonly code: "CURSOR_INVALID" }
  /** `firstSlot` is the first that can be had; null when none can. */
  | { readonly ok: false; readonly code: "CURSOR_EXPIRED"; readonly firstSlot: Slot | null };

/** A block with a body, as those ask who look for what is missing. */
export interface HeldBlock {
  readonly header: BlockHeader;
  readonly stage: Stage;
}

/** A place where followers wait, since the parent of a block is not held and no gap explains that. */
export interface Hole {
  /** The last block of a chain before it, which goes on where the hole is of a fork; null where none is held. */
  readonly below: BlockPlace | null;
  /** The parent that is not held. */
  readonly missing: BlockPlace;
  /** The block that names it. */
  readonly above: BlockPlace;
}

/** The chain of one network, in order, for all who follow it live. */
export interface ChainLog extends AsyncDisposable {
  readonly driver: "segments" | "jetstream";
  readonly network: Network;
  /** With the first block where it is known now, or was when the log was opened before. */
  readonly chain: ChainIdentity;
  /**
   * Followers in this process are told at once; resolves when the record is stored.
   *
   * @throws {LogError} when it could not be stored: the same record may be appended again.
   */
  append(record: LogRecord): Promise<AppendOutcome>;
  follow(options: FollowOptions): FollowOutcome;
  /** Where a cursor of a stage stands, whether that is held or not; null for one that is invalid. */
  placeOf(cursor: string, stage: Stage): CursorPlace | null;
  /** The cursor after a block of the chain, whether that is held or not; nothing below `from` is told after it. */
  cursorAfter(stage: Stage, place: BlockPlace, from?: Slot | null): string;
  /** The first block that is held; null for an empty log. */
  earliest(): BlockPlace | null;
  /** The newest block of a stage; null when there is none. */
  latest(stage: Stage): BlockPlace | null;
  /** Null while the block's body is not held. */
  find(place: BlockPlace): HeldBlock | null;
  /** The body of a held block; null when there is none. @throws {LogError} while it cannot be read */
  read(place: BlockPlace): Promise<Uint8Array | null>;
  /** What keeps followers from going on, lowest first. */
  holes(): readonly Hole[];
  /** The newest block of the stage up to which followers get before the first hole; null when there is none. */
  reached(stage: Exclude<Stage, "processed">): BlockPlace | null;
  /** The ledger holds all below `slot`, which may be trimmed once it is old enough. */
  setWatermark(slot: Slot): void;
}

/** Bytes of one body. */
export const bodyBytesMax = 64 * 1024 * 1024;
