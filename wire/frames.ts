import { ByteReader, ByteWriter } from "./bytes.ts";

/**
 * frames: messages between a process and its child: a head of length and kind, then little-endian fields. Fed by svm
 * and the engine's simulation, and feeds them; both ends run on one machine, and nothing here knows the chain.
 */

const initialBytes = 64 * 1_024;
/** A buffer that one large account has grown beyond this is not kept. */
const keptBytesMax = 4 * 1_024 * 1_024;

/** Bytes of the head: the length of what follows it, a u32, and the kind of the frame. */
const frameHeadBytes = 5;

/** Writes frames one behind the other into a buffer that is used again. */
export class FrameWriter extends ByteWriter {
  /** Where the frame under way begins, which is where the last whole one ends. */
  #start = 0;

  constructor() {
    super(initialBytes);
  }

  /** Begins a frame. One that was begun and not ended, since what was to be written could not be, is dropped. */
  begin(kind: number): this {
    this.truncate(this.#start);
    return this.u32(0).u8(kind);
  }

  /** Ends the frame: writes its length into its head. */
  end(): this {
    this.setU32(this.#start, this.length - this.#start - frameHeadBytes);
    this.#start = this.length;
    return this;
  }

  /** A copy of the frames that were ended since the last `take`. The writer is empty then. */
  take(): Uint8Array {
    const taken = this.copy(this.#start);
    this.#start = 0;
    this.reset(initialBytes, keptBytesMax);
    return taken;
  }
}

/** No frame is longer: an account holds 10 MiB at most, and batches are cut far below. */
const frameBytesMax = 64 * 1_024 * 1_024;

/** One frame: its kind, and a reader of its fields whose views hold until the next chunk is pushed. */
export interface Frame {
  readonly kind: number;
  readonly reader: ByteReader;
}

/** Cuts a stream of bytes into frames. Holds at most one frame that is not whole yet. */
export class FrameSplitter {
  #parts: Uint8Array[] = [];
  #held = 0;
  /** Bytes that the frame under way needs, or its head while that is not whole. */
  #needed = frameHeadBytes;

  /**
   * Yields the frames that the chunk completes. Each is a view that is valid until the next call.
   *
   * @throws {RangeError} when a head announces more than 64 MiB
   */
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
    this.#needed = frameHeadBytes;
    while (bytes.length - at >= frameHeadBytes) {
      const length = new DataView(bytes.buffer, bytes.byteOffset + at).getUint32(0, true);
      if (length > frameBytesMax) throw new RangeError(`a frame of ${length} bytes`);
      const start = at + frameHeadBytes;
      if (bytes.length - start < length) {
        this.#needed = frameHeadBytes + length;
        break;
      }
      at = start + length;
      yield { kind: bytes[start - 1] ?? 0, reader: new ByteReader(bytes.subarray(start, at)) };
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
