import { MalformedBytes } from "@sluice/wire/bytes";

/**
 * Protobuf fields over bytes, without objects between: a block of thousands of transactions passes here on its way into
 * the log and to each of its readers. Source: protobuf's encoding guide (proto3).
 */

const utf8 = new TextEncoder();

/** Numbers below this are exact in a double and take the short way. */
const exactMax = 2 ** 53;
const exactMaxBig = BigInt(exactMax);

const wireTypes = { varint: 0, fixed64: 1, sized: 2, fixed32: 5 } as const;

/**
 * Writes a message from its end to its start, so that the length of what is inside is known when its prefix is written:
 * fields in descending order, items of a list from the last to the first, and what is inside before `close`. A field
 * with its default value is left out, as proto3 does, except by methods that say otherwise.
 */
export class BackwardWriter {
  #bytes: Uint8Array;
  #view: DataView;
  /** Where the first byte written so far stands. */
  #at: number;

  /** @param capacity - bytes to begin with; the buffer grows beyond it */
  constructor(capacity: number) {
    this.#bytes = new Uint8Array(capacity);
    this.#view = new DataView(this.#bytes.buffer);
    this.#at = capacity;
  }

  /** Makes room for `count` bytes before what stands, and gives where they begin. */
  #room(count: number): number {
    if (count > this.#at) {
      const written = this.#bytes.length - this.#at;
      const grown = new Uint8Array(Math.max(written + count, this.#bytes.length * 2));
      grown.set(this.#bytes.subarray(this.#at), grown.length - written);
      this.#at = grown.length - written;
      this.#bytes = grown;
      this.#view = new DataView(grown.buffer);
    }
    this.#at -= count;
    return this.#at;
  }

  /** How many bytes stand; `close` takes it as the end of what is inside a field. */
  get length(): number {
    return this.#bytes.length - this.#at;
  }

  /** A varint without a tag, from 0 to below 2^53. */
  varint(value: number): void {
    if (value < 0x80) {
      const at = this.#room(1);
      this.#bytes[at] = value;
      return;
    }
    let size = 1;
    for (let rest = Math.floor(value / 0x80); rest > 0; rest = Math.floor(rest / 0x80)) size++;
    let at = this.#room(size);
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[at++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[at] = rest;
  }

  /** A varint without a tag, as 64 bits: a negative value in two's complement. */
  varint64(value: bigint): void {
    if (value >= 0n && value < exactMaxBig) {
      this.varint(Number(value));
      return;
    }
    const whole = BigInt.asUintN(64, value);
    const high = Number(whole >> 49n);
    let low = Number(whole & 0x1_ffff_ffff_ffffn);
    // Seven bytes of seven bits each, then the rest.
    this.varint(high);
    const at = this.#room(7);
    for (let byte = 0; byte < 7; byte++) {
      this.#bytes[at + byte] = (low % 0x80) | 0x80;
      low = Math.floor(low / 0x80);
    }
  }

  #tag(field: number, type: number): void {
    this.varint(field * 8 + type);
  }

  u32(field: number, value: number): void {
    if (value !== 0) this.explicitU32(field, value);
  }

  /** Also 0: a field that is `optional`. */
  explicitU32(field: number, value: number): void {
    this.varint(value);
    this.#tag(field, wireTypes.varint);
  }

  u64(field: number, value: bigint): void {
    if (value !== 0n) this.explicitU64(field, value);
  }

  /** Also 0: a field that is `optional`. */
  explicitU64(field: number, value: bigint): void {
    this.varint64(value);
    this.#tag(field, wireTypes.varint);
  }

  flag(field: number, value: boolean): void {
    if (value) this.explicitU32(field, 1);
  }

  f64(field: number, value: number): void {
    if (value === 0) return;
    const at = this.#room(8);
    this.#view.setFloat64(at, value, true);
    this.#tag(field, wireTypes.fixed64);
  }

  /** Also none: an item of a list. */
  explicitBytes(field: number, value: ArrayLike<number>): void {
    const at = this.#room(value.length);
    this.#bytes.set(value, at);
    this.varint(value.length);
    this.#tag(field, wireTypes.sized);
  }

  bytes(field: number, value: ArrayLike<number>): void {
    if (value.length > 0) this.explicitBytes(field, value);
  }

  /** Also none: an item of a list. */
  explicitText(field: number, value: string): void {
    const { length } = value;
    // ASCII, as almost all texts of a block are, has as many bytes as characters.
    let at = this.#room(length);
    const { read, written } = utf8.encodeInto(value, this.#bytes.subarray(at, at + length));
    let size = written;
    if (read < length || written < length) {
      this.#at += length;
      const encoded = utf8.encode(value);
      at = this.#room(encoded.length);
      this.#bytes.set(encoded, at);
      size = encoded.length;
    }
    this.varint(size);
    this.#tag(field, wireTypes.sized);
  }

  text(field: number, value: string): void {
    if (value !== "") this.explicitText(field, value);
  }

  /** Numbers of a list, packed. */
  packedU64(field: number, values: readonly bigint[]): void {
    if (values.length === 0) return;
    const end = this.length;
    for (let index = values.length - 1; index >= 0; index--) this.varint64(values[index] ?? 0n);
    this.close(field, end);
  }

  /** Fields that were written elsewhere. */
  raw(fields: Uint8Array): void {
    const at = this.#room(fields.length);
    this.#bytes.set(fields, at);
  }

  /** The prefix of a message whose content was written since the length was `end`. */
  close(field: number, end: number): void {
    this.varint(this.length - end);
    this.#tag(field, wireTypes.sized);
  }

  /** What was written, as a copy. */
  finish(): Uint8Array {
    return this.#bytes.slice(this.#at);
  }
}

/**
 * Reads fields one after another. `next` gives the number of the next field, 0 at the end of the message; then the
 * value is read by its kind, or by `skip`. A message inside is read between `enter` and `leave`. What does not fit
 * throws `MalformedBytes`.
 */
export class FieldReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;
  #end: number;
  #type = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#end = bytes.length;
  }

  /** Bytes that were read. */
  get position(): number {
    return this.#at;
  }

  next(): number {
    if (this.#at >= this.#end) return 0;
    const tag = this.#varint();
    const field = Math.floor(tag / 8);
    if (field === 0 || field >= 2 ** 29) throw new MalformedBytes(`no field has the number ${field}`);
    this.#type = tag % 8;
    return field;
  }

  #varint(): number {
    let at = this.#at;
    let value = 0;
    let unit = 1;
    for (let count = 0; count < 10; count++) {
      if (at >= this.#end) throw new MalformedBytes("the bytes end inside a varint");
      const byte = this.#bytes[at++] ?? 0;
      value += (byte & 0x7f) * unit;
      if (byte < 0x80) {
        if (value >= exactMax) throw new MalformedBytes("a varint is too large");
        this.#at = at;
        return value;
      }
      unit *= 0x80;
    }
    throw new MalformedBytes("a varint has more than ten bytes");
  }

  #varint64(): bigint {
    let at = this.#at;
    let low = 0;
    let unit = 1;
    for (let count = 0; count < 7; count++) {
      if (at >= this.#end) throw new MalformedBytes("the bytes end inside a varint");
      const byte = this.#bytes[at++] ?? 0;
      low += (byte & 0x7f) * unit;
      if (byte < 0x80) {
        this.#at = at;
        return BigInt(low);
      }
      unit *= 0x80;
    }
    this.#at = at;
    let high = 0;
    unit = 1;
    for (let count = 0; count < 3; count++) {
      if (at >= this.#end) break;
      const byte = this.#bytes[at++] ?? 0;
      high += (byte & 0x7f) * unit;
      if (byte < 0x80) {
        this.#at = at;
        return BigInt.asUintN(64, (BigInt(high) << 49n) | BigInt(low));
      }
      unit *= 0x80;
    }
    throw new MalformedBytes("a varint is cut short or has more than ten bytes");
  }

  #expect(type: number): void {
    if (this.#type !== type) throw new MalformedBytes(`a field has wire type ${this.#type} where ${type} is expected`);
  }

  #size(): number {
    const size = this.#varint();
    if (size > this.#end - this.#at) throw new MalformedBytes("the bytes end inside a field");
    return size;
  }

  u32(): number {
    this.#expect(wireTypes.varint);
    const value = this.#varint();
    if (value > 0xffff_ffff) throw new MalformedBytes(`${value} is no u32`);
    return value;
  }

  flag(): boolean {
    return this.u64() !== 0n;
  }

  u64(): bigint {
    this.#expect(wireTypes.varint);
    return this.#varint64();
  }

  i64(): bigint {
    return BigInt.asIntN(64, this.u64());
  }

  f64(): number {
    this.#expect(wireTypes.fixed64);
    if (this.#end - this.#at < 8) throw new MalformedBytes("the bytes end inside a double");
    this.#at += 8;
    return this.#view.getFloat64(this.#at - 8, true);
  }

  /** A view, valid as long as the source. */
  bytes(): Uint8Array {
    this.#expect(wireTypes.sized);
    const size = this.#size();
    this.#at += size;
    return this.#bytes.subarray(this.#at - size, this.#at);
  }

  text(): string {
    this.#expect(wireTypes.sized);
    const size = this.#size();
    this.#at += size;
    return Buffer.prototype.toString.call(this.#bytes, "utf8", this.#at - size, this.#at);
  }

  /** Adds the items of a list of numbers, packed or one by one. */
  appendU64(values: bigint[]): void {
    if (this.#type === wireTypes.varint) {
      values.push(this.#varint64());
      return;
    }
    const outer = this.enter();
    while (this.#at < this.#end) values.push(this.#varint64());
    this.leave(outer);
  }

  /** Begins a message inside; what it returns is for `leave`. */
  enter(): number {
    this.#expect(wireTypes.sized);
    const size = this.#size();
    const outer = this.#end;
    this.#end = this.#at + size;
    return outer;
  }

  leave(outer: number): void {
    this.#at = this.#end;
    this.#end = outer;
  }

  /** Steps over a field that nobody reads. */
  skip(): void {
    switch (this.#type) {
      case wireTypes.varint:
        this.#varint64();
        return;
      case wireTypes.sized: {
        const size = this.#size();
        this.#at += size;
        return;
      }
      case wireTypes.fixed64:
      case wireTypes.fixed32: {
        this.#at += this.#type === wireTypes.fixed64 ? 8 : 4;
        if (this.#at > this.#end) throw new MalformedBytes("the bytes end inside a field");
        return;
      }
      default:
        throw new MalformedBytes(`a field has the wire type ${this.#type}`);
    }
  }
}
