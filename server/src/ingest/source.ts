import type { Slot } from "@sluice/wire/identifiers";

export type SourceKind = "yellowstone" | "pubsub" | "polling";

/** A block as one source gives it; nothing of it is believed before the pipeline has judged it. */
export interface SourceBlock {
  readonly header: SourceHeader;
  /** The block as `packBlock` of encode writes it; the source does not change it afterwards. */
  readonly body: Uint8Array;
  /** Over the list of first signatures (`signatureHashOf`): what a second source has to confirm. */
  readonly signatureHash: Uint8Array;
}

export interface SourceHeader {
  readonly slot: Slot;
  readonly blockhash: string;
  /** Below `slot`. */
  readonly parentSlot: Slot;
  readonly parentBlockhash: string;
  /** Unix seconds. */
  readonly blockTime: bigint | null;
  readonly height: bigint | null;
  /** The number of transactions in the block. */
  readonly transactions: number;
}

/** How settled a source says that a block is. */
export type SourceStage = "processed" | "confirmed" | "finalized";

/** `dead`: the source says that the slot's block was abandoned. */
export interface SlotNotice {
  readonly slot: Slot;
  /** Null where the source does not say. */
  readonly parent: Slot | null;
  readonly stage: SourceStage | "dead";
}

/** A block as it is told. */
export interface GivenBlock {
  readonly block: SourceBlock;
  readonly stage: SourceStage;
  /** Monotonic milliseconds at which its last byte was here, before it was read. */
  readonly arrivedMs: number;
}

/** The answer to a question for one slot. */
export type FetchedBlock =
  | { readonly kind: "present"; readonly block: SourceBlock }
  /**
   * The source has no block there: the slot was skipped, or the source lost it. `code` is the node's JSON-RPC code,
   * null for an answer `null`. It proves nothing by itself.
   */
  | { readonly kind: "absent"; readonly code: number | null }
  /**
   * The source cannot say now: it failed, refused, is behind the slot, or gave what is not a block. `pruned`: it once
   * could, and cannot again.
   */
  | { readonly kind: "unavailable"; readonly reason: "pruned" | "limited" | "failed" | "refused" | "malformed" };

/** What identifies a block's content, as one source gives it without the block: a second opinion that costs little. */
export interface BlockDigest
  extends Pick<SourceHeader, "blockhash" | "parentSlot" | "parentBlockhash" | "transactions"> {
  readonly signatureHash: Uint8Array;
}

/** Equal for equal contents, as far as a second opinion tells. */
export const digestKeyOf = ({ signatureHash, ...digest }: BlockDigest): string => {
  const { blockhash, parentSlot, parentBlockhash, transactions } = digest;
  return `${blockhash} ${parentSlot} ${parentBlockhash} ${transactions} ${Buffer.from(signatureHash).toString("base64")}`;
};

export type FetchedDigest =
  | { readonly kind: "present"; readonly digest: BlockDigest }
  | Exclude<FetchedBlock, { readonly kind: "present" }>;

/** One way in which one node brings blocks. */
export interface BlockSource extends AsyncDisposable {
  /** Unique in its network, for metrics and logs: the node's label, and the kind where that is not polling. */
  readonly name: string;
  /** The node behind it: two sources of one node never confirm each other. */
  readonly node: string;
  readonly kind: SourceKind;
  /** Whether blocks arrive by themselves while it is up, so that each need not be asked for. */
  readonly bringsBlocks: boolean;
  /** Begins to tell; called once. The source calls `sink` at any time, in any order and repeatedly. */
  start(sink: SourceSink): void;
  /** A block that is confirmed. Never rejects: what goes wrong is `unavailable`, an aborted signal as well. */
  fetchBlock(slot: Slot, signal: AbortSignal): Promise<FetchedBlock>;
  /** What the source says is in the slot's block, at a commitment. Never rejects, as `fetchBlock`. */
  fetchDigest(slot: Slot, commitment: "confirmed" | "finalized", signal: AbortSignal): Promise<FetchedDigest>;
  /** Slots with confirmed blocks in `from..to` (at most `slotRangeMax`), ascending; null when it cannot say. */
  fetchSlots(from: Slot, to: Slot, signal: AbortSignal): Promise<readonly Slot[] | null>;
}

/** What sources tell. Every function returns at once and never throws. */
export interface SourceSink {
  slot(source: BlockSource, notice: SlotNotice): void;
  block(source: BlockSource, given: GivenBlock): void;
  /** Its notices arrive from now on. */
  up(source: BlockSource): void;
  /** It told something that nobody can read. */
  malformed(source: BlockSource): void;
  /** They do not until it is up again; what it told meanwhile is missing. */
  down(source: BlockSource, reason: string): void;
}

/** Slots that one `fetchSlots` asks for. */
export const slotRangeMax = 512;
