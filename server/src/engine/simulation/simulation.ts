import type { BundleReason } from "@sluice/contract/engine";
import type { Address, Signature } from "@sluice/wire/identifiers";

/** What is simulated: a bundle's id and its transactions, canonical wire bytes, in their order. */
export interface SimulatedBundle {
  readonly id: string;
  readonly transactions: readonly Uint8Array[];
}

/** What a bundle does to the state it ran on. */
export interface BundleEffects {
  readonly ok: true;
  /** Lamports that tip accounts gained which a transaction locks for writing by a key of its own; never negative. */
  readonly tip: bigint;
  /** Compute units that its transactions consumed together. */
  readonly computeUnits: number;
  /** Its share of a block's cost limits: units, signatures, write locks, instruction data and loaded pages. */
  readonly costUnits: number;
  /** Base and priority fees, lamports. */
  readonly fees: bigint;
  /** What it locks for writing and for reading only, keys of lookup tables included, each once. */
  readonly writes: readonly Address[];
  readonly reads: readonly Address[];
  /** The first signature of each transaction. */
  readonly signatures: readonly Signature[];
  /** The oldest slot of which an account was that it ran on. */
  readonly slot: bigint;
}

/** Why a bundle does not run. Nothing of it is kept. */
export interface BundleFailure {
  readonly ok: false;
  readonly reason: Extract<
    BundleReason,
    | "malformed_transaction"
    | "duplicate_transaction"
    | "signature_invalid"
    | "blockhash_expired"
    | "tip_account_via_lookup_table"
    | "account_locks_exceeded"
    | "simulation_failed"
  >;
  /** The transaction that failed, from 0, and its signature; null where it has none that could be read. */
  readonly index: number;
  readonly signature: Signature | null;
  /** The runtime's error: its name, or its JSON where it has parts. */
  readonly error: string;
  /** The last lines that the transaction logged; empty when it did not run. */
  readonly logs: readonly string[];
}

/** Nothing can be said of the bundle now. */
export interface BundleUnavailable {
  readonly ok: false;
  readonly reason: "unavailable";
  /**
   * `overloaded`: too many bundles wait. `no_accounts`: they could not be had. `machine_ended`: the machine ended on it more
   * than once. `too_late`: no machine was free in time. `session_over`: its block is closed or was lost. `closed`: the
   * simulator is.
   */
  readonly cause: "overloaded" | "no_accounts" | "machine_ended" | "too_late" | "session_over" | "closed";
}

export type BundleOutcome = BundleEffects | BundleFailure | BundleUnavailable;

/** A block being built: each bundle runs on what those before it left, and one that fails leaves nothing. */
export interface BlockSession extends AsyncDisposable {
  readonly slot: bigint;
  /** Runs bundles in this order, each kept if it succeeds. Calls take effect in the order in which they are made. */
  apply(bundles: readonly SimulatedBundle[]): Promise<readonly BundleOutcome[]>;
  /** Runs each bundle on the state that `apply` has left so far; none is kept. */
  attempt(bundles: readonly SimulatedBundle[]): Promise<readonly BundleOutcome[]>;
}

export interface SimulatorFacts {
  /** Bundles that wait for accounts or for a machine, and those that a machine has. */
  readonly waiting: number;
  readonly underWay: number;
  /** Times that a machine ended on its own or was ended because it hung. */
  readonly ended: number;
  readonly cachedBytes: number;
  readonly pids: readonly number[];
}

/** Runs bundles on a copy of the chain's newest state, in processes of their own. */
export interface Simulator extends AsyncDisposable {
  /**
   * Checks the signatures and runs the bundle alone on the newest known state. Rejects with RangeError for a bundle of
   * none or more than 20 transactions, and never else.
   */
  simulate(bundle: SimulatedBundle): Promise<BundleOutcome>;
  /** Opens a block. Signatures are not checked again in it: only bundles go in that `simulate` was asked about. */
  openBlock(slot: bigint): BlockSession;
  /** A slot is the newest: what is known of accounts is read again when it is next needed. */
  onSlot(slot: bigint): void;
  readonly facts: SimulatorFacts;
}

/** An account as a node tells of it. */
export interface RawAccount {
  readonly lamports: bigint;
  /** 32 bytes. */
  readonly owner: Uint8Array;
  readonly executable: boolean;
  /** Its first bytes, all of them unless fewer were asked for. */
  readonly data: Uint8Array;
  /** Bytes that its data has altogether. */
  readonly space: number;
}

/** Where accounts come from. */
export interface AccountSource {
  /**
   * The accounts of at most 100 addresses, in their order, null for those that do not exist, all as of one slot that is not
   * before `minimumSlot`. Data is cut to `dataBytes` unless that is null. Rejects when they cannot be had.
   */
  accounts(
    addresses: readonly Address[],
    options: { readonly minimumSlot: bigint; readonly dataBytes: number | null },
  ): Promise<{ readonly slot: bigint; readonly accounts: readonly (RawAccount | null)[] }>;
}
