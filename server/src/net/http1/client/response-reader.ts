import { chunkSizeIn, lineFeedIn } from "../syntax.ts";
import { GatheredBody } from "./gathered-body.ts";
import { maybeStatusLine, ResponseHead, readFieldLine, readStatusLine } from "./response-head.ts";

/** Where an answer stands after what has been fed: more has to come, it is whole, or it is none. */
export type ReadState = "more" | "done" | "malformed" | "too-large";

/** For everything that is not body: status lines, fields, interim answers, chunk extensions and trailers together. */
const headBytesMax = 32 * 1024;
const fieldsMax = 200;
const interimMax = 8;
/** A chunk's size without extensions is no longer than this, and takes nothing of the bound. */
const plainSizeMax = 12;

const atStatus = 0;
const atField = 1;
const atTrailer = 2;
const atChunkSize = 3;
const atChunkEnd = 4;
/** From here on what comes is body. */
const inLength = 5;
const inChunk = 6;
const untilClose = 7;
const isWhole = 8;

/**
 * Reads one HTTP/1.1 answer to a POST from bytes that arrive in any pieces (RFC 9112): strictly, so that whatever leaves
 * the length of the body in doubt is malformed, and within bounds on all parts. One reader serves all answers of a
 * connection, one after the other.
 */
export class ResponseReader {
  readonly head = new ResponseHead();
  readonly #body = new GatheredBody();
  #bodyBytesMax = 0;
  /** Bytes of the body that have come, handed out or not. */
  #bodyBytes = 0;
  #phase = atStatus;
  /** A line that has begun and not ended. */
  #carry: Uint8Array | null = null;
  #budget = headBytesMax;
  #fields = 0;
  #interim = 0;
  /** Bytes that are missing of the body or of the chunk. */
  #left = 0;
  #state: ReadState = "more";
  #isStarted = false;
  #hasSurplus = false;

  /** Whether any byte has come since `begin`. */
  get isStarted(): boolean {
    return this.#isStarted;
  }

  /** Whether the connection can carry another call: the node keeps it, and nothing came that nobody asked for. */
  get isReusable(): boolean {
    return this.#state === "done" && !this.head.isLast && this.head.minor === 1 && !this.#hasSurplus;
  }

  get bodyBytes(): number {
    return this.#bodyBytes;
  }

  begin(bodyBytesMax: number): void {
    this.#bodyBytesMax = bodyBytesMax;
    this.#bodyBytes = 0;
    this.head.clear();
    this.#body.clear();
    this.#phase = atStatus;
    this.#carry = null;
    this.#budget = headBytesMax;
    this.#fields = 0;
    this.#interim = 0;
    this.#left = 0;
    this.#state = "more";
    this.#isStarted = false;
    this.#hasSurplus = false;
  }

  /** Takes the bytes of one read. They are kept, not copied, when they are all of the body. */
  feed(received: Uint8Array): ReadState {
    if (this.#state !== "more") {
      this.#hasSurplus = true;
      return this.#state;
    }
    this.#isStarted = true;
    this.#state = this.#read(received);
    return this.#state;
  }

  /** The node has closed: the end of a body without a stated length, a cut answer otherwise. */
  end(): ReadState {
    if (this.#state === "more") this.#state = this.#phase === untilClose ? "done" : "malformed";
    this.head.isLast = true;
    return this.#state;
  }

  /** What has come of the body since it was last handed out: the whole of it for who asks once, at the end. */
  body(): Uint8Array {
    return this.#body.take();
  }

  #read(received: Uint8Array): ReadState {
    let bytes = received;
    let at = 0;
    let scanFrom = 0;
    if (this.#carry !== null) {
      scanFrom = this.#carry.length;
      bytes = Buffer.concat([this.#carry, received]);
      this.#carry = null;
    }
    while (this.#phase !== isWhole) {
      if (this.#phase >= inLength) {
        if (at === bytes.length) return "more";
        at = this.#takeBody(bytes, at);
        if (at < 0) return "too-large";
        continue;
      }
      const lineFeed = lineFeedIn(bytes, Math.max(at, scanFrom));
      if (lineFeed < 0) return this.#keepLine(bytes, at);
      // Some take a bare line feed for a line's end; those who differ on it read different answers from the same bytes.
      if (lineFeed === at || bytes[lineFeed - 1] !== 0x0d) return "malformed";
      const state = this.#takeLine(bytes, at, lineFeed - 1);
      if (state !== "more") return state;
      at = lineFeed + 1;
    }
    this.#hasSurplus = at < bytes.length;
    return "done";
  }

  #keepLine(bytes: Uint8Array, at: number): ReadState {
    const length = bytes.length - at;
    if (length > this.#budget || (this.#phase === atChunkEnd && length > 1)) return "malformed";
    if (this.#phase === atStatus && !maybeStatusLine(bytes, at, bytes.length)) return "malformed";
    // A copy, since the memory of a read may be given back with the body that came in it.
    if (length > 0) this.#carry = new Uint8Array(bytes.subarray(at));
    return "more";
  }

  #takeLine(bytes: Uint8Array, start: number, end: number): ReadState {
    if (this.#phase === atChunkSize) return this.#takeChunkSize(bytes, start, end);
    if (this.#phase === atChunkEnd) {
      this.#phase = atChunkSize;
      return end === start ? "more" : "malformed";
    }
    this.#budget -= end - start + 2;
    if (this.#budget < 0) return "malformed";
    if (this.#phase === atStatus) {
      this.#phase = atField;
      return readStatusLine(this.head, bytes, start, end) ? "more" : "malformed";
    }
    if (end === start) return this.#endFields();
    this.#fields += 1;
    if (this.#fields > fieldsMax) return "malformed";
    // A trailer is checked like a field and means nothing: what it says of lengths would come too late.
    const into = this.#phase === atTrailer ? new ResponseHead() : this.head;
    return readFieldLine(into, bytes, start, end) ? "more" : "malformed";
  }

  #endFields(): ReadState {
    const { head } = this;
    if (this.#phase === atTrailer) {
      this.#phase = isWhole;
      return "more";
    }
    if (head.status < 200) {
      this.#interim += 1;
      // Nobody asked for another protocol.
      if (head.status === 101 || this.#interim > interimMax) return "malformed";
      head.clear();
      this.#phase = atStatus;
      return "more";
    }
    if (head.isChunked && (head.contentLength !== null || head.minor === 0)) return "malformed";
    if (head.status === 204 || head.status === 304) this.#phase = isWhole;
    else if (head.isChunked) this.#phase = atChunkSize;
    else if (head.contentLength === null) this.#phase = untilClose;
    else {
      if (head.contentLength > this.#bodyBytesMax) return "too-large";
      this.#left = head.contentLength;
      this.#phase = this.#left === 0 ? isWhole : inLength;
    }
    if (this.#phase === untilClose) head.isLast = true;
    return "more";
  }

  /** `1f`, `1f;name=value`: hexadecimal, then perhaps extensions, which count as head. */
  #takeChunkSize(bytes: Uint8Array, start: number, end: number): ReadState {
    const size = chunkSizeIn(bytes, start, end);
    this.#budget -= Math.max(0, end - start - plainSizeMax);
    if (size < 0 || this.#budget < 0) return "malformed";
    if (this.#bodyBytes + size > this.#bodyBytesMax) return "too-large";
    this.#left = size;
    this.#phase = size === 0 ? atTrailer : inChunk;
    return "more";
  }

  /** Takes what belongs to the body; the place after it, or -1 when the body has grown beyond its bound. */
  #takeBody(bytes: Uint8Array, at: number): number {
    const available = bytes.length - at;
    const isBounded = this.#phase !== untilClose;
    const taken = isBounded ? Math.min(available, this.#left) : available;
    // A length that was stated has been judged already.
    if (!isBounded && this.#bodyBytes + taken > this.#bodyBytesMax) return -1;
    this.#body.add(bytes, at, at + taken, this.#phase === inLength ? this.head.contentLength : null);
    this.#bodyBytes += taken;
    if (isBounded) {
      this.#left -= taken;
      if (this.#left === 0) this.#phase = this.#phase === inChunk ? atChunkEnd : isWhole;
    }
    return at + taken;
  }
}
