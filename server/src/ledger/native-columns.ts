/**
 * Columns under construction, as ClickHouse's Native format lays them out: little-endian, as every platform of Bun is.
 */

/** Characters kept of a text; longer ones are cut. Method names come from users and may be as long as a body. */
const textLengthMax = 128;
/** Bytes that a text of `textLengthMax` may need: three for a character, two for its length. */
const textBytesMax = textLengthMax * 3 + 2;
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

const grown = (length: number, needed: number): number => Math.max(length * 2, needed);

/** Strings one behind the other, each after its length: a String column, or the keys of a dictionary. */
export class TextColumn {
  #bytes: Uint8Array;
  #length = 0;

  constructor(bytes: number) {
    this.#bytes = new Uint8Array(Math.max(bytes, textBytesMax));
  }

  /** Bytes written. */
  get length(): number {
    return this.#length;
  }

  /** Appends a text, cut to `textLengthMax` characters; a lone surrogate becomes U+FFFD. */
  append(whole: string): void {
    if (typeof whole !== "string") throw new TypeError("a text column takes texts");
    const text = whole.length > textLengthMax ? whole.slice(0, textLengthMax) : whole;
    const start = this.#length;
    if (start + textBytesMax > this.#bytes.length) this.#grow();
    const bytes = this.#bytes;
    const length = text.length;
    if (length < 128) {
      bytes[start] = length;
      let index = 0;
      // Identifiers are ASCII and short: this takes a third of the time of encodeInto.
      for (; index < length; index++) {
        const code = text.charCodeAt(index);
        if (code > 127) break;
        bytes[start + 1 + index] = code;
      }
      if (index === length) {
        this.#length = start + 1 + length;
        return;
      }
    }
    const { written } = encoder.encodeInto(text, bytes.subarray(start + 2));
    bytes[start] = (written & 0x7f) | 0x80;
    bytes[start + 1] = written >> 7;
    this.#length = start + 2 + written;
  }

  /** What was appended, not copied. */
  bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  #grow(): void {
    const bytes = new Uint8Array(grown(this.#bytes.length, this.#length + textBytesMax));
    bytes.set(this.bytes());
    this.#bytes = bytes;
  }
}

/** A copy of a text for the column: a slice of a request's body would keep the whole body in memory. */
function storedText(text: string): string {
  return decoder.decode(encoder.encode(text.slice(0, textLengthMax)));
}

/** A column of few different strings: LowCardinality(String), with its dictionary. */
export class DictionaryColumn {
  readonly #keys = new TextColumn(0);
  readonly #known = new Map<string, number>();
  #indexes: Uint16Array;
  #last = "";
  #lastIndex = -1;

  constructor(rows: number) {
    this.#indexes = new Uint16Array(rows);
  }

  /** Sets the value of a row; answers how many bytes the dictionary has grown by. */
  put(row: number, value: string): number {
    if (this.#lastIndex !== -1 && value === this.#last) {
      this.#indexes[row] = this.#lastIndex;
      return 0;
    }
    const known = this.#known.get(value);
    if (known === undefined) return this.#putNew(row, value);
    this.#last = value;
    this.#lastIndex = known;
    this.#indexes[row] = known;
    return 0;
  }

  resize(rows: number): void {
    const indexes = new Uint16Array(rows);
    indexes.set(this.#indexes);
    this.#indexes = indexes;
  }

  /** The column's bytes: version 1 of the dictionaries, 16-bit indexes, keys of this block alone. */
  pieces(rows: number): Uint8Array[] {
    const indexType = 1n;
    const hasKeys = 1n << 9n;
    const head = new BigUint64Array([1n, indexType | hasKeys, BigInt(this.#known.size)]);
    const count = new BigUint64Array([BigInt(rows)]);
    return [bytesOf(head), this.#keys.bytes(), bytesOf(count), bytesOf(this.#indexes.subarray(0, rows))];
  }

  #putNew(row: number, value: string): number {
    const text = storedText(value);
    const before = this.#keys.length;
    let index = this.#known.get(text);
    if (index === undefined) {
      index = this.#known.size;
      this.#keys.append(text);
      this.#known.set(text, index);
    }
    this.#last = text;
    this.#lastIndex = index;
    this.#indexes[row] = index;
    return this.#keys.length - before;
  }
}

/** A column of UInt64, or of Int64 that is never negative. */
export class CountColumn {
  #words: Uint32Array;

  constructor(rows: number) {
    this.#words = new Uint32Array(rows * 2);
  }

  /** Sets the value of a row: a whole number from 0 to 2^53 - 1; everything else is brought into that range. */
  put(row: number, value: number): void {
    // Comparisons with NaN are false, so this catches it too.
    const whole = value >= 0 ? Math.min(Math.trunc(value), Number.MAX_SAFE_INTEGER) : 0;
    this.#words[row * 2] = whole;
    this.#words[row * 2 + 1] = whole / 2 ** 32;
  }

  resize(rows: number): void {
    const words = new Uint32Array(rows * 2);
    words.set(this.#words);
    this.#words = words;
  }

  pieces(rows: number): Uint8Array[] {
    return [bytesOf(this.#words.subarray(0, rows * 2))];
  }
}

/** The bytes of numbers, not copied. */
export function bytesOf(numbers: ArrayBufferView): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}

/** A column's place in a block: its name and its type as this block carries it. */
export interface NativeColumn {
  readonly name: string;
  readonly type: string;
  readonly pieces: readonly Uint8Array[];
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return Uint8Array.from([...bytes, rest]);
}

function text(value: string): Uint8Array[] {
  const bytes = encoder.encode(value);
  return [varint(bytes.length), bytes];
}

/** One block in ClickHouse's Native format (ClickHouse documentation, Formats, Native). */
export function nativeBlock(columns: readonly NativeColumn[], rows: number): Uint8Array<ArrayBuffer> {
  const pieces = [varint(columns.length), varint(rows)];
  for (const column of columns) pieces.push(...text(column.name), ...text(column.type), ...column.pieces);
  const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.byteLength, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.byteLength;
  }
  return bytes;
}
