/** Writes little-endian fields one after another: the form of the chain's fixed layouts. */
export class ByteWriter {
  readonly #parts: Uint8Array[] = [];

  u8(value: number): this {
    this.#parts.push(Uint8Array.of(value));
    return this;
  }

  u16(value: number): this {
    const part = new Uint8Array(2);
    new DataView(part.buffer).setUint16(0, value, true);
    this.#parts.push(part);
    return this;
  }

  u32(value: number): this {
    const part = new Uint8Array(4);
    new DataView(part.buffer).setUint32(0, value, true);
    this.#parts.push(part);
    return this;
  }

  u64(value: bigint): this {
    const part = new Uint8Array(8);
    new DataView(part.buffer).setBigUint64(0, value, true);
    this.#parts.push(part);
    return this;
  }

  i64(value: bigint): this {
    return this.u64(BigInt.asUintN(64, value));
  }

  f64(value: number): this {
    const part = new Uint8Array(8);
    new DataView(part.buffer).setFloat64(0, value, true);
    this.#parts.push(part);
    return this;
  }

  bytes(part: Uint8Array): this {
    this.#parts.push(part);
    return this;
  }

  /** All of it, padded with zeros to `length` when that is longer. */
  finish(length = 0): Uint8Array {
    const whole = Buffer.concat(this.#parts);
    const out = new Uint8Array(Math.max(length, whole.length));
    out.set(whole);
    return out;
  }
}
