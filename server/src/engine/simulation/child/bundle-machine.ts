import { type Account, FailedTransactionMetadata, type TransactionMetadata } from "litesvm/dist/internal.js";
import { FAILED, NO_BLOCK, SUCCEEDED, WRONG_NONCE } from "../protocol/messages.ts";
import type { MachineBundle, MachineOutcome, MachineTransaction } from "./machine-bundle.ts";
import {
  freshMachine,
  gone,
  isBuiltIn,
  isLoader,
  isSysvar,
  sameCode,
  sameKey,
  system,
  type WrittenAccount,
} from "./native-machine.ts";
import { TipAccounts } from "./tip-accounts.ts";
import { transactionError } from "./transaction-error.ts";

const NONCE_BYTES = 80;
const NONCE_OFFSET = 40;
const INITIALIZED = 1;
/** Accounts with more data than this are read back from LiteSVM when they must be restored, not held twice. */
const HELD_BYTES_MAX = 64 * 1_024;

/**
 * LiteSVM as a function of bundles. Between two bundles it holds the newest state alone: what a bundle changed is put back
 * from that state, which costs half a microsecond for each account that it may write, and what it leaves in its block is
 * kept beside and laid over for the next one of that block. Blockhashes and duplicates are checked elsewhere.
 */
export class BundleMachine {
  #native = freshMachine();
  #verifies = false;
  #tips = new TipAccounts([], this.#native);
  readonly #keys: (Uint8Array | undefined)[] = [];
  /** The newest state by handle; undefined where it has to be read from LiteSVM, and null where there is no account. */
  readonly #newest: (Account | null | undefined)[] = [];
  readonly #isProgram: boolean[] = [];
  /** Whether what was written last is plain; what LiteSVM itself brings was never written. */
  readonly #isPlain: boolean[] = [];
  readonly #blocks = new Map<number, Map<number, Account | null>>();
  /** Whether LiteSVM runs programs that are no more. */
  #isStale = false;

  configure(tips: readonly Uint8Array[]): void {
    this.#tips = new TipAccounts(tips, this.#native);
  }

  /** The account of a key as it is now. */
  write(handle: number, key: Uint8Array, account: WrittenAccount | null): void {
    this.#replace(handle, key, account);
    this.#tips.written(key, this.#native);
  }

  #replace(handle: number, key: Uint8Array, account: WrittenAccount | null): void {
    this.#keys[handle] = key;
    const before = this.#isPlain[handle] === true ? null : this.#native.getAccount(key);
    // Without its sysvars and its built-in programs LiteSVM ends the process: what it brings stays.
    if (account === null && (isSysvar(key) || isBuiltIn(before))) {
      this.bring(handle, key);
      return;
    }
    const native = account?.native ?? null;
    const wasLoaders = before !== null && isLoader(before.owner());
    this.#isPlain[handle] = account?.isPlain ?? true;
    this.#isProgram[handle] = account?.executable === true;
    this.#newest[handle] = account === null || account.dataBytes <= HELD_BYTES_MAX ? native : undefined;
    if (wasLoaders && native !== null && sameCode(before, native)) {
      // Setting a program compiles it once more, for lamports that nobody looks at.
      if (account?.executable !== true) this.#set(key, native);
      return;
    }
    this.#isStale ||= wasLoaders;
    this.#set(key, native);
  }

  /** A program that is the machine's own. */
  bring(handle: number, key: Uint8Array): void {
    this.#keys[handle] = key;
    this.#newest[handle] = undefined;
    this.#isPlain[handle] = false;
    this.#isProgram[handle] = true;
  }

  /** What LiteSVM does not take (a program that cannot be loaded) is not there, and calls of it fail as on the chain. */
  #set(key: Uint8Array, account: Account | null): void {
    try {
      this.#native.setAccount(key, account ?? gone);
    } catch {
      if (!isSysvar(key)) this.#native.setAccount(key, gone);
    }
  }

  forget(handle: number): void {
    const key = this.#keys[handle];
    if (key !== undefined && !isSysvar(key)) this.#native.setAccount(key, gone);
    this.#isStale ||= this.#isProgram[handle] ?? false;
    this.#keys[handle] = undefined;
    this.#newest[handle] = undefined;
    this.#isPlain[handle] = false;
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
    const under = bundle.block === NO_BLOCK ? null : this.#block(bundle.block);
    const unheld = this.#readUnheld(bundle.writes);
    const laid = under === null ? [] : this.#lay(under, bundle);
    try {
      const outcome = this.#runAll(bundle, under === null);
      if (outcome.kind === SUCCEEDED && bundle.keep && under !== null) {
        for (const handle of bundle.writes) under.set(handle, this.#read(handle));
      }
      return outcome;
    } finally {
      this.#putBack(bundle.writes, unheld);
      for (const { handle, account } of laid) this.#restore(handle, account);
      this.#isStale ||= bundle.deploys;
    }
  }

  /** What a bundle may write and only LiteSVM has, as it is before; mostly nothing. */
  #readUnheld(writes: readonly number[]): Map<number, Account | null> | null {
    let unheld: Map<number, Account | null> | null = null;
    for (const handle of writes) {
      if (this.#newest[handle] !== undefined) continue;
      unheld = (unheld ?? new Map<number, Account | null>()).set(handle, this.#read(handle));
    }
    return unheld;
  }

  #putBack(writes: readonly number[], unheld: ReadonlyMap<number, Account | null> | null): void {
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
      if (transaction.nonce >= 0 && !this.#isNonceRight(transaction)) return { kind: WRONG_NONCE, index };
      const result = this.#send(transaction);
      if (result === null) return { kind: FAILED, index, error: "SanitizeFailure", logs: [] };
      if (result instanceof FailedTransactionMetadata) {
        return { kind: FAILED, index, error: transactionError(result), logs: result.meta().logs() };
      }
      units += result.computeUnitsConsumed();
      index += 1;
    }
    return { kind: SUCCEEDED, tip: this.#tips.now(tipMask, this.#native) - before, units };
  }

  /** Null for what LiteSVM cannot read at all, such as a version that it does not know. */
  #send({ bytes, isLegacy }: MachineTransaction): TransactionMetadata | FailedTransactionMetadata | null {
    try {
      return isLegacy ? this.#native.sendLegacyTransaction(bytes) : this.#native.sendVersionedTransaction(bytes);
    } catch {
      return null;
    }
  }

  /**
   * Whether the account holds the nonce that the transaction carries, now and in the newest state: one that was advanced in
   * this very block cannot be used in it.
   */
  #isNonceRight({ bytes, nonce, lifetimeStart }: MachineTransaction): boolean {
    const carried = bytes.subarray(lifetimeStart, lifetimeStart + 32);
    return [this.#read(nonce), this.#newestOf(nonce)].every((account) => {
      if (account === null || !sameKey(account.owner(), system)) return false;
      const data = account.data();
      if (data.length !== NONCE_BYTES || data[0] !== 1 || data[4] !== INITIALIZED) return false;
      return sameKey(data.subarray(NONCE_OFFSET, NONCE_OFFSET + 32), carried);
    });
  }

  #block(block: number): Map<number, Account | null> {
    const changed = this.#blocks.get(block) ?? new Map<number, Account | null>();
    this.#blocks.set(block, changed);
    return changed;
  }

  /** Lays what a block has changed over the newest state; gives what must be put back beside what the bundle writes. */
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
      // Setting it compiles it once more, and without a loader a transaction changes no more than its lamports.
      if (this.#native.getBalance(key) !== account.lamports()) this.#set(key, account);
      return;
    }
    this.#native.setAccount(key, account ?? gone);
  }

  /** A machine with empty caches and the same state takes the place of this one; programs come behind their code. */
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
