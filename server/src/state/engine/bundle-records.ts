import type { BundleReason, BundleState, MevType } from "@sluice/contract/engine";

/** What a bundle is from its acceptance on. Amounts and slots from 0 to 2^63-1, times in Unix milliseconds. */
export interface StoredBundleTerms {
  /** 64 lowercase hexadecimal digits. */
  readonly id: string;
  readonly searcherId: string;
  readonly ingress: string;
  /** Base58 text of the first signature of each transaction; none while it is sealed. At most 8. */
  readonly signatures: readonly string[];
  readonly tip: bigint;
  readonly mevType: MevType;
  readonly targetSlot: bigint | null;
  readonly receivedAt: number;
  readonly acceptedSlot: bigint;
  readonly lastValidBlockHeight: bigint | null;
  readonly expiresAt: number;
}

/** What it carries, which goes when it ends. */
export interface StoredBundleContent {
  /** At most 8, of at most 65,535 bytes each. */
  readonly transactions: readonly Uint8Array[];
  /** An envelope that has not been opened. */
  readonly sealed: Uint8Array | null;
}

/** Where it stands. */
export interface StoredBundleStanding {
  readonly state: BundleState;
  readonly reason: BundleReason | null;
  readonly detail: string | null;
  readonly landed: { readonly slot: bigint; readonly blockhash: string } | null;
  readonly forwarded: { readonly times: number; readonly slot: bigint; readonly leader: string } | null;
  readonly tipSeen: bigint | null;
  readonly computeUnits: number | null;
  readonly changedAt: number;
}

export interface StoredBundle extends StoredBundleTerms, StoredBundleContent, StoredBundleStanding {}

/** From which state to which standing; `isEnd` says that nothing comes after it. */
export interface StoredBundleStep {
  readonly id: string;
  readonly from: BundleState;
  readonly to: StoredBundleStanding;
  readonly isEnd: boolean;
}

export type AcceptResult = { readonly fresh: true } | { readonly fresh: false; readonly found: StoredBundle };

/** `found` is what stands instead: null when there is no such bundle. */
export type StepResult = { readonly made: true } | { readonly made: false; readonly found: StoredBundle | null };

/** Every method throws SluiceError: INVALID_INPUT, or a fault that `stateFaultOf` names. */
export interface BundleStore {
  /** Takes a bundle in unless its id is there. Shares its commit with other acceptances. */
  accept(bundle: StoredBundleTerms & StoredBundleContent): Promise<AcceptResult>;
  /**
   * Makes a step if the bundle still is in the state it starts from. The step that ends it takes its content away and
   * notes, in the same transaction, that its outcome has to be told. Shares its commit with other steps.
   */
  step(step: StoredBundleStep): Promise<StepResult>;
  /** Puts what an envelope held in its place; false where there is no sealed bundle of this id that can still change. */
  open(
    id: string,
    opened: Pick<StoredBundle, "transactions" | "signatures" | "lastValidBlockHeight">,
  ): Promise<boolean>;
  /** Notes how often bundles were forwarded; those that have ended stay as they are. At most 500. */
  noteForwarded(
    notes: readonly { readonly id: string; readonly forwarded: NonNullable<StoredBundle["forwarded"]> }[],
  ): Promise<void>;
  get(id: string): Promise<StoredBundle | null>;
  /** Those that can still change, oldest first, in pages. `after` is the last of the page before. */
  live(after: Pick<StoredBundle, "id" | "receivedAt"> | null, limit: number): Promise<readonly StoredBundle[]>;
  /** Newest first. Limit 1 to 1000. */
  list(question: {
    readonly searcherId?: string;
    readonly state?: BundleState;
    readonly limit: number;
    readonly cursor: string | null;
  }): Promise<{ readonly items: readonly StoredBundle[]; readonly nextCursor: string | null }>;
  /** Bundles that have ended and whose outcome has not been told, the first to end first. Limit 1 to 1000. */
  untold(limit: number): Promise<readonly StoredBundle[]>;
  /** Notes that outcomes have been told. At most 1000. */
  told(ids: readonly string[]): Promise<void>;
  /** Forgets up to 500 bundles that ended before then and whose outcome has been told; says how many. */
  forget(endedBefore: number): Promise<number>;
}
