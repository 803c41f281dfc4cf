import type { Transaction } from "@sluice/wire/transaction";
import type { AccountEntry } from "./account-cache.ts";

/** A transaction whose every key is known. */
export interface PreparedTransaction {
  readonly transaction: Transaction;
  readonly lifetimeStart: number;
  /** The account whose nonce it carries in place of a blockhash; null with a blockhash. */
  readonly nonce: AccountEntry | null;
}

type BundleParts = Omit<PreparedBundle, "supports" | "isCurrent" | "slot" | "release"> & {
  readonly tables: readonly AccountEntry[];
  readonly code: readonly AccountEntry[];
};

/** A bundle that can be sent to a machine. It holds its entries until it is released. */
export class PreparedBundle {
  readonly id: string;
  readonly transactions: readonly PreparedTransaction[];
  /** The accounts that it locks, each once. */
  readonly writes: readonly AccountEntry[];
  readonly reads: readonly AccountEntry[];
  /** The accounts that it runs on without locking them: lookup tables and the code of programs. */
  readonly supports: readonly AccountEntry[];
  /** A bit for each tip account whose gain counts. */
  readonly tipMask: number;
  readonly fees: bigint;
  readonly fixedCostUnits: number;
  /** Compute units that it may consume. */
  readonly unitLimit: number;
  readonly mayDeploy: boolean;
  readonly #tables: readonly (readonly [AccountEntry, number])[];
  readonly #entries: readonly AccountEntry[];
  #isHeld = true;

  constructor(parts: BundleParts) {
    this.id = parts.id;
    this.transactions = parts.transactions;
    this.writes = parts.writes;
    this.reads = parts.reads;
    this.supports = [...parts.tables, ...parts.code];
    this.tipMask = parts.tipMask;
    this.fees = parts.fees;
    this.fixedCostUnits = parts.fixedCostUnits;
    this.unitLimit = parts.unitLimit;
    this.mayDeploy = parts.mayDeploy;
    this.#tables = parts.tables.map((table) => [table, table.version]);
    this.#entries = [...this.writes, ...this.reads, ...this.supports];
    for (const entry of this.#entries) entry.pins += 1;
  }

  /** Whether its lookup tables are still those that its keys were read from. */
  get isCurrent(): boolean {
    return this.#tables.every(([table, version]) => table.version === version);
  }

  /** The oldest slot for which one of its accounts is known; accounts that never change do not count. */
  get slot(): bigint {
    let oldest: bigint | null = null;
    for (const { slot, isConstant } of this.#entries) {
      if (!isConstant && (oldest === null || slot < oldest)) oldest = slot;
    }
    return oldest ?? 0n;
  }

  /** Releases its entries; a second call does nothing. */
  release(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    for (const entry of this.#entries) entry.pins -= 1;
  }
}
