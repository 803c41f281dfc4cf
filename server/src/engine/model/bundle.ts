import type { BundleReason, BundleState } from "@sluice/contract/engine";
import type { Address, Signature, Slot } from "@sluice/wire/identifiers";
import type { BundleIngress, BundleRecord, LandedPlace, NewBundle, OpenedContent } from "../../state/index.ts";

/** A sender of bundles: an owner account, or a public key that no account has linked. */
export interface Searcher {
  /** The owner account's id, or `pubkey:` and the address. The key of reputation and limits. */
  readonly id: string;
  readonly accountId: string | null;
  readonly pubkey: Address | null;
}

export type { BundleIngress, BundleRecord, LandedPlace, NewBundle, OpenedContent };

/** Whether a searcher submitted the bundle, as the first or when it was known. */
export const isSubmitter = ({ searcherId, followers }: BundleRecord, id: string): boolean =>
  searcherId === id || followers.includes(id);

/** A step of a bundle's life. `lifecycle.ts` holds the steps that are possible in each state. */
export type BundleChange =
  /** From `included` to another block: the branch that won over the bundle's block holds it as well. */
  | ({ readonly to: "included"; readonly tip: bigint } & LandedPlace)
  /** `landed` where the finalized block may be another than the one that it was included in. */
  | { readonly to: "finalized"; readonly landed?: NonNullable<BundleRecord["landed"]> }
  | { readonly to: "dropped"; readonly reason: BundleReason; readonly detail?: string }
  | { readonly to: "expired"; readonly reason: BundleReason; readonly detail?: string };

/**
 * Every bundle from its acceptance to 30 days after its end. Answers of `accept` and `change` are on disk. Live
 * bundles, those that can still change, are in memory, also after a restart.
 */
export interface BundlePool extends AsyncDisposable {
  /**
   * Adds a bundle. A known id is the same bundle: the answer is its present record, and `fresh` is false; its searcher
   * follows it from then on. After a
   * failure other than OVERLOADED it is not known whether the bundle is on disk; accepting it again resolves that.
   *
   * @throws {SluiceError} OVERLOADED when too many bundles are live or too many writes wait.
   */
  accept(bundle: NewBundle): Promise<{ readonly fresh: boolean; readonly record: BundleRecord }>;
  /** Null for an id that was never accepted, or whose bundle ended over 30 days ago. */
  get(id: string): Promise<BundleRecord | null>;
  /** A live bundle, from memory alone. */
  live(id: string): BundleRecord | null;
  /** All live bundles, oldest first. */
  everyLive(): Iterable<BundleRecord>;
  /** Live bundles that no block holds and whose content is known, in the order in which it became known. */
  everyAccepted(): Iterable<BundleRecord>;
  /** Live bundles whose content is sealed. */
  everySealed(): Iterable<BundleRecord>;
  readonly liveCount: number;
  /** How long ends of bundles have waited for the ledger, in milliseconds; 0 when none waits. */
  readonly outcomesWaitMs: number;
  /** Live bundles in which this is the first signature of a transaction. */
  holding(signature: Signature): readonly BundleRecord[];
  /** Live bundles that a searcher submitted, oldest first. */
  liveOf(searcherId: string): readonly BundleRecord[];
  liveCountOf(searcherId: string): number;
  /**
   * Has a searcher follow a live bundle as if it were its own. Null when it is not live.
   *
   * @throws {SluiceError} OVERLOADED when too many searchers follow it.
   */
  addFollower(id: string, searcherId: string): Promise<BundleRecord | null>;
  /** Replaces the envelope of a sealed bundle by its content. Null when no live bundle has the id. */
  opened(id: string, content: OpenedContent): Promise<BundleRecord | null>;
  /** Notes that bundles were delivered to a leader; written to disk within a second. */
  forwarded(ids: readonly string[], at: { readonly slot: Slot; readonly leader: Address }): void;
  /** Notes the figures of a simulation; in memory only. Tip in lamports. */
  simulated(id: string, seen: { readonly tip: bigint; readonly computeUnits: number }): void;
  /**
   * Makes a step; steps of one bundle are made in the order of their requests. Null when the bundle is not live, or the
   * lifecycle has no such step: nothing changes then. After a failure it is not known whether the step is on disk;
   * requesting it again resolves that.
   *
   * @throws {SluiceError} OVERLOADED when too many steps of the bundle wait.
   */
  change(id: string, change: BundleChange): Promise<BundleRecord | null>;
  /** Calls the listener after each acceptance (`before` is null) and each step, once it is on disk. */
  onChange(listener: (record: BundleRecord, before: BundleState | null) => void): Disposable;
  /**
   * Calls the listener after each acceptance and each step of the bundles that this searcher submitted, once it is on
   * disk.
   */
  follow(searcherId: string, listener: (record: BundleRecord) => void): Disposable;
  /** A searcher's bundles, newest first, ended ones included. */
  list(question: {
    readonly searcherId?: string;
    readonly state?: BundleState;
    readonly limit: number;
    readonly cursor: string | null;
  }): Promise<{ readonly items: readonly BundleRecord[]; readonly nextCursor: string | null }>;
}
