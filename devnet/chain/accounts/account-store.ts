import type { AccountWrite } from "@sluice/svm/bank";
import { decodeAddress } from "@sluice/wire/base58";
import { type ChainAccount, type Hash64, hashBytes } from "../model/index.ts";
import { type AccountFilter, type IndexOptions, indexOptions } from "./account-indexes.ts";
import { AccountRows } from "./account-rows.ts";
import { AccountSearch } from "./account-search.ts";
import { AddressTable } from "./address-table.ts";

/**
 * Numbers the slots that are written, oldest first, so that a version names its slot in four bytes: four thousand
 * million of them, 54 years of slots of 400 ms. Slots up to the root count as one, the lowest.
 */
export class SlotOrdinals {
  /** Slots above the root that were written, oldest first; the first of them has the ordinal `#first`. */
  readonly #slots: bigint[] = [];
  #first = 1;

  /** The ordinal of the slot that is written now, which must not lie below one that was written. */
  writing(slot: bigint): number {
    const newest = this.#slots.at(-1);
    if (newest === undefined || slot > newest) this.#slots.push(slot);
    else if (slot < newest) throw new RangeError(`slot ${slot} is written after ${newest}`);
    return this.newest;
  }

  get newest(): number {
    return this.#first + this.#slots.length - 1;
  }

  /** The highest ordinal that counts for a reader of `slot`; readers below the root see the root. */
  limit(slot: bigint): number {
    const newest = this.#slots.at(-1);
    if (newest === undefined || slot >= newest) return this.newest;
    let low = 0;
    let high = this.#slots.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#slots[middle] ?? 0n) <= slot) low = middle + 1;
      else high = middle;
    }
    return this.#first + low - 1;
  }

  /** Counts the oldest slot as rooted. */
  rootOldest(): void {
    this.#slots.shift();
    this.#first += 1;
  }

  /** Forgets the slots above `slot`. */
  rollback(slot: bigint): void {
    while ((this.#slots.at(-1) ?? slot) > slot) this.#slots.pop();
  }
}

/** Accounts of one generation; two are kept. */
const generationMax = 8_192;

/** The newest version of an account, with the row that holds it. */
interface HotAccount {
  readonly row: number;
  readonly ordinal: number;
  readonly account: ChainAccount | null;
}

/**
 * Accounts that were read or written lately, as objects: transactions touch the same few again and again, and reading a
 * row costs more than a look-up by text. Two generations; when the young one is full it becomes the old one.
 */
class HotAccounts {
  #young = new Map<string, HotAccount>();
  #old = new Map<string, HotAccount>();

  get(address: string): HotAccount | undefined {
    const young = this.#young.get(address);
    if (young !== undefined) return young;
    const old = this.#old.get(address);
    if (old !== undefined) this.set(address, old);
    return old;
  }

  set(address: string, hot: HotAccount): void {
    if (this.#young.size >= generationMax) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(address, hot);
  }

  delete(address: string): void {
    this.#young.delete(address);
    this.#old.delete(address);
  }
}

export type { AccountFilter } from "./account-indexes.ts";
export { passesFilters } from "./account-indexes.ts";

/** The writes of a slot that is not yet rooted. */
interface SlotWrites {
  readonly rows: number[];
  readonly addresses: Set<string>;
}

/**
 * Accounts as they were at every slot that is not yet rooted, and at the root. Each account keeps its versions newest
 * first; `root` drops those that no commitment can ask for any more, so memory is one version per account plus one for
 * each write of the unrooted slots. Versions are rows of bytes, which `AccountIndexes` finds: about 330 bytes for a
 * token account with all that leads to it.
 */
export class AccountStore {
  readonly #rows = new AccountRows();
  readonly #addresses = new AddressTable(this.#rows);
  readonly #search: AccountSearch;
  readonly #ordinals = new SlotOrdinals();
  readonly #written = new Map<bigint, SlotWrites>();
  readonly #hot = new HotAccounts();
  #lamports = 0n;
  readonly #key = new Uint32Array(8);
  readonly #keyBytes = new Uint8Array(this.#key.buffer);
  readonly #hash: Hash64 = { a: 0, b: 0 };

  constructor(options: IndexOptions = indexOptions) {
    this.#search = new AccountSearch(options, this.#rows);
  }

  /** Records an account as of `slot`, which must not be below the newest slot written. */
  write(slot: bigint, address: string, account: ChainAccount | null): void {
    const ordinal = this.#ordinals.writing(slot);
    let written = this.#written.get(slot);
    if (written === undefined) {
      written = { rows: [], addresses: new Set() };
      this.#written.set(slot, written);
    }
    const known = this.#hot.get(address)?.row ?? this.#find(address);
    if (known === null) throw new TypeError(`not an address: ${address}`);
    const rows = this.#rows;
    let row = known;
    if (known !== 0) this.#lamports -= rows.lamports(known);
    if (known !== 0 && rows.ordinal(known) === ordinal) this.#search.remove(known);
    else {
      row = this.#addVersion(known, ordinal);
      written.rows.push(row);
    }
    rows.fill(row, account);
    if (account !== null) {
      this.#lamports += account.lamports;
      this.#search.add(row);
    }
    written.addresses.add(address);
    this.#hot.set(address, { row, ordinal, account });
  }

  /** A row above the newest version of an address; with none, of the address that was looked for last. */
  #addVersion(newest: number, ordinal: number): number {
    const rows = this.#rows;
    if (newest === 0) {
      const row = rows.take(this.#keyBytes, this.#hash.a, ordinal);
      this.#addresses.add(row);
      return row;
    }
    const row = rows.take(rows.addressBytes(newest), rows.hash(newest), ordinal);
    rows.link(row, "older", newest);
    rows.link(newest, "newer", row);
    this.#addresses.replace(newest, row);
    return row;
  }

  /** The newest row of an address, 0 when there is none; null for what is no address. */
  #find(address: string): number | null {
    const bytes = decodeAddress(address);
    if (bytes === null) return null;
    this.#keyBytes.set(bytes);
    hashBytes(bytes, 0, bytes.length, this.#hash);
    return this.#addresses.find(this.#key, this.#hash.a);
  }

  /** The account as of `slot`, or null. Slots below the root answer as the root does. */
  get(address: string, slot: bigint): ChainAccount | null {
    return this.#read(address, this.#ordinals.limit(slot));
  }

  #read(address: string, limit: number): ChainAccount | null {
    const hot = this.#hot.get(address);
    if (hot !== undefined && hot.ordinal <= limit) return hot.account;
    const newest = hot?.row ?? this.#find(address) ?? 0;
    let row = newest;
    while (row !== 0 && this.#rows.ordinal(row) > limit) row = this.#rows.older(row);
    if (row === 0) return null;
    const account = this.#rows.account(row);
    if (row === newest) this.#hot.set(address, { row, ordinal: this.#rows.ordinal(row), account });
    return account;
  }

  /** The account as it is now, in the open slot. */
  newest(address: string): ChainAccount | null {
    return this.#read(address, this.#ordinals.newest);
  }

  /** Whether the account was written after `slot`. */
  changedAfter(address: string, slot: bigint): boolean {
    const row = this.#hot.get(address)?.row ?? this.#find(address) ?? 0;
    return row !== 0 && this.#rows.ordinal(row) > this.#ordinals.limit(slot);
  }

  /** The addresses written in a slot that is not yet rooted. */
  written(slot: bigint): ReadonlySet<string> {
    return this.#written.get(slot)?.addresses ?? new Set();
  }

  /** Forgets versions that lie below the newest one of `slot` or before, for accounts written up to `slot`. */
  root(slot: bigint): void {
    for (const [writtenSlot, { rows }] of this.#written) {
      if (writtenSlot > slot) break;
      for (const row of rows) this.#rootRow(row);
      this.#written.delete(writtenSlot);
      this.#ordinals.rootOldest();
    }
  }

  /** Drops the version below one that is now rooted, and a deletion that has nothing below it to hide. */
  #rootRow(row: number): void {
    const rows = this.#rows;
    const older = rows.older(row);
    if (older !== 0) this.#release(older);
    rows.link(row, "older", 0);
    if (rows.isLive(row)) return;
    const newer = rows.newer(row);
    if (newer !== 0) rows.link(newer, "older", 0);
    else {
      this.#hot.delete(rows.address(row));
      this.#addresses.remove(row);
    }
    rows.release(row);
  }

  #release(row: number): void {
    this.#search.remove(row);
    this.#rows.release(row);
  }

  /**
   * Forgets everything that was written after `slot`, which must not lie below the root, and gives those accounts as
   * they were then.
   */
  rollback(slot: bigint): AccountWrite[] {
    const gone = [...this.#written].filter(([writtenSlot]) => writtenSlot > slot);
    const restored = new Set<string>();
    for (const [writtenSlot, { rows, addresses }] of gone.toReversed()) {
      for (const row of rows) this.#takeBack(row);
      for (const address of addresses) restored.add(address);
      this.#written.delete(writtenSlot);
    }
    this.#ordinals.rollback(slot);
    return [...restored].map((address) => {
      this.#hot.delete(address);
      return { address, account: this.newest(address) };
    });
  }

  #takeBack(row: number): void {
    const rows = this.#rows;
    const older = rows.older(row);
    this.#lamports -= rows.lamports(row);
    if (older === 0) this.#addresses.remove(row);
    else {
      this.#lamports += rows.lamports(older);
      rows.link(older, "newer", 0);
      this.#addresses.replace(row, older);
    }
    this.#release(row);
  }

  /** Accounts of a program as of `slot`, in no order; to be read before the next write, as every listing here. */
  ofProgram(program: string, slot: bigint): Generator<[string, ChainAccount]> {
    return this.#search.find(program, [], this.#ordinals.limit(slot), false);
  }

  /**
   * Accounts of a program as of `slot` that pass all filters, in the order of their addresses' bytes unless `sorted` is
   * false.
   */
  find(
    program: string,
    filters: readonly AccountFilter[],
    slot: bigint,
    sorted = true,
  ): Generator<[string, ChainAccount]> {
    return this.#search.find(program, filters, this.#ordinals.limit(slot), sorted);
  }

  /**
   * The token accounts of a mint of a program that hold most as of `slot`, at most `count`; of equal ones the larger
   * address.
   */
  largestHolders(program: string, mint: string, count: number, slot: bigint): [string, ChainAccount][] {
    return this.#search.largestHolders(program, mint, count, this.#ordinals.limit(slot));
  }

  /** The accounts that hold most lamports as of `slot`, at most `count`; of equal ones the larger address. */
  richest(count: number, slot: bigint): [string, ChainAccount][] {
    return this.#search.richest(count, this.#ordinals.limit(slot));
  }

  /** Every account as of `slot`, in no order. Linear. */
  all(slot: bigint): Generator<[string, ChainAccount]> {
    return this.#search.all(this.#ordinals.limit(slot));
  }

  /** Lamports in all accounts as they are now: the chain's capitalization. */
  get lamports(): bigint {
    return this.#lamports;
  }

  /** Addresses that have a version. */
  get size(): number {
    return this.#addresses.size;
  }
}
