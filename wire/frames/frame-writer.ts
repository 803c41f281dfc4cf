const INITIAL_BYTES = 64 * 1_024;
/** A buffer that one large account made grow is not kept. */
const KEPT_BYTES = 4 * 1_024 * 1_024;
const encoder = new TextEncoder();

/** Bytes of the head: the length of what follows it, a u32, and the kind of the frame. */
export const FRAME_HEAD_BYTES = 5;

/** Writes frames one behind the other, little-endian, into a buffer that grows and is used again. */
export class FrameWriter {
  #bytes = new Uint8Array(INITIAL_BYTES);
  #view = new DataView(this.#bytes.buffer);
  /** Where the frame under way begins, which is where the last whole one ends. */
  #start = 0;
  #at = 0;

  /** Bytes written since the last `take`. */
  get length(): number {
    return this.#at;
  }

  /** Begins a frame. One that was begun and not ended, since what was to be written could not be, is gone. */
  begin(kind: number): this {
    this.#at = this.#start;
    this.#room(4);
    return this.u8(kind);
  }

  end(): this {
    this.#view.setUint32(this.#start, this.#at - this.#start - FRAME_HEAD_BYTES, true);
    this.#start = this.#at;
    return this;
  }

  /** The frames that were ended since the last `take`, a copy; the writer begins anew. */
  take(): Uint8Array {
    const taken = this.#bytes.slice(0, this.#start);
    this.#start = 0;
    this.#at = 0;
    if (this.#bytes.length > KEPT_BYTES) {
      this.#bytes = new Uint8Array(INITIAL_BYTES);
      this.#view = new DataView(this.#bytes.buffer);
    }
    return taken;
  }

  #room(bytes: number): number {
    const at = this.#at;
    this.#at = at + bytes;
    if (this.#at > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(this.#at, this.#bytes.length * 2));
      grown.set(this.#bytes.subarray(0, at));
      this.#bytes = grown;
      this.#view = new DataView(grown.buffer);
    }
    return at;
  }

  u8(value: number): this {
    const at = this.#room(1);
    this.#bytes[at] = value;
    return this;
  }

  u16(value: number): this {
    const at = this.#room(2);
    this.#view.setUint16(at, value, true);
    return this;
  }

  u32(value: number): this {
    const at = this.#room(4);
    this.#view.setUint32(at, value, true);
    return this;
  }

  u64(value: bigint): this {
    const at = this.#room(8);
    this.#view.setBigUint64(at, value, true);
    return this;
  }

  /** Bytes whose number the reader knows. */
  fixed(bytes: Uint8Array): this {
    const at = this.#room(bytes.length);
    this.#bytes.set(bytes, at);
    return this;
  }

  /** Their number as a u32, then the bytes. */
  bytes(bytes: Uint8Array): this {
    return this.u32(bytes.length).fixed(bytes);
  }

  text(text: string): this {
    return this.bytes(encoder.encode(text));
  }
}
