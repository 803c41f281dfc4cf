import type { BundleReason, BundleState, MevType } from "@sluice/contract/engine";
import type { Address, Signature, Slot } from "@sluice/wire/identifiers";

/** The ways in which a bundle reaches the engine. */
export const bundleIngresses = ["grpc", "stream", "rest", "jito-grpc", "jito-rpc"] as const;
export type BundleIngress = (typeof bundleIngresses)[number];

/** A bundle as it is accepted. Amounts and slots from 0 to 2^63-1, times in Unix milliseconds. */
export interface NewBundle {
  /** 64 lowercase hexadecimal digits. */
  readonly id: string;
  readonly searcherId: string;
  readonly ingress: BundleIngress;
  /**
   * Canonical wire bytes in their order: at most 8, of at most 65,535 bytes each. Empty while the bundle is sealed, and
   * when it is read after its end.
   */
  readonly transactions: readonly Uint8Array[];
  /** The first signature of each transaction; none while the bundle is sealed. At most 8. */
  readonly signatures: readonly Signature[];
  /** Lamports that the bundle claims to pay. */
  readonly tip: bigint;
  readonly mevType: MevType;
  readonly targetSlot: Slot | null;
  /** The envelope of an encrypted bundle that has not been opened. */
  readonly sealed: Uint8Array | null;
  readonly receivedAt: number;
  /** The newest slot when the bundle was accepted. */
  readonly acceptedSlot: Slot;
  /** The last block height at which its blockhashes are valid; null while it is sealed, and for durable nonces. */
  readonly lastValidBlockHeight: bigint | null;
  /** The time after which it is expired whatever the chain does. */
  readonly expiresAt: number;
}

/** The content of an opened envelope. */
export type OpenedContent = Pick<NewBundle, "transactions" | "signatures" | "lastValidBlockHeight">;

/** Where a bundle is in the chain. `index` is its place among the bundles of its block, from 0. */
export interface LandedPlace {
  readonly slot: Slot;
  readonly blockhash: string;
  readonly index: number;
}

/** The part of a bundle that its steps change. */
export interface BundleStatus {
  readonly state: BundleState;
  /** Set with `dropped` and `expired`. */
  readonly reason: BundleReason | null;
  /** Text of the runtime or the parser beside the reason. */
  readonly detail: string | null;
  /** Set with `included`, kept with `finalized`. */
  readonly landed: LandedPlace | null;
  /** How often it was forwarded to a leader, and for which slot last. */
  readonly forwarded: { readonly times: number; readonly slot: Slot; readonly leader: Address } | null;
  /** Lamports that its tip accounts gained in its last simulation, or in its block. */
  readonly tipSeen: bigint | null;
  /** Compute units likewise. */
  readonly computeUnits: number | null;
  /** Time of the last change. */
  readonly changedAt: number;
}

/** Searchers that follow one bundle at most, beside the one that submitted it first. */
export const followersMax = 64;

/** A bundle and its status. */
export interface BundleRecord extends NewBundle, BundleStatus {
  /** The hash of the genesis of the chain that it was accepted for, in base58; null where nodes do not tell it. */
  readonly chain: string | null;
  /** Searchers that submitted it when it was known already. */
  readonly followers: readonly string[];
}

/** A transition from a state; `isEnd` marks a final one. */
export interface BundleStep {
  readonly id: string;
  readonly from: BundleState;
  readonly to: BundleStatus;
  readonly isEnd: boolean;
}

export type AcceptResult = { readonly fresh: true } | { readonly fresh: false; readonly found: BundleRecord };

/** `found` is what stands instead: null when there is no such bundle. */
export type StepResult = { readonly applied: true } | { readonly applied: false; readonly found: BundleRecord | null };

/** Every method throws SluiceError: INVALID_INPUT, or an error with a code of `stateErrorCodeOf`. */
export interface BundleStore {
  /**
   * Takes a bundle in unless its id is there in this network. `chain` is its record's. Shares its commit with others.
   */
  accept(bundle: NewBundle, chain?: string | null): Promise<AcceptResult>;
  /**
   * Makes a step if the bundle still is in the state it starts from. The step that ends it takes its content away and
   * notes, in the same transaction, that its outcome has to be reported. Shares its commit with other steps.
   */
  step(step: BundleStep): Promise<StepResult>;
  /**
   * Puts what an envelope held in its place; false where there is no sealed bundle of this id that can still change.
   */
  open(id: string, opened: OpenedContent): Promise<boolean>;
  /** Notes how often bundles were forwarded; those that have ended stay as they are. At most 500. */
  noteForwarded(
    notes: readonly { readonly id: string; readonly forwarded: NonNullable<BundleRecord["forwarded"]> }[],
  ): Promise<void>;
  /**
   * Sets who follows a bundle that can still change; false where there is none. At most 64. One process at a time
   * writes them.
   */
  setFollowers(id: string, followers: readonly string[]): Promise<boolean>;
  get(id: string): Promise<BundleRecord | null>;
  /** Those that can still change, oldest first, in pages. `after` is the last of the page before. */
  live(after: Pick<BundleRecord, "id" | "receivedAt"> | null, limit: number): Promise<readonly BundleRecord[]>;
  /** Newest first. Limit 1 to 1000. */
  list(question: {
    readonly searcherId?: string;
    readonly state?: BundleState;
    readonly limit: number;
    readonly cursor: string | null;
  }): Promise<{ readonly items: readonly BundleRecord[]; readonly nextCursor: string | null }>;
  /** Bundles that have ended and whose outcome has not been reported, the first to end first. Limit 1 to 1000. */
  unreported(limit: number): Promise<readonly BundleRecord[]>;
  /** Notes that outcomes have been reported. At most 1000. */
  markReported(ids: readonly string[]): Promise<void>;
  /** Forgets up to 500 bundles that ended before then and whose outcome has been reported; says how many. */
  forget(endedBefore: number): Promise<number>;
}
