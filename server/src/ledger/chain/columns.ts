import { bytesOf, type NativeColumn } from "../native-columns.ts";

/**
 * Columns that grow as values are added, laid out as ClickHouse's Native format has them: little-endian, as every
 * platform of Bun is. They are emptied and filled again, so that a block of thousands of rows costs no objects.
 */

const rowsFirst = 1_024;
/** Bytes of the length before a string of less than two million bytes. */
const lengthBytesMax = 5;
const encoder = new TextEncoder();

/** What a column of a table is to its rows, whatever its type. */
export interface Column {
  readonly rows: number;
  /** Bytes that its values take. */
  readonly bytes: number;
  clear(): void;
  native(name: string): NativeColumn;
}

type NumberArray = Uint8Array | Uint16Array | Uint32Array;

/** Whole numbers that a double holds. */
export class NumberColumn implements Column {
  readonly #type: string;
  #values: NumberArray;
  #rows = 0;

  constructor(type: "UInt8" | "UInt16" | "UInt32" | "Bool") {
    this.#type = type;
    const Values = type === "UInt16" ? Uint16Array : type === "UInt32" ? Uint32Array : Uint8Array;
    this.#values = new Values(rowsFirst);
  }

  get rows(): number {
    return this.#rows;
  }

  get bytes(): number {
    return this.#rows * this.#values.BYTES_PER_ELEMENT;
  }

  add(value: number): void {
    if (this.#rows === this.#values.length) this.#values = longer(this.#values);
    this.#values[this.#rows++] = value;
  }

  clear(): void {
    this.#rows = 0;
  }

  values(): Uint8Array {
    return bytesOf(this.#values.subarray(0, this.#rows));
  }

  native(name: string): NativeColumn {
    return { name, type: this.#type, pieces: [this.values()] };
  }
}

/** Whole numbers of 64 bits. */
export class BigColumn implements Column {
  readonly #type: "UInt64" | "Int64";
  #values = new BigUint64Array(rowsFirst);
  #rows = 0;

  constructor(type: "UInt64" | "Int64") {
    this.#type = type;
  }

  get rows(): number {
    return this.#rows;
  }

  get bytes(): number {
    return this.#rows * 8;
  }

  /** A negative number is stored as its two's complement. */
  add(value: bigint): void {
    if (this.#rows === this.#values.length) this.#values = longer(this.#values);
    this.#values[this.#rows++] = value;
  }

  clear(): void {
    this.#rows = 0;
  }

  values(): Uint8Array {
    return bytesOf(this.#values.subarray(0, this.#rows));
  }

  native(name: string): NativeColumn {
    return { name, type: this.#type, pieces: [this.values()] };
  }
}

/** A column of which rows may be null. */
export class NullableColumn<Value extends number | bigint> implements Column {
  readonly #type: string;
  readonly #nulls = new NumberColumn("UInt8");
  readonly #values: NumberColumn | BigColumn;
  readonly #add: (value: Value | null) => void;

  private constructor(
    type: string,
    { values, add }: { values: NumberColumn | BigColumn; add: (value: Value | null) => void },
  ) {
    this.#type = `Nullable(${type})`;
    this.#values = values;
    this.#add = add;
  }

  static ofNumbers(type: "UInt8" | "UInt16"): NullableColumn<number> {
    const values = new NumberColumn(type);
    return new NullableColumn(type, { values, add: (value) => values.add(value ?? 0) });
  }

  static ofBigs(): NullableColumn<bigint> {
    const values = new BigColumn("UInt64");
    return new NullableColumn("UInt64", { values, add: (value) => values.add(value ?? 0n) });
  }

  get rows(): number {
    return this.#nulls.rows;
  }

  get bytes(): number {
    return this.#nulls.bytes + this.#values.bytes;
  }

  add(value: Value | null): void {
    this.#nulls.add(value === null ? 1 : 0);
    this.#add(value);
  }

  clear(): void {
    this.#nulls.clear();
    this.#values.clear();
  }

  native(name: string): NativeColumn {
    return { name, type: this.#type, pieces: [this.#nulls.values(), this.#values.values()] };
  }
}

/** Strings one behind the other, each after its length. */
export class TextColumn implements Column {
  #bytes = new Uint8Array(rowsFirst * 16);
  #length = 0;
  #rows = 0;

  get rows(): number {
    return this.#rows;
  }

  get bytes(): number {
    return this.#length;
  }

  addBytes(value: Uint8Array): void {
    this.#reserve(value.length + lengthBytesMax);
    this.#putLength(value.length);
    this.#bytes.set(value, this.#length);
    this.#length += value.length;
    this.#rows++;
  }

  /** Base58 and names are ASCII: this takes a third of the time of encodeInto. A lone surrogate becomes U+FFFD. */
  add(text: string): void {
    const { length } = text;
    if (length > 127) {
      this.addBytes(encoder.encode(text));
      return;
    }
    this.#reserve(length + 1);
    const bytes = this.#bytes;
    const start = this.#length;
    bytes[start] = length;
    for (let index = 0; index < length; index++) {
      const code = text.charCodeAt(index);
      if (code > 127) {
        this.addBytes(encoder.encode(text));
        return;
      }
      bytes[start + 1 + index] = code;
    }
    this.#length = start + 1 + length;
    this.#rows++;
  }

  clear(): void {
    this.#length = 0;
    this.#rows = 0;
  }

  values(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  native(name: string): NativeColumn {
    return { name, type: "String", pieces: [this.values()] };
  }

  #putLength(length: number): void {
    let rest = length;
    for (; rest > 127; rest = Math.floor(rest / 128)) this.#bytes[this.#length++] = (rest % 128) | 128;
    this.#bytes[this.#length++] = rest;
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return;
    const bytes = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + count));
    bytes.set(this.values());
    this.#bytes = bytes;
  }
}

/** Lists of strings: how many there are up to the end of each row, then all of them. */
export class TextsColumn implements Column {
  readonly #ends = new BigColumn("UInt64");
  readonly #texts = new TextColumn();

  get rows(): number {
    return this.#ends.rows;
  }

  get bytes(): number {
    return this.#ends.bytes + this.#texts.bytes;
  }

  /** Adds to the list of the row that `end` ends. */
  push(text: string): void {
    this.#texts.add(text);
  }

  end(): void {
    this.#ends.add(BigInt(this.#texts.rows));
  }

  clear(): void {
    this.#ends.clear();
    this.#texts.clear();
  }

  native(name: string): NativeColumn {
    return { name, type: "Array(String)", pieces: [this.#ends.values(), this.#texts.values()] };
  }
}

/** Few different strings: the number of each row's string, and the strings. */
export class WordColumn implements Column {
  readonly #indexes = new NumberColumn("UInt32");
  readonly #known = new Map<string, number>();
  readonly #words = new TextColumn();

  get rows(): number {
    return this.#indexes.rows;
  }

  get bytes(): number {
    return this.#indexes.bytes + this.#words.bytes;
  }

  add(word: string): void {
    let index = this.#known.get(word);
    if (index === undefined) {
      index = this.#known.size;
      this.#known.set(word, index);
      this.#words.add(word);
    }
    this.#indexes.add(index);
  }

  clear(): void {
    this.#indexes.clear();
    this.#words.clear();
    this.#known.clear();
  }

  native(name: string): NativeColumn {
    return wordColumn(name, { words: this.#words, indexes: this.#indexes.values(), rows: this.rows });
  }
}

/** Version 1 of dictionaries, 32-bit indexes, and keys of this block alone. */
function wordColumn(
  name: string,
  { words, indexes, rows }: { words: TextColumn; indexes: Uint8Array; rows: number },
): NativeColumn {
  const indexType = 2n;
  const hasKeys = 1n << 9n;
  const head = new BigUint64Array([1n, indexType | hasKeys, BigInt(words.rows)]);
  const pieces = [bytesOf(head), words.values(), bytesOf(new BigUint64Array([BigInt(rows)])), indexes];
  return { name, type: "LowCardinality(String)", pieces };
}

function longer<Values extends NumberArray | BigUint64Array>(values: Values): Values {
  const Same = values.constructor as new (length: number) => Values;
  const more = new Same(values.length * 2);
  if (more instanceof BigUint64Array && values instanceof BigUint64Array) more.set(values);
  else if (!(more instanceof BigUint64Array) && !(values instanceof BigUint64Array)) more.set(values);
  return more;
}

/** A run of rows that have the values of one block. */
export interface Run<Value> {
  readonly rows: number;
  readonly value: Value;
}

/** Columns whose values change with the block alone are made of its runs, when all rows are there. */
export const runs = {
  bigs(runsOf: readonly Run<bigint>[], { name, type }: { name: string; type: string }): NativeColumn {
    const values = new BigUint64Array(sum(runsOf));
    let at = 0;
    for (const { rows, value } of runsOf) {
      values.fill(value, at, at + rows);
      at += rows;
    }
    return { name, type, pieces: [bytesOf(values)] };
  },

  /** Seconds from 1970 on, or null. */
  times(runsOf: readonly Run<number | null>[], name: string): NativeColumn {
    const count = sum(runsOf);
    const nulls = new Uint8Array(count);
    const values = new Uint32Array(count);
    let at = 0;
    for (const { rows, value } of runsOf) {
      nulls.fill(value === null ? 1 : 0, at, at + rows);
      values.fill(value ?? 0, at, at + rows);
      at += rows;
    }
    return { name, type: "Nullable(DateTime('UTC'))", pieces: [nulls, bytesOf(values)] };
  },

  texts(runsOf: readonly Run<string>[], name: string): NativeColumn {
    const encoded = runsOf.map(({ rows, value }) => {
      const one = new TextColumn();
      one.add(value);
      return { rows, one: one.values() };
    });
    const bytes = new Uint8Array(encoded.reduce((all, { rows, one }) => all + rows * one.length, 0));
    let at = 0;
    for (const { rows, one } of encoded) {
      const end = at + rows * one.length;
      if (rows > 0) bytes.set(one, at);
      // What stands is doubled until the run is full.
      for (let filled = one.length; at + filled < end; filled *= 2) {
        bytes.copyWithin(at + filled, at, at + Math.min(filled, end - at - filled));
      }
      at = end;
    }
    return { name, type: "String", pieces: [bytes] };
  },

  word(value: string, { name, rows }: { name: string; rows: number }): NativeColumn {
    const words = new TextColumn();
    words.add(value);
    return wordColumn(name, { words, indexes: new Uint8Array(rows * 4), rows });
  },
} as const;

const sum = (runsOf: readonly Run<unknown>[]): number => runsOf.reduce((rows, run) => rows + run.rows, 0);
