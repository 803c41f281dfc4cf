import type { BundleReason, BundleState } from "@sluice/contract/engine";
import type { Address, Signature, Slot } from "@sluice/wire/identifiers";
import type { BundleIngress, BundleRecord, NewBundle, OpenedContent } from "../../state/index.ts";

/** Who sends bundles: an owner account, or a public key that no account has linked. */
export interface Searcher {
  /** The owner account's id, or `pubkey:` and the address. Reputation and limits go by it. */
  readonly id: string;
  readonly accountId: string | null;
  readonly pubkey: Address | null;
}

export type { BundleIngress, BundleRecord, NewBundle, OpenedContent };

/** A step of a bundle's life; the lifecycle says which are possible from where. */
export type BundleChange =
  /** From `included` to another block: the branch that won over the bundle's block holds it as well. */
  | { readonly to: "included"; readonly slot: Slot; readonly blockhash: string; readonly tip: bigint }
  /** `landed` where the finalized block may be another than the one that it was included in. */
  | { readonly to: "finalized"; readonly landed?: NonNullable<BundleRecord["landed"]> }
  | { readonly to: "dropped"; readonly reason: BundleReason; readonly detail?: string }
  | { readonly to: "expired"; readonly reason: BundleReason; readonly detail?: string };

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
  /** Calls the listener after each acceptance and each step of this searcher's bundles, once it is on disk. */
  follow(searcherId: string, listener: (record: BundleRecord) => void): Disposable;
  /** A searcher's bundles, newest first, those that have ended included. */
  list(question: {
    readonly searcherId?: string;
    readonly state?: BundleState;
    readonly limit: number;
    readonly cursor: string | null;
  }): Promise<{ readonly items: readonly BundleRecord[]; readonly nextCursor: string | null }>;
}
