import { createHash } from "node:crypto";
import { CodedError } from "@sluice/contract/errors";
import type { ChainAccount, CompiledInstruction, TransactionErrorJson } from "../account.ts";

/** An account as it is after a write; null when it no longer exists. */
export interface AccountWrite {
  readonly address: string;
  readonly account: ChainAccount | null;
}

/** The balance of an account after a transaction that changed nothing else of it. */
export interface LamportsWrite {
  readonly address: string;
  readonly lamports: bigint;
}

/** One transaction for the virtual machine, after it was parsed, resolved and checked. */
export interface SvmTransaction {
  /** The canonical wire bytes. */
  readonly bytes: Uint8Array;
  readonly version: "legacy" | 0 | 1;
  readonly payer: string;
  /** Base fee and priority fee, in lamports. */
  readonly fee: bigint;
  /** Every key that the transaction may write, the payer first, loaded ones included. */
  readonly writable: readonly string[];
  /** Offset of the static keys in `bytes`, 32 bytes each, and the positions among them of the first writable ones. */
  readonly keysStart: number;
  readonly writablePositions: readonly number[];
  /** The other writable keys, which lookup tables name: 32 bytes each. */
  readonly loadedWritable: readonly Uint8Array[];
  /** Offset in `bytes` of the blockhash or the durable nonce: 32 bytes. */
  readonly lifetimeStart: number;
  /** The nonce account that the first instruction advances, when the lifetime is a durable nonce. */
  readonly nonceAddress: string | null;
  /** Whether the machine checks the signatures; false when they were checked before, or need no check. */
  readonly verify: boolean;
  /** Whether it consists of System transfers alone, so that at most the lamports of an account change. */
  readonly movesLamportsOnly: boolean;
}

/** The outcome of one transaction. */
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
  /** The state after the transaction of every account that it could write, except those in `balances`. */
  readonly writes: readonly AccountWrite[];
  /** Accounts of which only the lamports can have changed, with their balance, which is above 0. */
  readonly balances: readonly LamportsWrite[];
}

/** Whether a transaction entered its block and succeeded. */
export function succeeded({ included, error }: SvmOutcome): boolean {
  return included && error === null;
}

/**
 * The process of the machine ended before it answered. None of its effects remain; it takes calls again when it is
 * rebuilt.
 */
export class MachineEndedError extends CodedError<"MACHINE_ENDED"> {
  constructor() {
    super("MACHINE_ENDED", { message: "the virtual machine ended before it answered", details: {} });
  }
}

/**
 * The virtual machine behind the bank. It holds the newest state only: older versions are the bank's. Calls are
 * answered in order and share nothing by reference, so that an implementation may live in another process. When that
 * process ends, every call rejects with `MachineEndedError` until the machine is rebuilt from the bank's state.
 */
export interface Svm extends AsyncDisposable {
  /** Runs transactions in order and keeps their effects. `nextNonce` is the value of a nonce account that advances. */
  execute(transactions: readonly SvmTransaction[], nextNonce: Uint8Array): Promise<readonly SvmOutcome[]>;
  /**
   * Runs transactions in order as one: when one of them does not succeed, no effect of any of them remains. The
   * outcomes end with the first that did not succeed.
   */
  executeBundle(transactions: readonly SvmTransaction[], nextNonce: Uint8Array): Promise<readonly SvmOutcome[]>;
  /** Runs transactions like `executeBundle`, with `overlay` in place of those accounts; nothing is kept. */
  simulateBundle(
    transactions: readonly SvmTransaction[],
    overlay: readonly AccountWrite[],
    nextNonce: Uint8Array,
  ): Promise<readonly SvmOutcome[]>;
  /** Runs one transaction over the newest state, with `overlay` in place of those accounts; nothing is kept. */
  simulate(transaction: SvmTransaction, overlay: readonly AccountWrite[], nextNonce: Uint8Array): Promise<SvmOutcome>;
  /**
   * Writes accounts without any rule of the runtime: sysvars, rewards, genesis.
   * @throws {Error} when LiteSVM did not take one of them; the others are written.
   */
  write(accounts: readonly AccountWrite[]): Promise<void>;
  /** The accounts that the machine brings: built-in programs, the SPL programs, sysvars, features. */
  genesisAccounts(): Promise<readonly AccountWrite[]>;
  /**
   * Starts over with these accounts and no others, programs last, and with empty caches, whether the machine ended or
   * not. No other call is made meanwhile.
   * @throws {MachineEndedError} when the process ends meanwhile, or does not start again in time.
   */
  rebuild(accounts: Iterable<AccountWrite>): Promise<void>;
  /** Whether it has ended, so that it must be rebuilt before it is asked for anything. */
  readonly isEnded: boolean;
  readonly facts: MachineFacts;
}

export interface MachineFacts {
  /** Its process; null when it runs in the chain's own process, and between two lives. */
  readonly pid: number | null;
  /** Times that its process ended on its own. */
  readonly ended: number;
}

/**
 * The nonce value that a bank sets after the block of this hash. Source: solana-nonce, DurableNonce::from_blockhash.
 */
export function durableNonce(blockhash: Uint8Array): Uint8Array {
  return new Uint8Array(createHash("sha256").update("DURABLE_NONCE").update(blockhash).digest());
}
