import {
  type Account,
  FailedTransactionMetadata,
  type LiteSvm,
  type TransactionMetadata,
} from "litesvm/dist/internal.js";
import type { AccountBytes } from "../account.ts";
import {
  closedAccount,
  freshMachine,
  isLoader,
  isNativeLoader,
  isSysvar,
  nativeAccount,
  sameCode,
  sameKey,
  systemProgram,
} from "../native/accounts.ts";
import { transactionError } from "../native/transaction-error.ts";
import type { AccountUpdate, MachineBundle, MachineOutcome, MachineTransaction } from "./protocol.ts";

const nonceBytes = 80;
const nonceOffset = 40;
const initialized = 1;
/** Accounts with more data than this are read from LiteSVM when they must be restored, not held twice. */
const heldBytesMax = 64 * 1_024;

/** The balances of the tip accounts, in lamports. A mask has a bit for each account that counts. */
class TipAccounts {
  readonly #keys: readonly Uint8Array[];
  /** In the newest state, so that a bundle that runs on it need not read the balances before. */
  readonly #newest: bigint[];

  constructor(keys: readonly Uint8Array[], native: LiteSvm) {
    this.#keys = keys;
    this.#newest = keys.map((key) => native.getBalance(key) ?? 0n);
  }

  /** Called when an account of the newest state was written, which may be one of these. */
  written(key: Uint8Array, native: LiteSvm): void {
    const index = this.#keys.findIndex((tip) => sameKey(tip, key));
    if (index >= 0) this.#newest[index] = native.getBalance(key) ?? 0n;
  }

  inNewest(mask: number): bigint {
    return this.#sum(mask, (index) => this.#newest[index] ?? 0n);
  }

  now(mask: number, native: LiteSvm): bigint {
    return this.#sum(mask, (index) => {
      const key = this.#keys[index];
      return key === undefined ? 0n : (native.getBalance(key) ?? 0n);
    });
  }

  #sum(mask: number, balance: (index: number) => bigint): bigint {
    let lamports = 0n;
    for (let index = 0, rest = mask; rest > 0; index += 1, rest >>= 1) if ((rest & 1) === 1) lamports += balance(index);
    return lamports;
  }
}

/**
 * LiteSVM as a function of bundles. Between two bundles it holds the newest state alone: the accounts that a bundle may
 * write are restored from that state, 0.5 µs each. What a bundle leaves in its block is held apart and laid over the
 * newest state for the next bundle of that block. The simulator checks blockhashes and duplicates.
 */
export class BundleMachine {
  #native = freshMachine();
  #verifies = false;
  #tips = new TipAccounts([], this.#native);
  readonly #keys: (Uint8Array | undefined)[] = [];
  /** The newest state by handle; undefined where it must be read from LiteSVM, and null where there is no account. */
  readonly #newest: (Account | null | undefined)[] = [];
  readonly #isProgram: boolean[] = [];
  /** Whether the account that was written last is neither a program nor code; false for what LiteSVM brings. */
  readonly #isData: boolean[] = [];
  readonly #blocks = new Map<number, Map<number, Account | null>>();
  /** Whether LiteSVM holds compiled programs that no longer exist. */
  #isStale = false;

  configure(tips: readonly Uint8Array[]): void {
    this.#tips = new TipAccounts(tips, this.#native);
  }

  /** Replaces an account of the newest state. */
  write({ handle, key, account, isBuiltIn }: AccountUpdate): void {
    if (isBuiltIn) this.#keepBuiltIn(handle, key);
    else {
      this.#replace(handle, key, account);
      this.#tips.written(key, this.#native);
    }
  }

  #replace(handle: number, key: Uint8Array, account: AccountBytes | null): void {
    this.#keys[handle] = key;
    const before = this.#isData[handle] === true ? null : this.#native.getAccount(key);
    // Without its sysvars and its built-in programs LiteSVM ends the process: those are never closed.
    if (account === null && (isSysvar(key) || (before !== null && isNativeLoader(before.owner())))) {
      this.#keepBuiltIn(handle, key);
      return;
    }
    const native = account === null ? null : nativeAccount(account);
    const wasLoaders = before !== null && isLoader(before.owner());
    this.#isData[handle] = account === null || (!isLoader(account.owner) && !isNativeLoader(account.owner));
    this.#isProgram[handle] = account?.executable === true;
    this.#newest[handle] = account === null || account.data.length <= heldBytesMax ? native : undefined;
    if (wasLoaders && native !== null && sameCode(before, native)) {
      // Setting a program compiles it once more, and its lamports are never read.
      if (account?.executable !== true) this.#set(key, native);
      return;
    }
    this.#isStale ||= wasLoaders;
    this.#set(key, native);
  }

  /** An account that LiteSVM brings. */
  #keepBuiltIn(handle: number, key: Uint8Array): void {
    this.#keys[handle] = key;
    this.#newest[handle] = undefined;
    this.#isData[handle] = false;
    this.#isProgram[handle] = true;
  }

  /** A program that LiteSVM cannot load is closed, so that calls of it fail as on the chain. */
  #set(key: Uint8Array, account: Account | null): void {
    try {
      this.#native.setAccount(key, account ?? closedAccount);
    } catch {
      if (!isSysvar(key)) this.#native.setAccount(key, closedAccount);
    }
  }

  forget(handle: number): void {
    const key = this.#keys[handle];
    if (key !== undefined && !isSysvar(key)) this.#native.setAccount(key, closedAccount);
    this.#isStale ||= this.#isProgram[handle] ?? false;
    this.#keys[handle] = undefined;
    this.#newest[handle] = undefined;
    this.#isData[handle] = false;
    this.#isProgram[handle] = false;
    if (key !== undefined) this.#tips.written(key, this.#native);
  }

  closeBlock(block: number): void {
    this.#blocks.delete(block);
  }

  run(bundle: MachineBundle): MachineOutcome {
    if (this.#isStale) this.#renew();
    if (bundle.verify !== this.#verifies) {
      this.#native.setSigverify(bundle.verify);
      this.#verifies = bundle.verify;
    }
    const under = bundle.block === null ? null : this.#block(bundle.block);
    const unheld = this.#readUnheld(bundle.writes);
    const laid = under === null ? [] : this.#lay(under, bundle);
    try {
      const outcome = this.#runAll(bundle, under === null);
      if (outcome.kind === "succeeded" && bundle.keep && under !== null) {
        for (const handle of bundle.writes) under.set(handle, this.#read(handle));
      }
      return outcome;
    } finally {
      this.#restoreAll(bundle.writes, unheld);
      for (const { handle, account } of laid) this.#restore(handle, account);
      this.#isStale ||= bundle.deploys;
    }
  }

  /**
   * The accounts that a bundle may write and only LiteSVM holds, as they are before it runs; null when there are none.
   */
  #readUnheld(writes: readonly number[]): Map<number, Account | null> | null {
    let unheld: Map<number, Account | null> | null = null;
    for (const handle of writes) {
      if (this.#newest[handle] !== undefined) continue;
      unheld = (unheld ?? new Map<number, Account | null>()).set(handle, this.#read(handle));
    }
    return unheld;
  }

  #restoreAll(writes: readonly number[], unheld: ReadonlyMap<number, Account | null> | null): void {
    for (const handle of writes) {
      const held = this.#newest[handle];
      this.#restore(handle, held === undefined ? (unheld?.get(handle) ?? null) : held);
    }
  }

  #runAll({ transactions, tipMask }: MachineBundle, isOnNewest: boolean): MachineOutcome {
    const before = isOnNewest ? this.#tips.inNewest(tipMask) : this.#tips.now(tipMask, this.#native);
    let units = 0n;
    let index = 0;
    for (const transaction of transactions) {
      if (transaction.nonce !== null && !this.#isNonceRight(transaction, transaction.nonce))
        return { kind: "wrong_nonce", index };
      const result = this.#send(transaction);
      if (result === null) return { kind: "failed", index, error: "SanitizeFailure", logs: [] };
      if (result instanceof FailedTransactionMetadata) {
        return { kind: "failed", index, error: errorText(result), logs: result.meta().logs() };
      }
      units += result.computeUnitsConsumed();
      index += 1;
    }
    return { kind: "succeeded", tip: this.#tips.now(tipMask, this.#native) - before, units };
  }

  /** Null for a transaction that LiteSVM cannot read, such as one of an unknown version. */
  #send({ bytes, isLegacy }: MachineTransaction): TransactionMetadata | FailedTransactionMetadata | null {
    try {
      return isLegacy ? this.#native.sendLegacyTransaction(bytes) : this.#native.sendVersionedTransaction(bytes);
    } catch {
      return null;
    }
  }

  /**
   * Whether the account holds the nonce that the transaction carries, now and in the newest state: a nonce that was
   * advanced in this block cannot be used in it.
   */
  #isNonceRight({ bytes, lifetimeStart }: MachineTransaction, nonce: number): boolean {
    const carried = bytes.subarray(lifetimeStart, lifetimeStart + 32);
    return [this.#read(nonce), this.#newestOf(nonce)].every((account) => {
      if (account === null || !sameKey(account.owner(), systemProgram)) return false;
      const data = account.data();
      if (data.length !== nonceBytes || data[0] !== 1 || data[4] !== initialized) return false;
      return sameKey(data.subarray(nonceOffset, nonceOffset + 32), carried);
    });
  }

  #block(block: number): Map<number, Account | null> {
    const changed = this.#blocks.get(block) ?? new Map<number, Account | null>();
    this.#blocks.set(block, changed);
    return changed;
  }

  /** Lays the changes of a block over the newest state; returns what must be restored beside what the bundle writes. */
  #lay(
    under: ReadonlyMap<number, Account | null>,
    { writes, reads }: MachineBundle,
  ): { readonly handle: number; readonly account: Account | null }[] {
    const laid = [];
    for (const handle of writes) {
      const account = under.get(handle);
      if (account !== undefined) this.#restore(handle, account);
    }
    for (const handle of reads) {
      const account = under.get(handle);
      if (account === undefined) continue;
      laid.push({ handle, account: this.#newestOf(handle) });
      this.#restore(handle, account);
    }
    return laid;
  }

  #newestOf(handle: number): Account | null {
    const held = this.#newest[handle];
    return held === undefined ? this.#read(handle) : held;
  }

  #read(handle: number): Account | null {
    const key = this.#keys[handle];
    return key === undefined ? null : this.#native.getAccount(key);
  }

  #restore(handle: number, account: Account | null): void {
    const key = this.#keys[handle];
    if (key === undefined) return;
    if (this.#isProgram[handle] && account !== null) {
      // Setting it compiles it once more, and without a loader a transaction changes only its lamports.
      if (this.#native.getBalance(key) !== account.lamports()) this.#set(key, account);
      return;
    }
    this.#native.setAccount(key, account ?? closedAccount);
  }

  /** Replaces the machine by one with empty caches and the same state; programs are written after their code. */
  #renew(): void {
    const old = this.#native;
    this.#native = freshMachine();
    this.#verifies = false;
    this.#isStale = false;
    const programsLast: [Uint8Array, Account][] = [];
    this.#keys.forEach((key, handle) => {
      if (key === undefined) return;
      const account = this.#newest[handle] === undefined ? old.getAccount(key) : (this.#newest[handle] ?? null);
      if (account?.executable()) programsLast.push([key, account]);
      else if (account !== null || !isSysvar(key)) this.#set(key, account);
    });
    for (const [key, account] of programsLast) {
      const brought = this.#native.getAccount(key);
      if (brought === null || !sameCode(brought, account)) this.#set(key, account);
    }
  }
}

/** The runtime's error as one text: its name, or its JSON where it has parts. */
function errorText(failed: FailedTransactionMetadata): string {
  const error = transactionError(failed);
  return typeof error === "string" ? error : JSON.stringify(error);
}
