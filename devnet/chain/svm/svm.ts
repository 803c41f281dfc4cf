import type { ChainAccount, CompiledInstruction, TransactionErrorJson } from "../model.ts";

/** An account as it stands after a write; `null` means that the account is gone. */
export interface AccountWrite {
  readonly address: string;
  readonly account: ChainAccount | null;
}

/** What the virtual machine needs to run one transaction, after it was parsed, resolved and checked. */
export interface SvmTransaction {
  /** The canonical wire bytes. */
  readonly bytes: Uint8Array;
  readonly version: "legacy" | 0 | 1;
  readonly payer: string;
  /** Base fee and priority fee, in lamports. */
  readonly fee: bigint;
  /** Every key that the transaction may write, loaded ones included. */
  readonly writable: readonly string[];
  /** The blockhash, or the durable nonce, that the message carries: 32 bytes. */
  readonly lifetime: Uint8Array;
  /** The nonce account that the first instruction advances, when the lifetime is a durable nonce. */
  readonly nonceAddress: string | null;
}

/** What became of one transaction. */
export interface SvmOutcome {
  /** False when the transaction never entered a block: no fee was taken and nothing changed. */
  readonly included: boolean;
  readonly error: TransactionErrorJson | null;
  readonly logs: readonly string[];
  readonly innerInstructions: readonly {
    readonly index: number;
    readonly instructions: readonly CompiledInstruction[];
  }[];
  readonly computeUnitsConsumed: bigint;
  readonly returnData: { readonly programId: string; readonly data: Uint8Array } | null;
  /** The state after the transaction of every account that it could write. */
  readonly writes: readonly AccountWrite[];
}

/**
 * The virtual machine behind the bank. It holds the newest state only: older versions are the bank's. Every call is
 * answered in order and nothing is shared by reference, so that an implementation may live in another process.
 */
export interface Svm extends AsyncDisposable {
  /** Runs transactions in order and keeps their effects. `nextNonce` is what an advanced nonce account now holds. */
  execute(transactions: readonly SvmTransaction[], nextNonce: Uint8Array): Promise<readonly SvmOutcome[]>;
  /** Runs one transaction over the newest state with `overlay` in place of it; nothing is kept. */
  simulate(transaction: SvmTransaction, overlay: readonly AccountWrite[], nextNonce: Uint8Array): Promise<SvmOutcome>;
  /** Writes accounts as they are, without rules: sysvars, rewards, genesis. */
  write(accounts: readonly AccountWrite[]): Promise<void>;
  /** The accounts that the machine itself brings: built-in programs, the SPL programs, sysvars, features. */
  genesisAccounts(): Promise<readonly AccountWrite[]>;
}
