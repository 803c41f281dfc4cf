import { decodeAddress, decodeSignature } from "@sluice/wire/base58";
import { type Block, type Hash64, hashBytes } from "../model/index.ts";
import { BlockList, type KeptBlock } from "./block-list.ts";
import { NamedAddresses } from "./named-addresses.ts";
import {
  type AddressEntry,
  type AddressRange,
  idsOf,
  RecordCodec,
  type RecordedTransaction,
  signatureAt,
} from "./record-codec.ts";
import { RecordLog } from "./record-log.ts";

const slotsMin = 1_024;

/**
 * Numbers of records by a hash of their signature: open addressing, eight bytes a slot, three in five used at most. It
 * holds the low 32 bits of a number; the caller checks whether a number is the one it looks for.
 */
class SignatureTable {
  /** Two words a slot: the hash, 0 where the slot is free, and the number. */
  #slots = new Uint32Array(slotsMin * 2);
  #count = 0;

  /** The number for which `isIt` holds among those with this hash; null when there is none. */
  find(hash: number, isIt: (number: number) => boolean): number | null {
    const wanted = hash || 1;
    const mask = this.#slots.length / 2 - 1;
    for (let slot = wanted & mask; ; slot = (slot + 1) & mask) {
      const held = this.#slots[slot * 2];
      if (held === 0) return null;
      const number = this.#slots[slot * 2 + 1] ?? 0;
      if (held === wanted && isIt(number)) return number;
    }
  }

  add(hash: number, number: number): void {
    this.#count += 1;
    if (this.#count * 10 > this.#slots.length * 3) {
      const old = this.#slots;
      this.#slots = new Uint32Array(old.length * 2);
      for (let at = 0; at < old.length; at += 2) {
        const held = old[at] ?? 0;
        if (held !== 0) this.#place(held, old[at + 1] ?? 0);
      }
    }
    this.#place(hash || 1, number);
  }

  #place(held: number, number: number): void {
    const mask = this.#slots.length / 2 - 1;
    let slot = held & mask;
    while (this.#slots[slot * 2] !== 0) slot = (slot + 1) & mask;
    this.#slots[slot * 2] = held;
    this.#slots[slot * 2 + 1] = number;
  }

  /** Removes a number and closes the gap that its slot leaves in the run behind it. */
  remove(hash: number, number: number): void {
    const slots = this.#slots;
    const mask = slots.length / 2 - 1;
    const low = number >>> 0;
    let gap = (hash || 1) & mask;
    while (slots[gap * 2] !== (hash || 1) || slots[gap * 2 + 1] !== low) {
      if (slots[gap * 2] === 0) throw new RangeError(`no signature has number ${number}`);
      gap = (gap + 1) & mask;
    }
    for (let slot = (gap + 1) & mask; slots[slot * 2] !== 0; slot = (slot + 1) & mask) {
      const home = (slots[slot * 2] ?? 0) & mask;
      if (((slot - home) & mask) >= ((slot - gap) & mask)) {
        slots[gap * 2] = slots[slot * 2] ?? 0;
        slots[gap * 2 + 1] = slots[slot * 2 + 1] ?? 0;
        gap = slot;
      }
    }
    slots[gap * 2] = 0;
    this.#count -= 1;
  }
}

export type { AddressEntry, AddressRange, RecordedTransaction } from "./record-codec.ts";

const signatureBytes = 64;

interface HistoryOptions {
  /** Blocks kept; the oldest go first. */
  readonly slotsMax: number;
  /** Transactions kept; whole blocks go, oldest first, until no more are held. */
  readonly transactionsMax: number;
}

/**
 * Blocks by slot, transactions by signature and by every address that they name. Bounded by blocks and by transactions.
 * A transaction is a record of bytes with a number; it becomes an object again when it is read. With all that
 * leads to it a transfer takes about 360 bytes; an empty block takes 0.4 KB.
 */
export class History {
  readonly #options: HistoryOptions;
  readonly #blocks = new BlockList();
  readonly #addresses = new NamedAddresses();
  readonly #codec = new RecordCodec(this.#addresses);
  readonly #log = new RecordLog();
  readonly #signatures = new SignatureTable();
  readonly #hash: Hash64 = { a: 0, b: 0 };
  /** Transactions of the open block, which no reader sees yet: the newest records, and their lowest price of a unit. */
  #staged = 0;
  #lowestStaged: bigint | null = null;

  constructor(options: HistoryOptions) {
    this.#options = options;
  }

  /**
   * Takes in a transaction of the block that comes next, as it runs: taking in a full block at once would keep readers
   * waiting. It must be canonical, its signature new. It is invisible until its block is appended.
   */
  stage(recorded: RecordedTransaction): void {
    const number = this.#log.append(this.#codec.write(recorded, this.#log.end));
    this.#signatures.add(this.#signatureHash(number), number);
    this.#staged += 1;
    // Votes do not bid.
    if (recorded.executed.isVote) return;
    const { unitPrice } = recorded;
    if (this.#lowestStaged === null || unitPrice < this.#lowestStaged) this.#lowestStaged = unitPrice;
  }

  /** Takes in a block above all that are kept, with those of its transactions that were not staged. */
  append(block: Block, transactions: readonly RecordedTransaction[]): void {
    const { slot, parentSlot, blockhash, previousBlockhash, blockTime, blockHeight, rewards } = block;
    for (let index = this.#staged; index < transactions.length; index += 1) {
      const recorded = transactions[index];
      if (recorded !== undefined) this.stage(recorded);
    }
    const count = this.#staged;
    const header = { slot, parentSlot, blockhash, previousBlockhash, blockTime, blockHeight, rewards };
    this.#blocks.push({ ...header, first: this.#end, count, lowestUnitPrice: this.#lowestStaged });
    this.#staged = 0;
    this.#lowestStaged = null;
    while (this.#overfull()) this.#dropOldest();
  }

  /** The number after the newest record that can be seen. */
  get #end(): number {
    return this.#log.end - this.#staged;
  }

  /** Forgets the transactions of a block that is abandoned before it is appended. */
  #unstage(): void {
    const end = this.#end;
    for (let number = this.#log.end - 1; number >= end; number -= 1) this.#forget(number, "last");
    this.#log.truncate(end);
    this.#staged = 0;
    this.#lowestStaged = null;
  }

  #signatureHash(number: number): number {
    const place = this.#log.place(number);
    hashBytes(place.bytes, signatureAt(place), signatureBytes, this.#hash);
    return this.#hash.a;
  }

  #overfull(): boolean {
    const { slotsMax, transactionsMax } = this.#options;
    return this.#blocks.size > 1 && (this.#blocks.size > slotsMax || this.size > transactionsMax);
  }

  /** Transactions that are kept. */
  get size(): number {
    return this.#end - this.#log.first;
  }

  #dropOldest(): void {
    const oldest = this.#blocks.oldest;
    if (oldest === undefined) return;
    const end = oldest.first + oldest.count;
    for (let number = oldest.first; number < end; number += 1) this.#forget(number, "first");
    this.#log.dropBefore(end);
    this.#blocks.shift();
  }

  #forget(number: number, end: "first" | "last"): void {
    this.#signatures.remove(this.#signatureHash(number), number);
    for (const id of idsOf(this.#log.place(number))) this.#addresses.forget(id, number, end);
  }

  /** Forgets the blocks above `slot` with their transactions and gives these, oldest first, and what is staged. */
  rollback(slot: bigint): RecordedTransaction[] {
    this.#unstage();
    const gone = this.#blocks.above(slot);
    const dropped = gone.flatMap((block) => this.#transactionsOf(block));
    for (const block of gone.toReversed()) {
      for (let number = block.first + block.count - 1; number >= block.first; number -= 1) this.#forget(number, "last");
      this.#log.truncate(block.first);
      this.#blocks.pop();
    }
    return dropped;
  }

  /** Drops the blocks below `slot`; the newest block always stays. */
  dropBefore(slot: bigint): void {
    while (this.#blocks.size > 1 && this.firstSlot < slot) this.#dropOldest();
  }

  #transactionsOf({ slot, first, count }: KeptBlock): RecordedTransaction[] {
    return Array.from({ length: count }, (_, index) => this.#codec.read(this.#log.place(first + index), slot, index));
  }

  /** A block; its transactions are read when they are first looked at, which must be before the block is dropped. */
  block(slot: bigint): Block | null {
    const kept = this.#blocks.at(slot);
    if (kept === null) return null;
    const { parentSlot, blockhash, previousBlockhash, blockTime, blockHeight, rewards } = kept;
    const read = (): Block["transactions"] => this.#transactionsOf(kept).map(({ executed }) => executed);
    let transactions: Block["transactions"] | null = null;
    return {
      slot,
      parentSlot,
      blockhash,
      previousBlockhash,
      blockTime,
      blockHeight,
      rewards,
      get transactions() {
        transactions ??= read();
        return transactions;
      },
    };
  }

  #numberOf(signature: string): number | null {
    const bytes = decodeSignature(signature);
    if (bytes === null) return null;
    hashBytes(bytes, 0, signatureBytes, this.#hash);
    const low = this.#signatures.find(this.#hash.a, (number) => {
      const place = this.#log.place(this.#fullNumber(number));
      const at = signatureAt(place);
      return Buffer.compare(place.bytes.subarray(at, at + signatureBytes), bytes) === 0;
    });
    const number = low === null ? null : this.#fullNumber(low);
    return number === null || number >= this.#end ? null : number;
  }

  /** A record's number from its low 32 bits: far fewer records are kept than these can distinguish. */
  #fullNumber(low: number): number {
    return this.#log.first + ((low - this.#log.first) >>> 0);
  }

  transaction(signature: string): RecordedTransaction | null {
    const number = this.#numberOf(signature);
    if (number === null) return null;
    const { slot, first } = this.#blocks.ofRecord(number);
    return this.#codec.read(this.#log.place(number), slot, number - first);
  }

  /** The lowest slot whose block is kept. */
  get firstSlot(): bigint {
    return this.#blocks.oldest?.slot ?? 0n;
  }

  /** Slots that have a block, from `first` to `last` inclusive, at most `limit`. */
  slots(first: bigint, last: bigint, limit: number): bigint[] {
    return this.#blocks.slots(first, last, limit);
  }

  /** Addresses that the kept transactions name. */
  get addressCount(): number {
    return this.#addresses.size;
  }

  #idOf(address: string): number | null {
    const bytes = decodeAddress(address);
    return bytes === null ? null : this.#addresses.find(bytes);
  }

  /** Transactions that name an address, newest first: found by halving, whatever lies above and below. */
  *ofAddress(address: string, { newest, before, until }: AddressRange): Generator<AddressEntry> {
    const id = this.#idOf(address);
    const last = this.#blocks.atOrBefore(newest);
    if (id === null || last === null) return;
    const { first } = this.#log;
    const above = before === null ? null : this.#numberOf(before);
    const below = until === null ? null : this.#numberOf(until);
    const end = Math.min(last.first + last.count, above ?? this.#end);
    const start = below === null ? first : below + 1;
    const lowest = this.#addresses.countBelow(id, start, first);
    for (let position = this.#addresses.countBelow(id, end, first) - 1; position >= lowest; position -= 1) {
      const number = this.#fullNumber(this.#addresses.at(id, position));
      const { slot, blockTime, first: firstOfBlock } = this.#blocks.ofRecord(number);
      yield { ...this.#codec.summary(this.#log.place(number)), slot, index: number - firstOfBlock, blockTime };
    }
  }

  /**
   * The lowest price of a unit in a block among transactions, votes aside, that lock all these addresses for writing;
   * null without any.
   */
  lowestUnitPrice(slot: bigint, addresses: readonly string[]): bigint | null {
    const block = this.#blocks.at(slot);
    if (block === null || addresses.length === 0) return block?.lowestUnitPrice ?? null;
    const ids = addresses.map((address) => this.#idOf(address));
    const known = ids.filter((id) => id !== null);
    const [rarest] = known.toSorted((left, right) => this.#addresses.length(left) - this.#addresses.length(right));
    if (rarest === undefined || known.length < ids.length) return null;
    const { first } = this.#log;
    let lowest: bigint | null = null;
    const end = this.#addresses.countBelow(rarest, block.first + block.count, first);
    for (let position = this.#addresses.countBelow(rarest, block.first, first); position < end; position += 1) {
      const price = this.#codec.unitPrice(
        this.#log.place(this.#fullNumber(this.#addresses.at(rarest, position))),
        known,
      );
      if (price !== null && (lowest === null || price < lowest)) lowest = price;
    }
    return lowest;
  }
}
