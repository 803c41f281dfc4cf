import { addressBytes, encodeBase58 } from "@sluice/wire/base58";
import { programs, sysvars } from "@sluice/wire/programs";
import {
  Account,
  FailedTransactionMetadata,
  type LiteSvm,
  SimulatedTransactionInfo,
  type TransactionMetadata,
} from "litesvm/dist/internal.js";
import { closedAccount, freshMachine, sameAccount, sameKey, systemProgram } from "../native/accounts.ts";
import { transactionError } from "../native/transaction-error.ts";
import { durableNonce, type SvmOutcome, type SvmTransaction } from "./svm.ts";

const nonceBytes = 80;
const nonceOffset = 40;
const keyLength = 32;

/** Owners of the accounts that LiteSVM brings. It can list accounts by owner only. */
const genesisOwners = [
  programs.nativeLoader,
  programs.bpfLoaderDeprecated,
  programs.bpfLoader,
  programs.bpfLoaderUpgradeable,
  sysvars.owner,
  programs.featureGate,
  programs.config,
  programs.token,
  programs.token2022,
  programs.system,
].map((address) => addressBytes(address));

/** A transaction by the bytes of its keys. `writable` begins with the fee payer. */
export interface CoreTransaction
  extends Pick<SvmTransaction, "bytes" | "fee" | "lifetimeStart" | "verify" | "movesLamportsOnly"> {
  readonly isLegacy: boolean;
  readonly writable: readonly Uint8Array[];
  /** Position in `writable` of the nonce account that it advances, or -1. */
  readonly nonceIndex: number;
}

/** An account of LiteSVM's own kind, by its position in `writable`; null when it is closed. */
export interface CoreWrite {
  readonly index: number;
  readonly account: Account | null;
}

export interface CoreOutcome {
  readonly ran: LiteSvmOutcome;
  readonly writes: readonly CoreWrite[];
  readonly balances: readonly { readonly index: number; readonly lamports: bigint }[];
}

export interface KeyedAccount {
  readonly key: Uint8Array;
  readonly account: Account | null;
}

function innerInstructions(meta: TransactionMetadata): SvmOutcome["innerInstructions"] {
  const groups = meta.innerInstructions().map((group, index) => ({
    index,
    instructions: group.map((inner) => {
      const instruction = inner.instruction();
      return {
        programIdIndex: instruction.programIdIndex(),
        accounts: [...instruction.accounts()],
        data: new Uint8Array(instruction.data()),
        stackHeight: inner.stackHeight(),
      };
    }),
  }));
  return groups.filter((group) => group.instructions.length > 0);
}

function returnData(meta: TransactionMetadata): SvmOutcome["returnData"] {
  const returned = meta.returnData();
  const data = returned.data();
  return data.length === 0 ? null : { programId: encodeBase58(returned.programId()), data: new Uint8Array(data) };
}

/** LiteSVM leaves the signature zero when it refused a transaction before running it. */
function wasRun(meta: TransactionMetadata): boolean {
  return meta.signature().some((byte) => byte !== 0);
}

/** The outcome of a transaction, without the accounts that it changed. */
export type LiteSvmOutcome = Omit<SvmOutcome, "writes" | "balances"> & {
  /** Whether nothing ran and the fee is due all the same: LiteSVM does not take it then. */
  readonly feesOnly: boolean;
};

/**
 * Reads LiteSVM's result. Each of its getters is a call of 0.3 to 1.5 µs: `callsNothing` leaves out what cannot exist.
 */
function liteSvmOutcome(
  result: TransactionMetadata | FailedTransactionMetadata,
  callsNothing: boolean,
): LiteSvmOutcome {
  const failed = result instanceof FailedTransactionMetadata;
  const meta = failed ? result.meta() : result;
  const error = failed ? transactionError(result) : null;
  const feesOnly = error === "InvalidProgramForExecution" || error === "ProgramAccountNotFound";
  return {
    included: !failed || feesOnly || wasRun(meta),
    feesOnly,
    error,
    logs: meta.logs(),
    innerInstructions: callsNothing ? [] : innerInstructions(meta),
    computeUnitsConsumed: meta.computeUnitsConsumed(),
    returnData: callsNothing ? null : returnData(meta),
  };
}

/** A key by its position among those that begin at `start`. */
export function keyAt(bytes: Uint8Array, start: number, position: number): Uint8Array {
  return bytes.subarray(start + position * keyLength, start + (position + 1) * keyLength);
}

function lifetimeOf({ bytes, lifetimeStart }: CoreTransaction): Uint8Array {
  return keyAt(bytes, lifetimeStart, 0);
}

/**
 * LiteSVM by bytes alone: addresses are encoded in the parent's process. The bank checks blockhash age and duplicates,
 * so LiteSVM's own checks of them are off. Three rules of the runtime that LiteSVM lacks are added: a transaction whose
 * program cannot be loaded pays its fee, a failed transaction still advances its nonce, and a nonce takes its value
 * from the bank's last blockhash.
 */
export class LiteSvmCore {
  #native: LiteSvm;
  #verifies = false;
  /** During a rebuild: what the new machine brought and nothing has overwritten yet. */
  #unwritten: Map<string, KeyedAccount> | null = null;

  constructor() {
    this.#native = this.#fresh();
  }

  #fresh(): LiteSvm {
    this.#verifies = false;
    const native = freshMachine();
    native.withNativeMints();
    return native;
  }

  /** The accounts that LiteSVM brings. */
  genesisAccounts(): KeyedAccount[] {
    return genesisOwners.flatMap((owner) =>
      this.#native.getProgramAccounts(owner).map((listed) => ({ key: listed.address, account: listed.account() })),
    );
  }

  /** The account as it is now; null when it does not exist. */
  account(key: Uint8Array): Account | null {
    return this.#read(key, 0).account;
  }

  write(key: Uint8Array, account: Account | null): void {
    if (this.#unwritten !== null) {
      const name = Buffer.from(key).toString("latin1");
      const brought = this.#unwritten.get(name)?.account ?? null;
      this.#unwritten.delete(name);
      // An equal account is not written: a program would be compiled once more.
      if (brought !== null && account !== null && sameAccount(brought, account)) return;
    }
    this.#native.setAccount(key, account ?? closedAccount);
  }

  /** Starts over with an empty machine. What is written until `endRebuild` is all that it holds then. */
  beginRebuild(): void {
    this.#native = this.#fresh();
    this.#unwritten = new Map(this.genesisAccounts().map((each) => [Buffer.from(each.key).toString("latin1"), each]));
  }

  endRebuild(): void {
    const unwritten = this.#unwritten ?? new Map<string, KeyedAccount>();
    this.#unwritten = null;
    for (const { key } of unwritten.values()) this.write(key, null);
  }

  /** Simulates with `overlay` in place of those accounts of the newest state, and restores them. */
  simulate(
    transaction: CoreTransaction,
    overlay: readonly KeyedAccount[],
  ): { readonly ran: LiteSvmOutcome; readonly writes: readonly KeyedAccount[] } {
    const newest = overlay.map(({ key }) => ({ key, account: this.#native.getAccount(key) }));
    for (const { key, account } of overlay) this.write(key, account);
    try {
      return this.#simulate(transaction);
    } finally {
      for (const { key, account } of newest) this.write(key, account);
    }
  }

  #simulate(transaction: CoreTransaction): { readonly ran: LiteSvmOutcome; readonly writes: readonly KeyedAccount[] } {
    const { bytes, isLegacy } = transaction;
    this.#verify(transaction.verify);
    const native = this.#native;
    const result = isLegacy ? native.simulateLegacyTransaction(bytes) : native.simulateVersionedTransaction(bytes);
    if (!(result instanceof SimulatedTransactionInfo)) return { ran: liteSvmOutcome(result, false), writes: [] };
    const writes = result.postAccounts().map((listed) => {
      const account = listed.account();
      return { key: listed.address, account: account.lamports() === 0n ? null : account };
    });
    return { ran: liteSvmOutcome(result.meta(), false), writes };
  }

  execute(transaction: CoreTransaction, nextNonce: Uint8Array): CoreOutcome {
    const { bytes, isLegacy, writable, nonceIndex, movesLamportsOnly } = transaction;
    this.#verify(transaction.verify);
    const native = this.#native;
    const result = isLegacy ? native.sendLegacyTransaction(bytes) : native.sendVersionedTransaction(bytes);
    const ran = liteSvmOutcome(result, movesLamportsOnly);
    if (!ran.included) return { ran, writes: [], balances: [] };
    if (ran.feesOnly && !this.#chargeFee(transaction)) {
      return { ran: { ...ran, included: false, error: "InsufficientFundsForFee" }, writes: [], balances: [] };
    }
    if (ran.error === null && movesLamportsOnly) {
      return { ran, writes: [], balances: writable.map((key, index) => this.#balance(key, index)) };
    }
    if (ran.error === null) {
      const writes = writable.map((key, index) => this.#read(key, index));
      return { ran, writes: this.#withRightNonces(writes, transaction, nextNonce), balances: [] };
    }
    // A failed transaction pays its fee and advances its nonce, and that is all.
    const nonceKey = writable[nonceIndex];
    if (nonceKey === undefined) return { ran, writes: [], balances: [this.#balance(writable[0], 0)] };
    this.#setNonce(nonceKey, nextNonce);
    const written = nonceIndex === 0 ? [0] : [0, nonceIndex];
    return { ran, writes: written.map((index) => this.#read(writable[index], index)), balances: [] };
  }

  /** Setting it costs 0.1 µs, so it is set only when it changes. */
  #verify(verifies: boolean): void {
    if (this.#verifies === verifies) return;
    this.#native.setSigverify(verifies);
    this.#verifies = verifies;
  }

  #balance(key: Uint8Array | undefined, index: number): { index: number; lamports: bigint } {
    return { index, lamports: key === undefined ? 0n : (this.#native.getBalance(key) ?? 0n) };
  }

  #read(key: Uint8Array | undefined, index: number): CoreWrite {
    const account = key === undefined ? null : this.#native.getAccount(key);
    return { index, account: account === null || account.lamports() === 0n ? null : account };
  }

  #chargeFee({ writable, fee }: CoreTransaction): boolean {
    const [payer] = writable;
    const account = payer === undefined ? null : this.#read(payer, 0).account;
    if (payer === undefined || account === null) return false;
    const left = account.lamports() - fee;
    if (left < 0n) return false;
    const rest = new Account(left, account.data(), account.owner(), account.executable(), account.rentEpoch());
    this.write(payer, left === 0n ? null : rest);
    return true;
  }

  #setNonce(key: Uint8Array, value: Uint8Array): void {
    const account = this.#native.getAccount(key);
    const data = account?.data();
    if (account === null || data === undefined || data.length !== nonceBytes) return;
    const changed = new Uint8Array(data);
    changed.set(value, nonceOffset);
    this.write(key, new Account(account.lamports(), changed, account.owner(), false, account.rentEpoch()));
  }

  /**
   * LiteSVM derives a nonce from the transaction's own lifetime; the runtime derives it from the bank's last blockhash.
   */
  #withRightNonces(writes: CoreWrite[], transaction: CoreTransaction, right: Uint8Array): CoreWrite[] {
    let found: Uint8Array | null = null;
    return writes.map((write) => {
      const data = write.account?.data();
      if (write.account === null || data === undefined || data.length !== nonceBytes) return write;
      found ??= durableNonce(lifetimeOf(transaction));
      if (!sameKey(data.subarray(nonceOffset, nonceOffset + 32), found)) return write;
      const key = transaction.writable[write.index];
      if (key === undefined || !sameKey(write.account.owner(), systemProgram)) return write;
      this.#setNonce(key, right);
      return this.#read(key, write.index);
    });
  }
}
