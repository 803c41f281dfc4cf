import { areValueBytes, chunkSizeIn, isBlank, lineFeedIn, tokenBytes } from "../syntax.ts";
import type { RequestHead } from "./request-head.ts";

/** Chunk sizes' extensions and trailers of one request together, and the longest line among them. */
const linesBytesMax = 16 * 1024;

/** A chunk's size without extensions is no longer than this, and takes nothing of the bound. */
const plainSizeMax = 12;

const inBody = 0;
const atChunkSize = 1;
const inChunk = 2;
const atChunkEnd = 3;
const atTrailer = 4;
const isOver = 5;
const isBroken = 6;

/** What lies between heads: finds the bytes of a request's body in what comes, and where the request ends (RFC 9112, 6 and 7). */
export class BodyFraming {
  #phase = isOver;
  /** Bytes that are missing of the body or of the chunk. */
  #left = 0;
  #budget = linesBytesMax;

  begin(head: RequestHead): void {
    this.#budget = linesBytesMax;
    this.#left = head.contentLength ?? 0;
    this.#phase = head.isChunked ? atChunkSize : this.#left === 0 ? isOver : inBody;
  }

  /** Whether the body has come whole. */
  get isWhole(): boolean {
    return this.#phase === isOver;
  }

  /** Whether what came is no body, so that nobody knows where the next request would begin. */
  get isBroken(): boolean {
    return this.#phase === isBroken;
  }

  /** What is missing of a body of stated length; of a chunked one nobody knows. */
  get left(): number | null {
    if (this.#phase === isOver) return 0;
    return this.#phase === inBody ? this.#left : null;
  }

  /** Notes that the next `count` bytes of a body of stated length were taken at once. */
  skip(count: number): void {
    this.#left -= count;
    if (this.#left === 0) this.#phase = isOver;
  }

  /**
   * Hands each part of the body between `at` and the end to `take`. Returns the place after what was understood, where the
   * next head begins when the body is whole; bytes of a line that has not ended are to be offered again with more. Null for
   * what is no body.
   */
  read(bytes: Uint8Array, at: number, take: (part: Uint8Array) => void): number | null {
    if (this.#phase === isBroken) return null;
    let place = at;
    while (this.#phase !== isOver && place < bytes.length) {
      if (this.#phase === inBody || this.#phase === inChunk) {
        const count = Math.min(this.#left, bytes.length - place);
        take(bytes.subarray(place, place + count));
        place += count;
        this.#left -= count;
        if (this.#left === 0) this.#phase = this.#phase === inChunk ? atChunkEnd : isOver;
        continue;
      }
      const lineFeed = lineFeedIn(bytes, place);
      if (lineFeed < 0) return bytes.length - place > this.#lineMax ? this.#break() : place;
      if (lineFeed === place || bytes[lineFeed - 1] !== 0x0d) return this.#break();
      if (!this.#takeLine(bytes, place, lineFeed - 1)) return this.#break();
      place = lineFeed + 1;
    }
    return place;
  }

  get #lineMax(): number {
    return this.#phase === atChunkEnd ? 1 : this.#budget;
  }

  #break(): null {
    this.#phase = isBroken;
    return null;
  }

  #takeLine(bytes: Uint8Array, start: number, end: number): boolean {
    if (this.#phase === atChunkEnd) {
      this.#phase = atChunkSize;
      return end === start;
    }
    this.#budget -= this.#phase === atTrailer ? end - start + 2 : Math.max(0, end - start - plainSizeMax);
    if (this.#budget < 0) return false;
    if (this.#phase === atTrailer) {
      if (end === start) this.#phase = isOver;
      return end === start || isFieldLine(bytes, start, end);
    }
    const size = chunkSizeIn(bytes, start, end);
    this.#left = size;
    this.#phase = size === 0 ? atTrailer : inChunk;
    return size >= 0;
  }
}

/** A trailer is checked like a field and means nothing: what it says of lengths would come too late. */
function isFieldLine(bytes: Uint8Array, start: number, end: number): boolean {
  let colon = start;
  while (colon < end && tokenBytes[bytes[colon] ?? 0] === 1) colon += 1;
  if (colon === start || colon === end || bytes[colon] !== 0x3a) return false;
  let from = colon + 1;
  while (from < end && isBlank(bytes[from])) from += 1;
  return areValueBytes(bytes, from, end);
}
