import type { ChainAccount } from "../account.ts";
import type { CompiledInstruction, TransactionErrorJson } from "../outcome.ts";

/** An account as it stands after a write; `null` means that the account is gone. */
export interface AccountWrite {
  readonly address: string;
  readonly account: ChainAccount | null;
}

/** What an account holds after a transaction that left the rest of it alone. */
export interface LamportsWrite {
  readonly address: string;
  readonly lamports: bigint;
}

/** What the virtual machine needs to run one transaction, after it was parsed, resolved and checked. */
export interface SvmTransaction {
  /** The canonical wire bytes. */
  readonly bytes: Uint8Array;
  readonly version: "legacy" | 0 | 1;
  readonly payer: string;
  /** Base fee and priority fee, in lamports. */
  readonly fee: bigint;
  /** Every key that the transaction may write, the payer first, loaded ones included. */
  readonly writable: readonly string[];
  /** Where the static keys stand in `bytes`, 32 each, and the positions among them of the first writable ones. */
  readonly keysStart: number;
  readonly writablePositions: readonly number[];
  /** The other writable keys, which lookup tables named: 32 bytes each. */
  readonly loadedWritable: readonly Uint8Array[];
  /** Where the blockhash, or the durable nonce, stands in `bytes`: 32 bytes. */
  readonly lifetimeStart: number;
  /** The nonce account that the first instruction advances, when the lifetime is a durable nonce. */
  readonly nonceAddress: string | null;
  /** Whether the machine checks the signatures; false when somebody did already, or when they do not count. */
  readonly verify: boolean;
  /** Whether it does nothing but System transfers, so that of every account at most the lamports change. */
  readonly movesLamportsOnly: boolean;
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
  /** The state after the transaction of every account that it could write, but for those in `balances`. */
  readonly writes: readonly AccountWrite[];
  /** Accounts of which nothing but the lamports can have changed, and what they hold now; none is left at 0. */
  readonly balances: readonly LamportsWrite[];
}

/** Whether a transaction did all that it was to do. */
export function succeeded({ included, error }: SvmOutcome): boolean {
  return included && error === null;
}

/** The machine ended before it answered. Nothing that it did stays; it takes calls again when it is rebuilt. */
export class MachineEndedError extends Error {
  override readonly name = "MachineEndedError";

  constructor() {
    super("the virtual machine ended before it answered");
  }
}

/**
 * The virtual machine behind the bank. It holds the newest state only: older versions are the bank's. Every call is
 * answered in order and nothing is shared by reference, so that an implementation may live in another process. One that
 * can end on its own rejects every call with MachineEndedError from then on, until it is rebuilt from the bank's state.
 */
export interface Svm extends AsyncDisposable {
  /** Runs transactions in order and keeps their effects. `nextNonce` is what an advanced nonce account now holds. */
  execute(transactions: readonly SvmTransaction[], nextNonce: Uint8Array): Promise<readonly SvmOutcome[]>;
  /**
   * Runs transactions in order as one: when one of them does not succeed, nothing of any of them stays. The outcomes end
   * with the first that did not succeed.
   */
  executeBundle(transactions: readonly SvmTransaction[], nextNonce: Uint8Array): Promise<readonly SvmOutcome[]>;
  /** Runs transactions like `executeBundle` over the newest state with `overlay` in place of it; nothing is kept. */
  simulateBundle(
    transactions: readonly SvmTransaction[],
    overlay: readonly AccountWrite[],
    nextNonce: Uint8Array,
  ): Promise<readonly SvmOutcome[]>;
  /** Runs one transaction over the newest state with `overlay` in place of it; nothing is kept. */
  simulate(transaction: SvmTransaction, overlay: readonly AccountWrite[], nextNonce: Uint8Array): Promise<SvmOutcome>;
  /** Writes accounts as they are, without rules: sysvars, rewards, genesis. */
  write(accounts: readonly AccountWrite[]): Promise<void>;
  /** The accounts that the machine itself brings: built-in programs, the SPL programs, sysvars, features. */
  genesisAccounts(): Promise<readonly AccountWrite[]>;
  /**
   * Begins anew with these accounts and no others, programs last, and with empty caches, whether the machine ended or not.
   * Nothing else is asked of it meanwhile.
   */
  rebuild(accounts: Iterable<AccountWrite>): Promise<void>;
  /** Whether it has ended, so that it must be rebuilt before it is asked for anything. */
  readonly isEnded: boolean;
  readonly facts: MachineFacts;
}

/** What a machine tells of itself to whoever runs the chain. */
export interface MachineFacts {
  /** Its process; null when that is the chain's own. */
  readonly pid: number | null;
  /** Times that it ended on its own. */
  readonly ended: number;
}
