import { type Account, FailedTransactionMetadata, type TransactionMetadata } from "litesvm/dist/internal.js";
import { FAILED, NO_BLOCK, SUCCEEDED, WRONG_NONCE } from "../protocol/messages.ts";
import { freshMachine, gone, isBuiltIn, isLoader, isSysvar, sameBytes, sameCode, system } from "./native-machine.ts";
import { transactionError } from "./transaction-error.ts";

const NONCE_BYTES = 80;
const NONCE_OFFSET = 40;
const INITIALIZED = 1;
/** Accounts with more data than this are read back from LiteSVM when they must be restored, not held twice. */
const HELD_BYTES_MAX = 64 * 1_024;

export interface MachineTransaction {
  readonly bytes: Uint8Array;
  readonly isLegacy: boolean;
  /** Handle of the nonce account whose value it carries at `lifetimeStart`; -1 with a blockhash. */
  readonly nonce: number;
  readonly lifetimeStart: number;
}

export interface MachineBundle {
  readonly block: number;
  readonly verify: boolean;
  readonly deploys: boolean;
  readonly keep: boolean;
  /** Positions of the tip accounts whose gain counts. */
  readonly tipMask: number;
  /** Handles of what it locks. */
  readonly writes: readonly number[];
  readonly reads: readonly number[];
  readonly transactions: readonly MachineTransaction[];
}

export type MachineOutcome =
  | { readonly kind: typeof SUCCEEDED; readonly tip: bigint; readonly units: bigint }
  | { readonly kind: typeof FAILED; readonly index: number; readonly error: string; readonly logs: readonly string[] }
  | { readonly kind: typeof WRONG_NONCE; readonly index: number };

/**
 * LiteSVM as a function of bundles. Between two bundles it holds the newest state alone: what a bundle changed is put back
 * from that state, which costs half a microsecond for each account that it may write, and what it leaves in its block is
 * kept beside and laid over for the next one of that block. Blockhashes and duplicates are checked elsewhere.
 */
export class BundleMachine {
  #native = freshMachine();
  #verifies = false;
  readonly #tips: Uint8Array[] = [];
  readonly #keys: (Uint8Array | undefined)[] = [];
  /** The newest state by handle; undefined where it has to be read from LiteSVM, and null where there is no account. */
  readonly #newest: (Account | null | undefined)[] = [];
  readonly #isProgram: boolean[] = [];
  readonly #blocks = new Map<number, Map<number, Account | null>>();
  /** Whether LiteSVM runs programs that are no more. */
  #isStale = false;

  configure(tips: readonly Uint8Array[]): void {
    this.#tips.splice(0, this.#tips.length, ...tips);
  }

  /** The account of a key as it is now; `dataBytes` is the length of its data. */
  write(handle: number, key: Uint8Array, account: Account | null, dataBytes: number): void {
    this.#keys[handle] = key;
    const before = this.#native.getAccount(key);
    // Without its sysvars and its built-in programs LiteSVM ends the process: what it brings stays.
    if (account === null && (isSysvar(key) || isBuiltIn(before))) {
      this.bring(handle, key);
      return;
    }
    const wasLoaders = before !== null && isLoader(before.owner());
    this.#isProgram[handle] = account?.executable() ?? false;
    this.#newest[handle] = dataBytes <= HELD_BYTES_MAX ? account : undefined;
    if (wasLoaders && account !== null && sameCode(before, account)) {
      // Setting a program compiles it once more, for lamports that nobody looks at.
      if (!account.executable()) this.#set(key, account);
      return;
    }
    this.#isStale ||= wasLoaders;
    this.#set(key, account);
  }

  /** A program that is the machine's own. */
  bring(handle: number, key: Uint8Array): void {
    this.#keys[handle] = key;
    this.#newest[handle] = undefined;
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
    this.#isProgram[handle] = false;
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
    const snapshot = bundle.writes.map((handle) => this.#newestOf(handle));
    const laid = under === null ? [] : this.#lay(under, bundle);
    try {
      const outcome = this.#runAll(bundle);
      if (outcome.kind === SUCCEEDED && bundle.keep && under !== null) {
        for (const handle of bundle.writes) under.set(handle, this.#read(handle));
      }
      return outcome;
    } finally {
      bundle.writes.forEach((handle, index) => {
        this.#restore(handle, snapshot[index] ?? null);
      });
      for (const { handle, account } of laid) this.#restore(handle, account);
      this.#isStale ||= bundle.deploys;
    }
  }

  #runAll(bundle: MachineBundle): MachineOutcome {
    const before = this.#tipsHeld(bundle.tipMask);
    let units = 0n;
    for (const [index, transaction] of bundle.transactions.entries()) {
      if (transaction.nonce >= 0 && !this.#isNonceRight(transaction)) return { kind: WRONG_NONCE, index };
      const result = this.#send(transaction);
      if (result === null) return { kind: FAILED, index, error: "SanitizeFailure", logs: [] };
      if (result instanceof FailedTransactionMetadata) {
        return { kind: FAILED, index, error: transactionError(result), logs: result.meta().logs() };
      }
      units += result.computeUnitsConsumed();
    }
    return { kind: SUCCEEDED, tip: this.#tipsHeld(bundle.tipMask) - before, units };
  }

  /** Null for what LiteSVM cannot read at all, such as a version that it does not know. */
  #send({ bytes, isLegacy }: MachineTransaction): TransactionMetadata | FailedTransactionMetadata | null {
    try {
      return isLegacy ? this.#native.sendLegacyTransaction(bytes) : this.#native.sendVersionedTransaction(bytes);
    } catch {
      return null;
    }
  }

  #tipsHeld(mask: number): bigint {
    let lamports = 0n;
    for (let index = 0, rest = mask; rest > 0; index += 1, rest >>= 1) {
      const key = this.#tips[index];
      if ((rest & 1) === 1 && key !== undefined) lamports += this.#native.getBalance(key) ?? 0n;
    }
    return lamports;
  }

  /**
   * Whether the account holds the nonce that the transaction carries, now and in the newest state: one that was advanced in
   * this very block cannot be used in it.
   */
  #isNonceRight({ bytes, nonce, lifetimeStart }: MachineTransaction): boolean {
    const carried = bytes.subarray(lifetimeStart, lifetimeStart + 32);
    return [this.#read(nonce), this.#newestOf(nonce)].every((account) => {
      if (account === null || !sameBytes(account.owner(), system)) return false;
      const data = account.data();
      if (data.length !== NONCE_BYTES || data[0] !== 1 || data[4] !== INITIALIZED) return false;
      return sameBytes(data.subarray(NONCE_OFFSET, NONCE_OFFSET + 32), carried);
    });
  }

  #block(block: number): Map<number, Account | null> {
    const known = this.#blocks.get(block);
    if (known !== undefined) return known;
    const made = new Map<number, Account | null>();
    this.#blocks.set(block, made);
    return made;
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
