import { gzipSync } from "node:zlib";

/** The flag and the length that stand before each message. Source: gRPC over HTTP/2, Length-Prefixed-Message. */
const prefixBytes = 5;
/** A smaller message is not compressed: what that saves is less than what it costs. */
const compressedFrom = 1_024;
/** The fastest level: at the standard one a block of 5 MB would hold everybody up for 100 ms. */
const compressionLevel = 1;

/** A message as its bytes go out, its prefix first. All clients share it, and the parts that messages share. */
export class PackedMessage {
  readonly parts: readonly Uint8Array[];
  /** Of all parts. */
  readonly length: number;
  #compressed: PackedMessage | undefined;

  private constructor(parts: readonly Uint8Array[], length: number) {
    this.parts = parts;
    this.length = length;
  }

  /** @param parts - the message, one part after another; they are not changed afterwards */
  static of(parts: readonly Uint8Array[], { isCompressed = false } = {}): PackedMessage {
    const length = parts.reduce((total, part) => total + part.length, 0);
    const prefix = new Uint8Array(prefixBytes);
    const view = new DataView(prefix.buffer);
    view.setUint8(0, isCompressed ? 1 : 0);
    view.setUint32(1, length);
    return new PackedMessage([prefix, ...parts], prefixBytes + length);
  }

  /** The same compressed by gzip, once for all who take it; itself where that is not worth it. */
  get compressed(): PackedMessage {
    if (this.#compressed !== undefined) return this.#compressed;
    let compressed: PackedMessage = this;
    if (this.length >= compressedFrom) {
      const bytes = gzipSync(Buffer.concat(this.parts.slice(1)), { level: compressionLevel });
      if (bytes.length + prefixBytes < this.length) compressed = PackedMessage.of([bytes], { isCompressed: true });
    }
    this.#compressed = compressed;
    return compressed;
  }
}

/**
 * A piece of the bytes of a stream's messages, prefixes among them: several messages, or a part of one.
 *
 * The transport believes that it writes one message: it asks for `byteLength`, makes room for a prefix before that many
 * bytes, writes the prefix and has the rest copied behind it. What is copied here begins in the place of that prefix.
 * So one write takes many small messages (it costs as much as copying 20 KB), and a large one is written as its client
 * reads. This rests on what grpc-js does in `serializeMessage`, and tests hold it to it.
 */
export class PackedPiece {
  /** What the transport adds its own prefix to. */
  readonly byteLength: number;
  readonly #bytes: readonly Uint8Array[];

  /** @param bytes - one after another; at least as many as a prefix has */
  constructor(bytes: readonly Uint8Array[], length: number) {
    this.#bytes = bytes;
    this.byteLength = length - prefixBytes;
  }

  copy(target: Uint8Array): void {
    let at = 0;
    for (const part of this.#bytes) {
      target.set(part, at);
      at += part.length;
    }
  }
}

/** Cuts the bytes of messages, as they come, into pieces. */
export class PieceCutter {
  /** The message that is not cut to its end yet. */
  #parts: readonly Uint8Array[] = [];
  #part = 0;
  #at = 0;
  #left = 0;

  /** Bytes of the message inside which the last piece ended; 0 where it ended with one. */
  get left(): number {
    return this.#left;
  }

  /**
   * The next piece, and its bytes; null when no message is left.
   *
   * @param next - gives the message after the last one; null where there is none
   * @param size - about how many bytes the piece has: up to a prefix's more, and all that is left of less
   */
  cut(next: () => PackedMessage | null, size: number): { readonly piece: PackedPiece; readonly bytes: number } | null {
    const bytes: Uint8Array[] = [];
    let taken = 0;
    while (taken < size) {
      if (this.#left === 0 && !this.#begin(next())) break;
      // A rest that is smaller than a prefix could not be a piece of its own.
      const room = this.#left - (size - taken) < prefixBytes ? this.#left : size - taken;
      taken += this.#take(bytes, room);
    }
    return taken === 0 ? null : { piece: new PackedPiece(bytes, taken), bytes: taken };
  }

  #begin(message: PackedMessage | null): boolean {
    if (message === null) return false;
    this.#parts = message.parts;
    this.#left = message.length;
    this.#part = 0;
    this.#at = 0;
    return true;
  }

  #take(bytes: Uint8Array[], count: number): number {
    for (let rest = count; rest > 0; ) {
      const part = this.#parts[this.#part];
      if (part === undefined) break;
      const end = Math.min(this.#at + rest, part.length);
      bytes.push(this.#at === 0 && end === part.length ? part : part.subarray(this.#at, end));
      rest -= end - this.#at;
      this.#at = end;
      if (end < part.length) continue;
      this.#part += 1;
      this.#at = 0;
    }
    this.#left -= count;
    if (this.#left === 0) this.#parts = [];
    return count;
  }
}
