import type { BundleReason, BundleState, MevType } from "@sluice/contract/engine";
import type { Address, Signature, Slot } from "@sluice/wire/identifiers";

/** Who sends bundles: an owner account, or a public key that no account has linked. */
export interface Searcher {
  /** The owner account's id, or `pubkey:` and the address. Reputation and limits go by it. */
  readonly id: string;
  readonly accountId: string | null;
  readonly pubkey: Address | null;
}

/** The door that a bundle came through. */
export type BundleIngress = "grpc" | "stream" | "rest" | "jito-grpc" | "jito-rpc";

/** A bundle as it is when it has been accepted. */
export interface NewBundle {
  /** 64 hexadecimal digits. */
  readonly id: string;
  readonly searcherId: string;
  readonly ingress: BundleIngress;
  /** Canonical wire bytes, in their order; empty while it is sealed, and when it is read after its end. */
  readonly transactions: readonly Uint8Array[];
  /** The first signature of each transaction. */
  readonly signatures: readonly Signature[];
  /** Lamports that it claims to pay. */
  readonly tip: bigint;
  readonly mevType: MevType;
  readonly targetSlot: Slot | null;
  /** The envelope of an encrypted bundle that has not been opened yet. */
  readonly sealed: Uint8Array | null;
  /** Unix milliseconds. */
  readonly receivedAt: number;
  /** The newest slot when it was accepted. */
  readonly acceptedSlot: Slot;
  /** The last block height at which its blockhashes are valid; null while it is sealed, and for durable nonces. */
  readonly lastValidBlockHeight: bigint | null;
  /** Unix milliseconds after which it is expired whatever the chain does. */
  readonly expiresAt: number;
}

/** A bundle and what became of it. */
export interface BundleRecord extends NewBundle {
  readonly state: BundleState;
  /** Set with `dropped` and `expired`. */
  readonly reason: BundleReason | null;
  /** What the runtime or the parser said beside the reason. */
  readonly detail: string | null;
  /** Where it is in the chain: set with `included`, kept with `finalized`. */
  readonly landed: { readonly slot: Slot; readonly blockhash: string } | null;
  /** How often it was handed to a leader, and for which slot last. */
  readonly forwarded: { readonly times: number; readonly slot: Slot; readonly leader: Address } | null;
  /** Lamports that its tip accounts gained when it was last simulated, or that they did gain in its block. */
  readonly tipSeen: bigint | null;
  /** Compute units likewise. */
  readonly computeUnits: number | null;
  /** Unix milliseconds of the last change. */
  readonly changedAt: number;
}

/** A step of a bundle's life; the lifecycle says which are possible from where. */
export type BundleChange =
  /** From `included` to another block: the branch that won over the bundle's block holds it as well. */
  | { readonly to: "included"; readonly slot: Slot; readonly blockhash: string; readonly tip: bigint }
  /** `landed` where the finalized block may be another than the one that it was included in. */
  | { readonly to: "finalized"; readonly landed?: NonNullable<BundleRecord["landed"]> }
  | { readonly to: "dropped"; readonly reason: BundleReason; readonly detail?: string }
  | { readonly to: "expired"; readonly reason: BundleReason; readonly detail?: string };

/** What is found when a sealed bundle is opened. */
export type OpenedContent = Pick<NewBundle, "transactions" | "signatures" | "lastValidBlockHeight">;

/**
 * Every bundle from its acceptance to 30 days after its end. What `accept` and `change` have answered is on disk. Those
 * that can still change are in memory; after a restart they are there again.
 */
export interface BundlePool extends AsyncDisposable {
  /**
   * Takes a bundle in. The same id again is the same bundle: its record as it stands, and `fresh` false. Rejects with
   * OVERLOADED when too many bundles are live or too many writes wait. After any other failure it is not known whether
   * the bundle is on disk; accepting it again tells.
   */
  accept(bundle: NewBundle): Promise<{ readonly fresh: boolean; readonly record: BundleRecord }>;
  /** Null for one that was never accepted, or ended over 30 days ago. */
  get(id: string): Promise<BundleRecord | null>;
  /** A bundle that can still change, without a look at the disk. */
  live(id: string): BundleRecord | null;
  /** Every bundle that can still change, oldest first. */
  everyLive(): Iterable<BundleRecord>;
  /** Those of them that no block holds: with known content, in the order in which that became known, and sealed ones. */
  everyAccepted(): Iterable<BundleRecord>;
  everySealed(): Iterable<BundleRecord>;
  readonly liveCount: number;
  /** Live bundles of which this is a transaction's first signature. */
  holding(signature: Signature): readonly BundleRecord[];
  /** A searcher's live bundles, oldest first. */
  liveOf(searcherId: string): readonly BundleRecord[];
  liveCountOf(searcherId: string): number;
  /** Puts what a sealed bundle holds in place of its envelope. Null where there is no such bundle that can still change. */
  opened(id: string, content: OpenedContent): Promise<BundleRecord | null>;
  /** Notes that bundles were handed to a leader; not waited for on the disk. */
  forwarded(ids: readonly string[], at: { readonly slot: Slot; readonly leader: Address }): void;
  /** Notes what a simulation saw; in memory only. */
  simulated(id: string, seen: { readonly tip: bigint; readonly computeUnits: number }): void;
  /**
   * Makes a step; those of one bundle are made one after the other, in the order in which they were asked for. Null where
   * the bundle is not live or the lifecycle has no such step: nothing is changed then. After a failure it is not known
   * whether the step is on disk; asking for it again tells.
   */
  change(id: string, change: BundleChange): Promise<BundleRecord | null>;
  /** Told after each acceptance and each step, once it is on disk. */
  onChange(listener: (record: BundleRecord, before: BundleState | null) => void): Disposable;
  /** A searcher's bundles, newest first, those that have ended included. */
  list(question: {
    readonly searcherId?: string;
    readonly state?: BundleState;
    readonly limit: number;
    readonly cursor: string | null;
  }): Promise<{ readonly items: readonly BundleRecord[]; readonly nextCursor: string | null }>;
}
