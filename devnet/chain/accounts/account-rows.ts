import { encodeBase58 } from "@sluice/wire/base58";
import type { ChainAccount } from "../model/index.ts";

const grainBytes = 16;
const grainsBits = 16;
const chunkGrains = 1 << grainsBits;

/** Longest block that the heap holds: a longer one gets its own array. */
export const blockBytesMax = 1_024;

function classOf(length: number): number {
  return (length + grainBytes - 1) >> 4;
}

/**
 * Small blocks of bytes in chunks of 1 MiB, so that a million of them are no work for the garbage collector. A block
 * takes its length rounded up to 16 bytes; what is released is given out again to a block of the same rounded length. A
 * block's location counts units of 16 bytes from the first chunk on.
 */
class ByteHeap {
  readonly #chunks: Uint8Array[] = [];
  readonly #released: number[][] = [];
  #nextGrain = 0;

  /** Room for `length` bytes, 1 to BLOCK_BYTES_MAX. What stands in it is not defined. */
  allocate(length: number): number {
    const grains = classOf(length);
    const reused = this.#released[grains]?.pop();
    if (reused !== undefined) return reused;
    const used = this.#nextGrain & (chunkGrains - 1);
    if (used === 0 || used + grains > chunkGrains) {
      this.#nextGrain = this.#chunks.length << grainsBits;
      this.#chunks.push(new Uint8Array(chunkGrains * grainBytes));
    }
    const location = this.#nextGrain;
    this.#nextGrain += grains;
    return location >>> 0;
  }

  release(location: number, length: number): void {
    const grains = classOf(length);
    let list = this.#released[grains];
    if (list === undefined) {
      list = [];
      this.#released[grains] = list;
    }
    list.push(location);
  }

  /** Whether a block of either length fits where the other lies. */
  static alike(left: number, right: number): boolean {
    return classOf(left) === classOf(right);
  }

  /** The chunk that holds a block; `offset` says where in it. */
  chunk(location: number): Uint8Array {
    const chunk = this.#chunks[location >>> grainsBits];
    if (chunk === undefined) throw new RangeError(`no block at ${location}`);
    return chunk;
  }

  offset(location: number): number {
    return (location & (chunkGrains - 1)) * grainBytes;
  }
}

/** Owners of accounts by number, so that a row names one in four bytes. A number is free again when no row holds it. */
class ProgramNames {
  readonly #numbers = new Map<string, number>();
  readonly #names: string[] = [];
  readonly #held: number[] = [];
  readonly #released: number[] = [];

  /** The program's number, held once more. */
  hold(name: string): number {
    let number = this.#numbers.get(name);
    if (number === undefined) {
      number = this.#released.pop() ?? this.#names.length;
      this.#numbers.set(name, number);
      this.#names[number] = name;
      this.#held[number] = 0;
    }
    this.#held[number] = (this.#held[number] ?? 0) + 1;
    return number;
  }

  release(number: number): void {
    const held = (this.#held[number] ?? 1) - 1;
    this.#held[number] = held;
    if (held > 0) return;
    this.#numbers.delete(this.name(number));
    this.#released.push(number);
  }

  /** How many rows hold the program. */
  held(number: number): number {
    return this.#held[number] ?? 0;
  }

  number(name: string): number | undefined {
    return this.#numbers.get(name);
  }

  name(number: number): string {
    return this.#names[number] ?? "";
  }
}

const rowsBits = 12;
const chunkRows = 1 << rowsBits;
/** Words of a row. The address takes the first eight; lamports and the rent epoch are two each. */
const addressWords = 8;
const ordinalWord = 8;
const newerWord = 9;
const olderWord = 10;
const programWord = 11;
const lamportsWord = 12;
const rentEpochWord = 14;
const flagsWord = 16;
const lengthWord = 17;
const dataWord = 18;
const hashWord = 19;
const rowWords = 20;

const usedFlag = 1;
const liveFlag = 2;
const executableFlag = 4;

interface Chunk {
  readonly words: Uint32Array;
  readonly longs: BigUint64Array;
  readonly bytes: Uint8Array;
}

/**
 * Versions of accounts, one row each: 80 bytes, and the data beside them, in a heap up to 1 KiB and as an array of its
 * own above that. A row knows the next newer and the next older version of its address; row 0 is none. `ordinal`
 * numbers the slots that were written (see SlotOrdinals).
 */
export class AccountRows {
  readonly #chunks: Chunk[] = [];
  readonly #heap = new ByteHeap();
  /** Data too long for the heap, by row. */
  readonly #long = new Map<number, Uint8Array>();
  readonly #released: number[] = [];
  readonly programs = new ProgramNames();
  #rowsMade = 1;

  /** A row for a version of an address; its account is set by `fill`. */
  take(address: Uint8Array, hash: number, ordinal: number): number {
    const row = this.#released.pop() ?? this.#rowsMade++;
    if (row >>> rowsBits >= this.#chunks.length) {
      const words = new Uint32Array(chunkRows * rowWords);
      this.#chunks.push({ words, longs: new BigUint64Array(words.buffer), bytes: new Uint8Array(words.buffer) });
    }
    const { words, bytes } = this.#chunk(row);
    const at = this.#at(row);
    words.fill(0, at, at + rowWords);
    bytes.set(address, at * 4);
    words[at + ordinalWord] = ordinal;
    words[at + hashWord] = hash;
    words[at + flagsWord] = usedFlag;
    return row;
  }

  /** Sets what a row says; null is that the account does not exist. */
  fill(row: number, account: ChainAccount | null): void {
    const chunk = this.#chunk(row);
    const at = this.#at(row);
    if (account === null) {
      this.#clear(row);
      return;
    }
    const { data } = account;
    const wasLive = ((chunk.words[at + flagsWord] ?? 0) & liveFlag) !== 0;
    const length = chunk.words[at + lengthWord] ?? 0;
    const inPlace = wasLive && length > 0 && length <= blockBytesMax && data.length <= blockBytesMax;
    if (!(inPlace && ByteHeap.alike(length, data.length))) {
      this.#releaseData(row);
      if (data.length > blockBytesMax) this.#long.set(row, exact(data));
      else if (data.length > 0) chunk.words[at + dataWord] = this.#heap.allocate(data.length);
    }
    if (data.length > 0 && data.length <= blockBytesMax) {
      const location = chunk.words[at + dataWord] ?? 0;
      this.#heap.chunk(location).set(data, this.#heap.offset(location));
    }
    const program = this.programs.hold(account.owner);
    if (wasLive) this.programs.release(chunk.words[at + programWord] ?? 0);
    chunk.words[at + programWord] = program;
    chunk.words[at + lengthWord] = data.length;
    chunk.words[at + flagsWord] = usedFlag | liveFlag | (account.executable ? executableFlag : 0);
    chunk.longs[(at + lamportsWord) >> 1] = account.lamports;
    chunk.longs[(at + rentEpochWord) >> 1] = account.rentEpoch;
  }

  release(row: number): void {
    this.#clear(row);
    this.#chunk(row).words[this.#at(row) + flagsWord] = 0;
    this.#released.push(row);
  }

  #clear(row: number): void {
    const { words, longs } = this.#chunk(row);
    const at = this.#at(row);
    if (((words[at + flagsWord] ?? 0) & liveFlag) === 0) return;
    this.#releaseData(row);
    this.programs.release(words[at + programWord] ?? 0);
    words[at + lengthWord] = 0;
    words[at + flagsWord] = usedFlag;
    longs[(at + lamportsWord) >> 1] = 0n;
  }

  #releaseData(row: number): void {
    const { words } = this.#chunk(row);
    const length = words[this.#at(row) + lengthWord] ?? 0;
    if (length > blockBytesMax) this.#long.delete(row);
    else if (length > 0) this.#heap.release(words[this.#at(row) + dataWord] ?? 0, length);
  }

  #chunk(row: number): Chunk {
    const chunk = this.#chunks[row >>> rowsBits];
    if (chunk === undefined) throw new RangeError(`no row ${row}`);
    return chunk;
  }

  #at(row: number): number {
    return (row & (chunkRows - 1)) * rowWords;
  }

  #word(row: number, field: number): number {
    return this.#chunk(row).words[this.#at(row) + field] ?? 0;
  }

  link(row: number, field: "newer" | "older", other: number): void {
    this.#chunk(row).words[this.#at(row) + (field === "newer" ? newerWord : olderWord)] = other;
  }

  newer(row: number): number {
    return this.#word(row, newerWord);
  }

  older(row: number): number {
    return this.#word(row, olderWord);
  }

  ordinal(row: number): number {
    return this.#word(row, ordinalWord);
  }

  hash(row: number): number {
    return this.#word(row, hashWord);
  }

  /** The number under which `programs` knows the account's owner. */
  program(row: number): number {
    return this.#word(row, programWord);
  }

  isLive(row: number): boolean {
    return (this.#word(row, flagsWord) & liveFlag) !== 0;
  }

  lamports(row: number): bigint {
    return this.#chunk(row).longs[(this.#at(row) + lamportsWord) >> 1] ?? 0n;
  }

  /** Lamports in two halves, for comparing many rows without a bigint for each. */
  lamportsHigh(row: number): number {
    return this.#word(row, lamportsWord + 1);
  }

  lamportsLow(row: number): number {
    return this.#word(row, lamportsWord);
  }

  /** Rows were given numbers below this. */
  get end(): number {
    return this.#rowsMade;
  }

  /**
   * Whether the row is the version of its account that is seen when slots up to `limit` count, and is not a deletion.
   */
  isSeen(row: number, limit: number): boolean {
    const { words } = this.#chunk(row);
    const at = this.#at(row);
    if (((words[at + flagsWord] ?? 0) & liveFlag) === 0 || (words[at + ordinalWord] ?? 0) > limit) return false;
    const newer = words[at + newerWord] ?? 0;
    return newer === 0 || this.ordinal(newer) > limit;
  }

  /** The bytes among which a row's data lie, from `dataStart` on for `dataLength`; good until the next write. */
  dataBytes(row: number): Uint8Array {
    const length = this.#word(row, lengthWord);
    if (length === 0) return noBytes;
    return length > blockBytesMax ? (this.#long.get(row) ?? noBytes) : this.#heap.chunk(this.#word(row, dataWord));
  }

  dataStart(row: number): number {
    const length = this.#word(row, lengthWord);
    return length === 0 || length > blockBytesMax ? 0 : this.#heap.offset(this.#word(row, dataWord));
  }

  dataLength(row: number): number {
    return this.#word(row, lengthWord);
  }

  hasAddress(row: number, words: Uint32Array): boolean {
    const chunk = this.#chunk(row).words;
    const at = this.#at(row);
    for (let word = 0; word < addressWords; word += 1) if (chunk[at + word] !== words[word]) return false;
    return true;
  }

  /** Four bytes of the address, the first of them weighing least; `word` is 0 to 7. */
  addressWord(row: number, word: number): number {
    return this.#word(row, word);
  }

  /** The address of a row, as a view of it. */
  addressBytes(row: number): Uint8Array {
    const at = this.#at(row) * 4;
    return this.#chunk(row).bytes.subarray(at, at + 32);
  }

  address(row: number): string {
    return encodeBase58(this.addressBytes(row));
  }

  /** A copy of what the row says, but that long data are the very array that is kept. */
  account(row: number): ChainAccount | null {
    const { words, longs } = this.#chunk(row);
    const at = this.#at(row);
    const flags = words[at + flagsWord] ?? 0;
    if ((flags & liveFlag) === 0) return null;
    const length = words[at + lengthWord] ?? 0;
    const bytes = this.dataBytes(row);
    const start = this.dataStart(row);
    return {
      lamports: longs[(at + lamportsWord) >> 1] ?? 0n,
      data: length > blockBytesMax ? bytes : bytes.slice(start, start + length),
      owner: this.programs.name(words[at + programWord] ?? 0),
      executable: (flags & executableFlag) !== 0,
      rentEpoch: longs[(at + rentEpochWord) >> 1] ?? 0n,
    };
  }
}

const noBytes = new Uint8Array();

/** The same bytes without the rest of a larger buffer that they may be a part of. */
function exact(data: Uint8Array): Uint8Array {
  return data.byteLength === data.buffer.byteLength ? data : data.slice();
}
