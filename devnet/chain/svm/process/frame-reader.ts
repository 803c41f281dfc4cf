import { FRAME_HEAD_BYTES } from "./frame-writer.ts";

/** No frame is longer: an account holds 10 MiB at most, and batches are cut far below. */
const FRAME_BYTES_MAX = 64 * 1_024 * 1_024;

/** Reads the fields of one frame in the order in which they were written. What lies beyond its end throws RangeError. */
export class FrameReader {
  readonly #bytes: Buffer;
  readonly #view: DataView;
  #at = 0;

  constructor(frame: Uint8Array) {
    this.#bytes = Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength);
    this.#view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  }

  #take(bytes: number): number {
    const at = this.#at;
    if (at + bytes > this.#bytes.length) throw new RangeError("a frame ends inside a field");
    this.#at = at + bytes;
    return at;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  u8(): number {
    return this.#view.getUint8(this.#take(1));
  }

  u16(): number {
    return this.#view.getUint16(this.#take(2), true);
  }

  u32(): number {
    return this.#view.getUint32(this.#take(4), true);
  }

  u64(): bigint {
    return this.#view.getBigUint64(this.#take(8), true);
  }

  /** A view that holds as long as the frame. */
  fixed(length: number): Uint8Array {
    const at = this.#take(length);
    return this.#bytes.subarray(at, at + length);
  }

  /** As many bytes as a u32 says, a copy. */
  bytes(): Uint8Array {
    const length = this.u32();
    const at = this.#take(length);
    return new Uint8Array(this.#bytes.subarray(at, at + length));
  }

  /** So many bytes as text of which each byte is a character: a key for maps. */
  name(length: number): string {
    const at = this.#take(length);
    return this.#bytes.toString("latin1", at, at + length);
  }

  text(): string {
    const length = this.u32();
    const at = this.#take(length);
    return length === 0 ? "" : this.#bytes.toString("utf8", at, at + length);
  }
}

/** Cuts a stream of bytes into frames. Holds at most one frame that is not whole yet. */
export class FrameSplitter {
  #rest: Uint8Array = new Uint8Array();

  /** The frames that the chunk completes; each is a view of what was pushed. */
  *push(chunk: Uint8Array): Generator<{ readonly kind: number; readonly reader: FrameReader }> {
    let bytes = chunk;
    if (this.#rest.length > 0) {
      bytes = new Uint8Array(this.#rest.length + chunk.length);
      bytes.set(this.#rest);
      bytes.set(chunk, this.#rest.length);
    }
    let at = 0;
    while (bytes.length - at >= FRAME_HEAD_BYTES) {
      const length = new DataView(bytes.buffer, bytes.byteOffset + at).getUint32(0, true);
      if (length > FRAME_BYTES_MAX) throw new RangeError(`a frame of ${length} bytes`);
      const start = at + FRAME_HEAD_BYTES;
      if (bytes.length - start < length) break;
      at = start + length;
      yield { kind: bytes[start - 1] ?? 0, reader: new FrameReader(bytes.subarray(start, at)) };
    }
    this.#rest = at === bytes.length ? new Uint8Array() : bytes.slice(at);
  }
}
