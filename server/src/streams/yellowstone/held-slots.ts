import type { FilteredAccount, FilteredEntry } from "@sluice/geyser";
import type { SlotExtras } from "./slot-content.ts";

/** What an account costs beside its data. */
const accountBytes = 512;
const entryBytes = 256;
/** Slots whose end is remembered though their content is gone. */
const slotsMax = 4_096;

interface HeldSlot {
  readonly accounts: Map<string, FilteredAccount>;
  readonly entries: FilteredEntry[];
  bytes: number;
  isWhole: boolean;
}

/** Accounts and entries of slots until they have reached the commitment of those who want them, within a bound. */
export class HeldSlots {
  readonly #bytesMax: number;
  readonly #slots = new Map<bigint, HeldSlot>();
  #bytes = 0;
  /** Content of slots up to here may have been given up. */
  #lostUpTo = -1n;

  constructor(options: { readonly bytesMax: number }) {
    this.#bytesMax = options.bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Keeps the newest write of each account in a slot. */
  account(account: FilteredAccount): void {
    const { update } = account;
    const held = this.#of(update.slot);
    const known = held.accounts.get(update.address);
    if (known !== undefined && known.update.writeVersion >= update.writeVersion) return;
    const before = known === undefined ? 0 : known.packed.length + accountBytes;
    // The order is that of the writes that are kept.
    held.accounts.delete(update.address);
    held.accounts.set(update.address, account);
    this.#grow(held, account.packed.length + accountBytes - before);
  }

  entry(entry: FilteredEntry): void {
    const held = this.#of(entry.update.slot);
    held.entries.push(entry);
    this.#grow(held, entryBytes);
  }

  /** The node has told all of the slot. */
  whole(slot: bigint): void {
    this.#of(slot).isWhole = true;
  }

  /** `pending` while the slot may still get more, `lost` where it was given up for want of room. */
  extrasOf(slot: bigint): SlotExtras | "pending" | "lost" {
    const held = this.#slots.get(slot);
    if (held === undefined) return slot <= this.#lostUpTo ? "lost" : "pending";
    if (!held.isWhole) return "pending";
    const accounts = [...held.accounts.values()].toSorted(byWrite);
    return { accounts, entries: held.entries };
  }

  /** Nobody wants slots up to here any more. */
  forget(upTo: bigint): void {
    for (const [slot, held] of this.#slots) {
      if (slot > upTo) continue;
      this.#slots.delete(slot);
      this.#bytes -= held.bytes;
    }
    if (upTo > this.#lostUpTo) this.#lostUpTo = upTo;
  }

  clear(): void {
    this.#slots.clear();
    this.#bytes = 0;
    this.#lostUpTo = -1n;
  }

  #of(slot: bigint): HeldSlot {
    const known = this.#slots.get(slot);
    if (known !== undefined) return known;
    const held = { accounts: new Map<string, FilteredAccount>(), entries: [], bytes: 0, isWhole: false };
    this.#slots.set(slot, held);
    if (this.#slots.size > slotsMax) this.#giveUpOldest();
    return held;
  }

  #grow(held: HeldSlot, bytes: number): void {
    held.bytes += bytes;
    this.#bytes += bytes;
    while (this.#bytes > this.#bytesMax && this.#slots.size > 1) this.#giveUpOldest();
  }

  #giveUpOldest(): void {
    let oldest: bigint | null = null;
    for (const slot of this.#slots.keys()) if (oldest === null || slot < oldest) oldest = slot;
    if (oldest !== null) this.forget(oldest);
  }
}

function byWrite({ update: one }: FilteredAccount, { update: other }: FilteredAccount): number {
  return one.writeVersion < other.writeVersion ? -1 : one.writeVersion > other.writeVersion ? 1 : 0;
}
