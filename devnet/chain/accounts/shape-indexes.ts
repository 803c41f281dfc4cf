import { type Hash64, hashBytes, hashNumber } from "../model/index.ts";
import type { AccountRows } from "./account-rows.ts";
import { PostingTable } from "./posting-table.ts";

/** Shapes remembered as having been asked once. */
const ASKED_MAX = 64;

/** What of an account's data is indexed: bytes at a place, or how long they are. */
export type Shape = { readonly offset: number; readonly length: number } | "size";

interface ShapeIndex {
  readonly program: number;
  readonly shape: Shape;
  readonly table: PostingTable;
}

/**
 * Indexes that queries bring about: of one program, by the bytes at one place or by the length of data. One is built when
 * its shape is asked for the second time, so that shapes that never come again cost a scan and not an index.
 */
export class ShapeIndexes {
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
      for (const oldest of this.#asked) if (this.#asked.size > ASKED_MAX) this.#asked.delete(oldest);
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
