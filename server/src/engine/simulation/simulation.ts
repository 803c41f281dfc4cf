import type { BundleReason } from "@sluice/contract/engine";
import type { AccountBytes } from "@sluice/svm";
import type { Address, Signature } from "@sluice/wire/identifiers";

/** What is simulated: a bundle's id and its transactions, canonical wire bytes, in their order. */
export interface SimulatedBundle {
  readonly id: string;
  readonly transactions: readonly Uint8Array[];
}

/** The effects of a bundle on the state that it ran on. */
export interface BundleEffects {
  readonly ok: true;
  /** Lamports gained by tip accounts that a transaction locks for writing by a static key; never negative. */
  readonly tip: bigint;
  /** Compute units that its transactions consumed together. */
  readonly computeUnits: number;
  /** Its share of a block's cost limits: units, signatures, write locks, instruction data and loaded pages. */
  readonly costUnits: number;
  /** Base and priority fees, lamports. */
  readonly fees: bigint;
  /** The accounts that it locks for writing and for reading only, keys of lookup tables included, each once. */
  readonly writes: readonly Address[];
  readonly reads: readonly Address[];
  /** The first signature of each transaction. */
  readonly signatures: readonly Signature[];
  /** The oldest slot of the accounts that it ran on. */
  readonly slot: bigint;
}

/** Why a bundle does not run. It has no effects. */
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
  /** The transaction that failed, from 0, and its signature; null where that could not be read. */
  readonly index: number;
  readonly signature: Signature | null;
  /** The runtime's error: its name, or its JSON where it has parts. */
  readonly error: string;
  /** The last lines that the transaction logged; empty when it did not run. */
  readonly logs: readonly string[];
}

/** The bundle could not be simulated now. */
export interface BundleUnavailable {
  readonly ok: false;
  readonly reason: "unavailable";
  /**
   * `overloaded`: too many bundles wait. `no_accounts`: its accounts could not be read. `machine_ended`: it ended the
   * machine more than once. `too_late`: no machine was free in time. `session_over`: its block is closed or was lost.
   * `closed`: the simulator is closed.
   */
  readonly cause: "overloaded" | "no_accounts" | "machine_ended" | "too_late" | "session_over" | "closed";
}

export type BundleOutcome = BundleEffects | BundleFailure | BundleUnavailable;

/** A block being built: each bundle runs on the effects of those before it, and one that fails has none. */
export interface BlockSession extends AsyncDisposable {
  readonly slot: bigint;
  /** Runs bundles in this order, each kept if it succeeds. Calls take effect in the order in which they are made. */
  apply(bundles: readonly SimulatedBundle[]): Promise<readonly BundleOutcome[]>;
  /** Runs each bundle on the state that `apply` has reached; none is kept. */
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
   * Checks the signatures and runs the bundle alone on the newest known state.
   * @throws {RangeError} for a bundle of no or more than 20 transactions; it rejects with nothing else.
   */
  simulate(bundle: SimulatedBundle): Promise<BundleOutcome>;
  /** Opens a block. Signatures are not checked in it: only bundles that `simulate` has run may go in. */
  openBlock(slot: bigint): BlockSession;
  /** Reports the newest slot: accounts are read again when they are next needed. */
  onSlot(slot: bigint): void;
  readonly facts: SimulatorFacts;
}

/** An account as a node returns it. */
export interface RawAccount extends Omit<AccountBytes, "rentEpoch"> {
  /** Length of its whole data, bytes; `data` has the first of them when fewer were requested. */
  readonly space: number;
}

/** Where accounts come from. */
export interface AccountSource {
  /**
   * The accounts of at most 100 addresses, in their order, null for those that do not exist, all as of one slot that is
   * not before `minimumSlot`. Data is cut to `dataBytes` unless that is null. Rejects when they cannot be had.
   */
  accounts(
    addresses: readonly Address[],
    options: { readonly minimumSlot: bigint; readonly dataBytes: number | null },
  ): Promise<{ readonly slot: bigint; readonly accounts: readonly (RawAccount | null)[] }>;
}
