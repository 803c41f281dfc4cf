import { isTokenAccountAt } from "@sluice/wire/accounts/token";
import { decodeAddress } from "@sluice/wire/base58";
import { type Hash64, hashBytes, hashNumber, isTokenProgram, tokenAmountOffset } from "../model/index.ts";
import type { AccountRows } from "./account-rows.ts";
import { LargestRows, type Ranking } from "./largest-rows.ts";
import { PostingTable } from "./posting-table.ts";

/** A condition on an account's data. */
export type AccountFilter =
  | { readonly kind: "dataSize"; readonly size: bigint }
  | { readonly kind: "memcmp"; readonly offset: bigint; readonly bytes: Uint8Array }
  | { readonly kind: "tokenAccountState" };

/** The data of an account as `length` bytes from `start` on, so that no view need be made of a row. */
function holds(filter: AccountFilter, bytes: Uint8Array, start: number, length: number): boolean {
  if (filter.kind === "dataSize") return BigInt(length) === filter.size;
  if (filter.kind === "tokenAccountState") return isTokenAccountAt(bytes, start, length);
  if (filter.offset + BigInt(filter.bytes.length) > BigInt(length)) return false;
  // The sum is at most the length of an account, so that the offset is exact.
  const first = start + Number(filter.offset);
  const wanted = filter.bytes;
  for (let at = 0; at < wanted.length; at += 1) if (bytes[first + at] !== wanted[at]) return false;
  return true;
}

/** Whether every filter holds for the `length` bytes from `start` on. */
export function passesFiltersAt(
  filters: readonly AccountFilter[],
  bytes: Uint8Array,
  start: number,
  length: number,
): boolean {
  for (const filter of filters) if (!holds(filter, bytes, start, length)) return false;
  return true;
}

export function passesFilters(filters: readonly AccountFilter[], data: Uint8Array): boolean {
  return passesFiltersAt(filters, data, 0, data.length);
}

/** Shapes remembered as having been asked once. */
const askedMax = 64;

/** The indexed part of an account's data: bytes at an offset, or their length. */
export type Shape = { readonly offset: number; readonly length: number } | "size";

interface ShapeIndex {
  readonly program: number;
  readonly shape: Shape;
  readonly table: PostingTable;
}

/**
 * Indexes that queries bring about: of one program, by the bytes at one place or by the length of data. One is built
 * when its shape is asked for the second time, so that shapes that never come again cost a scan and not an index.
 */
class ShapeIndexes {
  readonly #options: { readonly shapesMax: number };
  readonly #rows: AccountRows;
  /** Least lately asked first. */
  readonly #indexes = new Map<string, ShapeIndex>();
  readonly #ofProgram = new Map<number, ShapeIndex[]>();
  readonly #asked = new Set<string>();
  readonly #hash: Hash64 = { a: 0, b: 0 };

  constructor(options: { readonly shapesMax: number }, rows: AccountRows) {
    this.#options = options;
    this.#rows = rows;
  }

  /** The index of a shape of a program; null when it is asked for the first time. `all` are the program's rows. */
  ask(program: number, shape: Shape, all: () => Iterable<number>): PostingTable | null {
    const key = `${program}:${shape === "size" ? shape : `${shape.offset}+${shape.length}`}`;
    const known = this.#indexes.get(key);
    if (known !== undefined) {
      this.#indexes.delete(key);
      this.#indexes.set(key, known);
      return known.table;
    }
    if (!this.#asked.delete(key)) {
      this.#asked.add(key);
      for (const oldest of this.#asked) if (this.#asked.size > askedMax) this.#asked.delete(oldest);
      return null;
    }
    const index: ShapeIndex = { program, shape, table: new PostingTable() };
    for (const row of all()) this.#add(index, row);
    for (const [oldest, dropped] of this.#indexes)
      if (this.#indexes.size >= this.#options.shapesMax) this.#drop(oldest, dropped);
    this.#indexes.set(key, index);
    this.#ofProgram.set(program, [...(this.#ofProgram.get(program) ?? []), index]);
    return index.table;
  }

  #drop(key: string, dropped: ShapeIndex): void {
    this.#indexes.delete(key);
    const kept = (this.#ofProgram.get(dropped.program) ?? []).filter((index) => index !== dropped);
    if (kept.length === 0) this.#ofProgram.delete(dropped.program);
    else this.#ofProgram.set(dropped.program, kept);
  }

  add(row: number): void {
    for (const index of this.#ofProgram.get(this.#rows.program(row)) ?? []) this.#add(index, row);
  }

  /** Takes a row out, before it is changed. */
  remove(row: number): void {
    for (const index of this.#ofProgram.get(this.#rows.program(row)) ?? []) index.table.remove(row);
  }

  #add({ shape, table }: ShapeIndex, row: number): void {
    const length = this.#rows.dataLength(row);
    if (shape === "size") hashNumber(length, this.#hash);
    else if (shape.offset + shape.length > length) return;
    else hashBytes(this.#rows.dataBytes(row), this.#rows.dataStart(row) + shape.offset, shape.length, this.#hash);
    table.add(row, this.#hash);
  }
}

export interface IndexOptions {
  /** Rows that are looked through rather than indexed. */
  readonly scanRowsMax: number;
  /** Mints whose largest holders are kept in order; the one that was asked least lately goes. */
  readonly rankedMintsMax: number;
  /** Rows kept as candidates for the largest of each. */
  readonly candidatesMax: number;
  /** Indexes that queries bring about; the one that was asked least lately goes. */
  readonly shapesMax: number;
}

/** To look through 4,096 rows takes half a millisecond. */
export const indexOptions: IndexOptions = {
  scanRowsMax: 4_096,
  rankedMintsMax: 16,
  candidatesMax: 4_096,
  shapesMax: 16,
};

/** Longest data of an account. Source: MAX_PERMITTED_DATA_LENGTH. */
const dataBytesMax = 10_485_760n;
const keyBytes = 32;
/** Where token accounts of both programs have the keys by which they are found. Source: SPL Token state, Account. */
const mintOffset = 0;
const ownerOffset = 32;
const delegateOffset = 76;

/** Rows that may be what was asked for: a list of a table. The reader checks each. */
export interface Candidates {
  readonly table: PostingTable;
  readonly first: number;
  readonly count: number;
}

interface RankedMint {
  readonly program: string;
  readonly mint: Uint8Array;
  readonly rows: LargestRows;
}

/**
 * Rows by program, rows of token programs by the bytes that are the mint, owner and delegate of a token account,
 * whatever is in them, and what `ShapeIndexes` adds. All versions that are kept are in every index: a reader checks
 * which of them he sees.
 */
export class AccountIndexes {
  readonly #options: IndexOptions;
  readonly #rows: AccountRows;
  readonly #byProgram = new PostingTable();
  readonly #keys: readonly { readonly offset: number; readonly table: PostingTable }[] = [
    { offset: mintOffset, table: new PostingTable() },
    { offset: ownerOffset, table: new PostingTable() },
    { offset: delegateOffset, table: new PostingTable() },
  ];
  readonly #shapes: ShapeIndexes;
  /** By program and mint; least lately asked first. */
  readonly #ranked = new Map<string, RankedMint>();
  readonly #hash: Hash64 = { a: 0, b: 0 };

  constructor(options: IndexOptions, rows: AccountRows) {
    this.#options = options;
    this.#rows = rows;
    this.#shapes = new ShapeIndexes(options, rows);
  }

  add(row: number): void {
    const rows = this.#rows;
    const program = rows.program(row);
    hashNumber(program, this.#hash);
    this.#byProgram.add(row, this.#hash);
    if (isTokenProgram(rows.programs.name(program))) {
      const bytes = rows.dataBytes(row);
      const start = rows.dataStart(row);
      const length = rows.dataLength(row);
      for (const { offset, table } of this.#keys) {
        if (offset + keyBytes > length || (offset === delegateOffset && isZero(bytes, start + offset))) continue;
        hashBytes(bytes, start + offset, keyBytes, this.#hash);
        table.add(row, this.#hash);
      }
      for (const { rows: ranked } of this.#ranked.values()) ranked.add(row);
    }
    this.#shapes.add(row);
  }

  /** Takes a row out, before it is changed. */
  remove(row: number): void {
    this.#byProgram.remove(row);
    for (const { table } of this.#keys) table.remove(row);
    for (const { rows: ranked } of this.#ranked.values()) ranked.remove(row);
    this.#shapes.remove(row);
  }

  ofProgram(program: string): Candidates {
    const number = this.#rows.programs.number(program);
    if (number === undefined) return { table: this.#byProgram, first: 0, count: 0 };
    hashNumber(number, this.#hash);
    return this.#candidates(this.#byProgram);
  }

  #candidates(table: PostingTable): Candidates {
    return { table, first: table.first(this.#hash), count: table.count(this.#hash) };
  }

  /** The shortest list that holds every account of the program that passes the filters. */
  candidates(program: string, filters: readonly AccountFilter[]): Candidates {
    let best = this.ofProgram(program);
    if (isTokenProgram(program)) best = this.#byKeys(filters, best);
    const number = this.#rows.programs.number(program);
    for (const filter of filters) {
      if (number === undefined || best.count <= this.#options.scanRowsMax) break;
      const shape = shapeOf(filter);
      if (shape === null || (isTokenProgram(program) && coversKey(filter))) continue;
      const table = this.#shapes.ask(number, shape, () => this.rowsOf(this.ofProgram(program)));
      if (table === null) continue;
      if (filter.kind === "memcmp") hashBytes(filter.bytes, 0, filter.bytes.length, this.#hash);
      else if (filter.kind === "dataSize") hashNumber(Number(filter.size), this.#hash);
      const found = this.#candidates(table);
      if (found.count < best.count) best = found;
    }
    return best;
  }

  #byKeys(filters: readonly AccountFilter[], all: Candidates): Candidates {
    let best = all;
    for (const filter of filters) {
      if (filter.kind !== "memcmp") continue;
      for (const { offset, table } of this.#keys) {
        const within = offset - Number(filter.offset);
        if (!covers(filter, offset) || (offset === delegateOffset && isZero(filter.bytes, within))) continue;
        hashBytes(filter.bytes, within, keyBytes, this.#hash);
        const found = this.#candidates(table);
        if (found.count < best.count) best = found;
      }
    }
    return best;
  }

  *rowsOf({ table, first }: Candidates): Generator<number> {
    for (let row = first; row !== 0; row = table.next(row)) yield row;
  }

  /** Rows of a mint of a program, and what puts them in order: token accounts that hold something. */
  holders(program: string, mint: string): { candidates: Candidates; ranking: Ranking; ranked: LargestRows | null } {
    const bytes = decodeAddress(mint) ?? new Uint8Array(keyBytes);
    const candidates = this.#byKeys([{ kind: "memcmp", offset: 0n, bytes }], this.ofProgram(program));
    const ranking = holderRanking(this.#rows, program, bytes);
    if (candidates.count <= this.#options.scanRowsMax) return { candidates, ranking, ranked: null };
    const key = `${program}:${mint}`;
    const known = this.#ranked.get(key);
    if (known === undefined) {
      for (const oldest of this.#ranked.keys())
        if (this.#ranked.size >= this.#options.rankedMintsMax) this.#ranked.delete(oldest);
    }
    const entry = known ?? { program, mint: bytes, rows: new LargestRows(this.#options, this.#rows, ranking) };
    if (known === undefined) entry.rows.build(this.rowsOf(candidates));
    this.#ranked.delete(key);
    this.#ranked.set(key, entry);
    return { candidates, ranking, ranked: entry.rows };
  }
}

function isZero(bytes: Uint8Array, start: number): boolean {
  for (let at = start; at < start + keyBytes; at += 1) if (bytes[at] !== 0) return false;
  return true;
}

function covers(filter: AccountFilter, offset: number): boolean {
  if (filter.kind !== "memcmp" || filter.offset > BigInt(offset)) return false;
  return filter.offset + BigInt(filter.bytes.length) >= BigInt(offset + keyBytes);
}

/** Whether the filter asks for a key of token accounts, which has its own index. */
function coversKey(filter: AccountFilter): boolean {
  return covers(filter, mintOffset) || covers(filter, ownerOffset);
}

function shapeOf(filter: AccountFilter): Shape | null {
  if (filter.kind === "dataSize") return filter.size > dataBytesMax ? null : "size";
  if (filter.kind !== "memcmp" || filter.bytes.length === 0 || filter.offset > dataBytesMax) return null;
  return { offset: Number(filter.offset), length: filter.bytes.length };
}

function holderRanking(rows: AccountRows, program: string, mint: Uint8Array): Ranking {
  const word = (row: number, offset: number): number => {
    const bytes = rows.dataBytes(row);
    const at = rows.dataStart(row) + tokenAmountOffset + offset;
    return (
      ((bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24)) >>>
      0
    );
  };
  return {
    counts(row) {
      const bytes = rows.dataBytes(row);
      const start = rows.dataStart(row);
      if (rows.programs.name(rows.program(row)) !== program) return false;
      if (!isTokenAccountAt(bytes, start, rows.dataLength(row))) return false;
      for (let at = 0; at < keyBytes; at += 1) if (bytes[start + at] !== mint[at]) return false;
      return word(row, 0) !== 0 || word(row, 4) !== 0;
    },
    high: (row) => word(row, 4),
    low: (row) => word(row, 0),
  };
}
