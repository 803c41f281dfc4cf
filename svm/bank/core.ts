import { programs, sysvars } from "@sluice/wire/programs";
import { Account, LiteSvm, SimulatedTransactionInfo } from "litesvm/dist/internal.js";
import { keyBytes } from "../key-bytes.ts";
import { durableNonce } from "./durable-nonce.ts";
import { type LiteSvmOutcome, liteSvmOutcome } from "./outcome.ts";
import type { SvmTransaction } from "./svm.ts";

const NONCE_BYTES = 80;
const NONCE_OFFSET = 40;
const KEY_BYTES = 32;
const SYSTEM_PROGRAM = keyBytes(programs.system);
const NO_DATA = new Uint8Array();

/** Owners whose accounts LiteSVM brings along. It can list accounts by owner only. */
const GENESIS_OWNERS = [
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
].map((address) => keyBytes(address));

/** A transaction by the bytes of its keys. `writable` begins with the fee payer. */
export interface CoreTransaction
  extends Pick<SvmTransaction, "bytes" | "fee" | "lifetimeStart" | "verify" | "movesLamportsOnly"> {
  readonly isLegacy: boolean;
  readonly writable: readonly Uint8Array[];
  /** Position in `writable` of the nonce account that it advances, or -1. */
  readonly nonceIndex: number;
}

/** An account of LiteSVM's own kind, by its position in `writable`; null when it is gone. */
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

const GONE = () => new Account(0n, NO_DATA, SYSTEM_PROGRAM, false, 0n);

function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}

export function sameAccount(one: Account, other: Account): boolean {
  return (
    one.lamports() === other.lamports() &&
    one.executable() === other.executable() &&
    sameBytes(one.owner(), other.owner()) &&
    sameBytes(one.data(), other.data())
  );
}

/** A key by its position among those that begin at `start`. */
export function keyAt(bytes: Uint8Array, start: number, position: number): Uint8Array {
  return bytes.subarray(start + position * KEY_BYTES, start + (position + 1) * KEY_BYTES);
}

function lifetimeOf({ bytes, lifetimeStart }: CoreTransaction): Uint8Array {
  return keyAt(bytes, lifetimeStart, 0);
}

/**
 * LiteSVM by bytes alone: texts are made where they are needed, which in a process of its own is elsewhere. Blockhash age
 * and duplicates are the bank's business, so LiteSVM's own checks of them are off. Three rules of the real runtime that
 * it lacks are added: transactions whose program cannot be loaded pay their fee, a failed transaction still advances its
 * nonce, and a nonce takes its value from the bank's last blockhash.
 */
export class LiteSvmCore {
  #native: LiteSvm;
  #verifies = false;
  /** While accounts are restored: what the new machine brought and has not been named yet. */
  #unnamed: Map<string, KeyedAccount> | null = null;

  constructor() {
    this.#native = this.#fresh();
  }

  #fresh(): LiteSvm {
    const native = new LiteSvm();
    native.setSigverify(false);
    native.setBlockhashCheck(false);
    native.setTransactionHistory(0n);
    native.withNativeMints();
    this.#verifies = false;
    return native;
  }

  brought(): KeyedAccount[] {
    return GENESIS_OWNERS.flatMap((owner) =>
      this.#native.getProgramAccounts(owner).map((listed) => ({ key: listed.address, account: listed.account() })),
    );
  }

  /** The account as it is now; null when it is gone. */
  account(key: Uint8Array): Account | null {
    return this.#read(key, 0).account;
  }

  write(key: Uint8Array, account: Account | null): void {
    if (this.#unnamed !== null) {
      const name = Buffer.from(key).toString("latin1");
      const brought = this.#unnamed.get(name)?.account ?? null;
      this.#unnamed.delete(name);
      // What is there already is left alone: a program would be compiled once more.
      if (brought !== null && account !== null && sameAccount(brought, account)) return;
    }
    this.#native.setAccount(key, account ?? GONE());
  }

  /** Begins anew. What is written until `endRebuild` is all that there will be. */
  beginRebuild(): void {
    this.#native = this.#fresh();
    this.#unnamed = new Map(this.brought().map((each) => [Buffer.from(each.key).toString("latin1"), each]));
  }

  endRebuild(): void {
    const unnamed = this.#unnamed ?? new Map<string, KeyedAccount>();
    this.#unnamed = null;
    for (const { key } of unnamed.values()) this.write(key, null);
  }

  /** Simulates over `overlay` in place of the newest state and puts that back. */
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

  /** Setting it costs a tenth of a microsecond, so it is set only when it changes. */
  #verify(wanted: boolean): void {
    if (this.#verifies === wanted) return;
    this.#native.setSigverify(wanted);
    this.#verifies = wanted;
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
    if (account === null || data === undefined || data.length !== NONCE_BYTES) return;
    const changed = new Uint8Array(data);
    changed.set(value, NONCE_OFFSET);
    this.write(key, new Account(account.lamports(), changed, account.owner(), false, account.rentEpoch()));
  }

  /** LiteSVM derives a nonce from the transaction's own lifetime; the runtime derives it from the bank's last blockhash. */
  #withRightNonces(writes: CoreWrite[], transaction: CoreTransaction, right: Uint8Array): CoreWrite[] {
    let found: Uint8Array | null = null;
    return writes.map((write) => {
      const data = write.account?.data();
      if (write.account === null || data === undefined || data.length !== NONCE_BYTES) return write;
      found ??= durableNonce(lifetimeOf(transaction));
      if (!sameBytes(data.subarray(NONCE_OFFSET, NONCE_OFFSET + 32), found)) return write;
      const key = transaction.writable[write.index];
      if (key === undefined || !sameBytes(write.account.owner(), SYSTEM_PROGRAM)) return write;
      this.#setNonce(key, right);
      return this.#read(key, write.index);
    });
  }
}
