import { encodeBase58 } from "@sluice/wire/base58";

/** Thrown inside a parser when bytes do not fit its layout; the dispatchers turn it into the unparsed form. */
export class Unparsable extends Error {
  override readonly name = "Unparsable";
}

const TEXT = new TextDecoder("utf-8", { fatal: true });

/** Reads little-endian fields one after another and throws `Unparsable` past the end. */
export class ByteCursor {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #offset: number;

  constructor(bytes: Uint8Array, offset = 0) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#offset = offset;
  }

  get offset(): number {
    return this.#offset;
  }

  get remaining(): number {
    return this.#bytes.length - this.#offset;
  }

  #advance(length: number): number {
    if (length > this.remaining) throw new Unparsable("The data end too early.");
    const at = this.#offset;
    this.#offset += length;
    return at;
  }

  u8(): number {
    return this.#view.getUint8(this.#advance(1));
  }

  u16(): number {
    return this.#view.getUint16(this.#advance(2), true);
  }

  i16(): number {
    return this.#view.getInt16(this.#advance(2), true);
  }

  u32(): number {
    return this.#view.getUint32(this.#advance(4), true);
  }

  u64(): bigint {
    return this.#view.getBigUint64(this.#advance(8), true);
  }

  i64(): bigint {
    return this.#view.getBigInt64(this.#advance(8), true);
  }

  f64(): number {
    return this.#view.getFloat64(this.#advance(8), true);
  }

  /** One byte that is 0 or 1. */
  flag(): boolean {
    const byte = this.u8();
    if (byte > 1) throw new Unparsable("A flag is neither 0 nor 1.");
    return byte === 1;
  }

  bytes(length: number): Uint8Array {
    const at = this.#advance(length);
    return this.#bytes.subarray(at, at + length);
  }

  rest(): Uint8Array {
    return this.bytes(this.remaining);
  }

  /** 32 bytes as base58 text: an address or a hash. */
  address(): string {
    return encodeBase58(this.bytes(32));
  }

  /** An address of which zeros mean that there is none. */
  addressOrZeros(): string | null {
    const bytes = this.bytes(32);
    return bytes.every((byte) => byte === 0) ? null : encodeBase58(bytes);
  }

  /** A u32 tag and 32 bytes that are always there. */
  fixedOptionalAddress(): string | null {
    const tag = this.u32();
    if (tag > 1) throw new Unparsable("An option's tag is neither 0 nor 1.");
    const address = this.address();
    return tag === 1 ? address : null;
  }

  /** A one-byte tag, then the value when the tag is 1. */
  optional<T>(read: () => T): T | null {
    return this.flag() ? read() : null;
  }

  /** A count that fits what is left when each item takes at least `itemLength` bytes, and that many items. */
  list<T>(count: number | bigint, itemLength: number, read: () => T): T[] {
    if (BigInt(count) * BigInt(itemLength) > BigInt(this.remaining)) throw new Unparsable("A list is cut short.");
    return Array.from({ length: Number(count) }, read);
  }

  /** Text of `length` bytes, which must be UTF-8. */
  text(length: number | bigint): string {
    if (BigInt(length) > BigInt(this.remaining)) throw new Unparsable("A text is cut short.");
    try {
      return TEXT.decode(this.bytes(Number(length)));
    } catch {
      throw new Unparsable("A text is not UTF-8.");
    }
  }

  /** Refuses bytes that no field has claimed. */
  end(): void {
    if (this.remaining > 0) throw new Unparsable("Bytes are left over.");
  }
}
