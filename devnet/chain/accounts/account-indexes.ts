import { decodeAddress } from "@sluice/wire/base58";
import {
  type Hash64,
  hashBytes,
  hashNumber,
  isTokenAccountAt,
  isTokenProgram,
  TOKEN_AMOUNT_OFFSET,
} from "../model/index.ts";
import type { AccountFilter } from "./account-filter.ts";
import type { AccountRows } from "./account-rows.ts";
import { LargestRows, type Ranking } from "./largest-rows.ts";
import { PostingTable } from "./posting-table.ts";
import { type Shape, ShapeIndexes } from "./shape-indexes.ts";

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
export const INDEX_OPTIONS: IndexOptions = {
  scanRowsMax: 4_096,
  rankedMintsMax: 16,
  candidatesMax: 4_096,
  shapesMax: 16,
};

/** Longest data of an account. Source: MAX_PERMITTED_DATA_LENGTH. */
const DATA_BYTES_MAX = 10_485_760n;
const KEY_BYTES = 32;
/** Where token accounts of both programs have the keys by which they are found. Source: SPL Token state, Account. */
const MINT = 0;
const OWNER = 32;
const DELEGATE = 76;

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
 * Rows by program, rows of token programs by the bytes that are the mint, owner and delegate of a token account, whatever
 * is in them, and what `ShapeIndexes` adds. All versions that are kept are in every index: a reader checks which of them
 * he sees.
 */
export class AccountIndexes {
  readonly #options: IndexOptions;
  readonly #rows: AccountRows;
  readonly #byProgram = new PostingTable();
  readonly #keys: readonly { readonly offset: number; readonly table: PostingTable }[] = [
    { offset: MINT, table: new PostingTable() },
    { offset: OWNER, table: new PostingTable() },
    { offset: DELEGATE, table: new PostingTable() },
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
        if (offset + KEY_BYTES > length || (offset === DELEGATE && isZero(bytes, start + offset))) continue;
        hashBytes(bytes, start + offset, KEY_BYTES, this.#hash);
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
        if (!covers(filter, offset) || (offset === DELEGATE && isZero(filter.bytes, within))) continue;
        hashBytes(filter.bytes, within, KEY_BYTES, this.#hash);
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
    const bytes = decodeAddress(mint) ?? new Uint8Array(KEY_BYTES);
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
  for (let at = start; at < start + KEY_BYTES; at += 1) if (bytes[at] !== 0) return false;
  return true;
}

function covers(filter: AccountFilter, offset: number): boolean {
  if (filter.kind !== "memcmp" || filter.offset > BigInt(offset)) return false;
  return filter.offset + BigInt(filter.bytes.length) >= BigInt(offset + KEY_BYTES);
}

/** Whether the filter asks for a key of token accounts, which has an index of its own. */
function coversKey(filter: AccountFilter): boolean {
  return covers(filter, MINT) || covers(filter, OWNER);
}

function shapeOf(filter: AccountFilter): Shape | null {
  if (filter.kind === "dataSize") return filter.size > DATA_BYTES_MAX ? null : "size";
  if (filter.kind !== "memcmp" || filter.bytes.length === 0 || filter.offset > DATA_BYTES_MAX) return null;
  return { offset: Number(filter.offset), length: filter.bytes.length };
}

function holderRanking(rows: AccountRows, program: string, mint: Uint8Array): Ranking {
  const word = (row: number, offset: number): number => {
    const bytes = rows.dataBytes(row);
    const at = rows.dataStart(row) + TOKEN_AMOUNT_OFFSET + offset;
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
      for (let at = 0; at < KEY_BYTES; at += 1) if (bytes[start + at] !== mint[at]) return false;
      return word(row, 0) !== 0 || word(row, 4) !== 0;
    },
    high: (row) => word(row, 4),
    low: (row) => word(row, 0),
  };
}
