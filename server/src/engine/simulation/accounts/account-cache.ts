import { type Address, addressOfBytes } from "@sluice/wire/identifiers";
import type { RawAccount } from "../simulation.ts";
import type { AccountEntry } from "./account-entry.ts";

/** When something was read: what it is right as of, and the slot that the node was at. */
export interface ReadAt {
  readonly slot: bigint;
  readonly readSlot: bigint;
}

/** What an entry counts beside its data: its objects, its key and its texts. */
const ENTRY_BYTES = 640;
/** Entries looked at in one sweep, so that no single bundle pays for a long one. */
const SWEEP_MAX = 4_096;

/**
 * Accounts by key, bounded in bytes. What was used longest ago goes first, by a clock's hand: a used entry is passed over
 * once. Entries that somebody holds stay, whatever the bound says; those are bounded by who may wait.
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

  /** The entry of the 32 bytes at a place, made when there is none. */
  at(bytes: Buffer, start: number): AccountEntry {
    const name = bytes.toString("latin1", start, start + 32);
    const known = this.#entries.get(name);
    if (known === undefined) return this.#made(name, new Uint8Array(bytes.subarray(start, start + 32)));
    known.used = true;
    return known;
  }

  of(key: Uint8Array): AccountEntry {
    return this.at(Buffer.from(key.buffer, key.byteOffset, key.byteLength), 0);
  }

  #made(name: string, key: Uint8Array): AccountEntry {
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
    this.#bytes += ENTRY_BYTES;
    return entry;
  }

  /**
   * Records what a node at `readSlot` told of an account, which is right as of `slot`. Its version moves only if that is
   * new; what is older than what is known changes nothing.
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
   * Forgets until the bound holds again, as far as one sweep goes: once round, which spares whatever was used since the last
   * one, and twice where the bound is exceeded by a quarter.
   */
  sweep(): void {
    if (this.#bytes <= this.#bytesMax) return;
    const rounds = this.#bytes > this.#bytesMax + this.#bytesMax / 4 ? 2 : 1;
    let looks = Math.min(SWEEP_MAX, this.#entries.size * rounds);
    for (const [name, entry] of this.#entries) {
      if (this.#bytes <= this.#bytesMax || looks === 0) return;
      looks -= 1;
      this.#entries.delete(name);
      if (entry.used || entry.pins > 0 || entry.reading !== null) {
        entry.used = false;
        this.#entries.set(name, entry);
        continue;
      }
      this.#bytes -= ENTRY_BYTES + (entry.account?.data.length ?? 0);
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
