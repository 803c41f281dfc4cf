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

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  #take(bytes: number): number {
    const at = this.#at;
    if (at + bytes > this.#bytes.length) throw new RangeError("a frame ends inside a field");
    this.#at = at + bytes;
    return at;
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

  /** As many bytes as a u32 says, a view. */
  bytes(): Uint8Array {
    return this.fixed(this.u32());
  }

  /** As many bytes as a u32 says, a copy. */
  copy(): Uint8Array {
    return new Uint8Array(this.bytes());
  }

  /** So many bytes as text of which each byte is a character: a key for maps. */
  name(length: number): string {
    const at = this.#take(length);
    return this.#bytes.toString("latin1", at, at + length);
  }

  text(): string {
    const length = this.u32();
    const at = this.#take(length);
    return this.#bytes.toString("utf8", at, at + length);
  }
}

export interface Frame {
  readonly kind: number;
  readonly reader: FrameReader;
}

/** Cuts a stream of bytes into frames. Holds at most one frame that is not whole yet. */
export class FrameSplitter {
  #parts: Uint8Array[] = [];
  #held = 0;
  /** Bytes that the frame under way needs, or its head while that is not whole. */
  #needed = FRAME_HEAD_BYTES;

  /** The frames that the chunk completes; each is a view that holds until the next call. */
  *push(chunk: Uint8Array): Generator<Frame> {
    this.#parts.push(chunk);
    this.#held += chunk.length;
    if (this.#held < this.#needed) {
      // The chunk is its owner's again after this.
      this.#parts[this.#parts.length - 1] = chunk.slice();
      return;
    }
    const bytes = this.#parts.length === 1 ? chunk : joined(this.#parts, this.#held);
    let at = 0;
    this.#needed = FRAME_HEAD_BYTES;
    while (bytes.length - at >= FRAME_HEAD_BYTES) {
      const length = new DataView(bytes.buffer, bytes.byteOffset + at).getUint32(0, true);
      if (length > FRAME_BYTES_MAX) throw new RangeError(`a frame of ${length} bytes`);
      const start = at + FRAME_HEAD_BYTES;
      if (bytes.length - start < length) {
        this.#needed = FRAME_HEAD_BYTES + length;
        break;
      }
      at = start + length;
      yield { kind: bytes[start - 1] ?? 0, reader: new FrameReader(bytes.subarray(start, at)) };
    }
    this.#held = bytes.length - at;
    this.#parts = this.#held === 0 ? [] : [bytes.slice(at)];
  }
}

function joined(parts: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
