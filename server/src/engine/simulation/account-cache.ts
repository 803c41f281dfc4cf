import { addressBytes } from "@sluice/wire/base58";
import { type Address, addressOfBytes } from "@sluice/wire/identifiers";
import type { RawAccount } from "./simulation.ts";

/** What is known of one address. Machines know it by its handle, and compare versions to see whether theirs is old. */
export interface AccountEntry {
  readonly address: Address;
  /** Its 32 bytes. */
  readonly key: Uint8Array;
  /** The same as text of one character a byte: the key of maps. */
  readonly name: string;
  readonly handle: number;
  /** Moves when the account changes; 0 until it was read once. */
  version: number;
  account: RawAccount | null;
  /** The newest slot for which `account` is known to be right; -1 before it was read. */
  slot: bigint;
  /** The slot of the node that `account` was read from; -1 before it was read. An older read never replaces it. */
  readSlot: bigint;
  /** Whether it never changes in a way that matters, so that it is read once. */
  isConstant: boolean;
  /** Whether each machine brings the account itself, so that none is sent it. */
  isBuiltIn: boolean;
  /** Whether it holds the code of an upgradeable program: only its head is read again. */
  isProgramData: boolean;
  /** For an upgradeable program, the key of the account with its code; null for any other account. */
  programData: Uint8Array | null;
  /** Bytes of its data when it was last seen, even where they were too many to be read at once. */
  space: number;
  /** The read under way, which resolves to false where it failed; null when there is none. */
  reading: Promise<boolean> | null;
  /** Number of bundles and sessions that hold it; it is not forgotten meanwhile. */
  pins: number;
  /** Whether it was used since the last sweep passed it. */
  used: boolean;
}

/** Bytes as text of one character each: a map key that costs a sixth of base58. */
export function nameOfBytes(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

/** @throws {RangeError} when the text is not an address. */
export function nameOf(address: Address): string {
  return nameOfBytes(addressBytes(address));
}

/** When something was read: the newest slot for which it is right, and the slot of the node. */
export interface ReadAt {
  readonly slot: bigint;
  readonly readSlot: bigint;
}

/** What an entry counts beside its data: its objects, its key and its texts. */
const entryBytes = 640;
/** Entries that one sweep visits, so that no single bundle pays for a long one. */
const sweepMax = 4_096;

/**
 * Accounts by key, bounded in bytes. The entry that was not used for the longest time is forgotten first, by the clock
 * algorithm: a used entry is passed over once. Entries that are held stay beyond the bound; their number is bounded by
 * the number of bundles that may wait.
 */
export class AccountCache {
  readonly #bytesMax: number;
  readonly #entries = new Map<string, AccountEntry>();
  readonly #onForgotten: (entry: AccountEntry) => void;
  readonly #freeHandles: number[] = [];
  #handles = 0;
  #versions = 0;
  #bytes = 0;

  constructor(options: { readonly bytesMax: number; readonly onForgotten: (entry: AccountEntry) => void }) {
    this.#bytesMax = options.bytesMax;
    this.#onForgotten = options.onForgotten;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The entry of the 32 bytes at an offset, created when there is none. */
  at(bytes: Buffer, start: number): AccountEntry {
    const name = bytes.toString("latin1", start, start + 32);
    const known = this.#entries.get(name);
    if (known === undefined) return this.#create(name, new Uint8Array(bytes.subarray(start, start + 32)));
    known.used = true;
    return known;
  }

  of(key: Uint8Array): AccountEntry {
    return this.at(Buffer.from(key.buffer, key.byteOffset, key.byteLength), 0);
  }

  #create(name: string, key: Uint8Array): AccountEntry {
    const address: Address = addressOfBytes(key);
    const entry: AccountEntry = {
      address,
      key,
      name,
      handle: this.#freeHandles.pop() ?? this.#handles++,
      version: 0,
      account: null,
      slot: -1n,
      readSlot: -1n,
      isConstant: false,
      isBuiltIn: false,
      isProgramData: false,
      programData: null,
      space: 0,
      reading: null,
      pins: 0,
      used: true,
    };
    this.#entries.set(name, entry);
    this.#bytes += entryBytes;
    return entry;
  }

  /**
   * Records an account that a node at `readSlot` returned and that is right for `slot`. The version moves only when the
   * account changed; a read of an older slot changes nothing.
   */
  record(entry: AccountEntry, account: RawAccount | null, { slot, readSlot }: ReadAt): void {
    if (readSlot < entry.readSlot) return;
    entry.readSlot = readSlot;
    if (slot > entry.slot) entry.slot = slot;
    if (entry.version !== 0 && sameAccount(entry.account, account)) return;
    this.#bytes += (account?.data.length ?? 0) - (entry.account?.data.length ?? 0);
    this.#versions += 1;
    entry.version = this.#versions;
    entry.account = account;
  }

  /**
   * Forgets entries until the bound holds, within one sweep: one round, which spares entries that were used since the
   * last one, and two where the bound is exceeded by a quarter.
   */
  sweep(): void {
    if (this.#bytes <= this.#bytesMax) return;
    const rounds = this.#bytes > this.#bytesMax + this.#bytesMax / 4 ? 2 : 1;
    let visits = Math.min(sweepMax, this.#entries.size * rounds);
    for (const [name, entry] of this.#entries) {
      if (this.#bytes <= this.#bytesMax || visits === 0) return;
      visits -= 1;
      this.#entries.delete(name);
      if (entry.used || entry.pins > 0 || entry.reading !== null) {
        entry.used = false;
        this.#entries.set(name, entry);
        continue;
      }
      this.#bytes -= entryBytes + (entry.account?.data.length ?? 0);
      this.#onForgotten(entry);
      this.#freeHandles.push(entry.handle);
    }
  }
}

function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && Buffer.compare(one, other) === 0;
}

function sameAccount(one: RawAccount | null, other: RawAccount | null): boolean {
  if (one === null || other === null) return one === other;
  return (
    one.lamports === other.lamports &&
    one.executable === other.executable &&
    one.space === other.space &&
    sameBytes(one.owner, other.owner) &&
    sameBytes(one.data, other.data)
  );
}
