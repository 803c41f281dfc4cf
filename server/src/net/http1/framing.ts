import { FieldLine, fieldsMax, isFraming, type MessageHead, readFieldLine } from "./fields.ts";
import { chunkSizeIn, lineFeedIn } from "./syntax.ts";

/** Where a message stands after the bytes that were read: more has to come, it is whole, or it is none. */
export type ReadState = "more" | "done" | "malformed" | "too-large";

/** Takes the parts of a body. `bytes` is the connection's memory and may be reused after the call. */
export interface BodyParts {
  part(bytes: Uint8Array, from: number, to: number): void;
}

export interface BodyFramingOptions {
  /** Chunk sizes' extensions and trailers of one message together, and the longest line among them. */
  readonly linesBytesMax: number;
  /** The body of a message that states no length: a request has none, a response's ends with its connection. */
  readonly unstated: "empty" | "until-close";
}

/** A chunk's size without extensions is no longer than this, and takes nothing of the bound. */
const plainSizeMax = 12;

/** Up to here what comes is body, */
const inLength = 0;
const inChunk = 1;
const untilClose = 2;
/** then lines, */
const atChunkSize = 3;
const atChunkEnd = 4;
const atTrailer = 5;
/** then nothing. */
const isDone = 6;
const isMalformed = 7;
const isTooLarge = 8;

const cursor = new FieldLine();

/** What lies between heads: finds the bytes of a message's body, and where the message ends (RFC 9112, 6 and 7). */
export class BodyFraming {
  readonly #options: BodyFramingOptions;
  #phase = isDone;
  /** Bytes that are missing of the body or of the chunk. */
  #left = 0;
  #linesLeft = 0;
  #trailers = 0;
  /** Bytes of a line that has not ended that hold no line feed. */
  #scanned = 0;
  #bodyBytes = 0;
  #bodyBytesMax = 0;

  constructor(options: BodyFramingOptions) {
    this.#options = options;
  }

  /** Begins the body of a head whose fields do not contradict each other. */
  begin(head: MessageHead, bodyBytesMax: number): void {
    this.#bodyBytes = 0;
    this.#bodyBytesMax = bodyBytesMax;
    this.#left = head.contentLength ?? 0;
    this.#scanned = 0;
    if (head.isChunked) {
      this.#linesLeft = this.#options.linesBytesMax;
      this.#trailers = 0;
      this.#phase = atChunkSize;
    } else if (this.#left > bodyBytesMax) this.#phase = isTooLarge;
    else if (this.#left > 0) this.#phase = inLength;
    else this.#phase = head.contentLength === null && this.#options.unstated === "until-close" ? untilClose : isDone;
  }

  /** Begins a message that has no body, whatever its head says. */
  beginEmpty(): void {
    this.#bodyBytes = 0;
    this.#phase = isDone;
  }

  get state(): ReadState {
    if (this.#phase < isDone) return "more";
    return this.#phase === isDone ? "done" : this.#phase === isMalformed ? "malformed" : "too-large";
  }

  get isWhole(): boolean {
    return this.#phase === isDone;
  }

  /** Whether the end of the connection is the end of the body. */
  get isUntilClose(): boolean {
    return this.#phase === untilClose;
  }

  /** Bytes of the body that have come. */
  get bodyBytes(): number {
    return this.#bodyBytes;
  }

  /** What is missing of a body of stated length; null for a chunked one, whose length is unknown. */
  get left(): number | null {
    if (this.#phase === isDone) return 0;
    return this.#phase === inLength ? this.#left : null;
  }

  /** Notes that the next `count` bytes of a body of stated length were taken at once. */
  skip(count: number): void {
    this.#left -= count;
    if (this.#left === 0) this.#phase = isDone;
  }

  /**
   * Hands the parts of the body between `at` and the end to `parts`. Returns the place after what was understood, where
   * the next head begins when the body is whole; bytes of a line that has not ended are to be offered again with more.
   */
  read(bytes: Uint8Array, at: number, parts: BodyParts): number {
    let place = at;
    while (this.#phase < isDone && place < bytes.length) {
      if (this.#phase <= untilClose) {
        place = this.#takeBody(bytes, place, parts);
        continue;
      }
      const lineFeed = lineFeedIn(bytes, place + this.#scanned);
      if (lineFeed < 0) {
        this.#scanned = bytes.length - place;
        if (this.#scanned > (this.#phase === atChunkEnd ? 1 : this.#linesLeft)) this.#phase = isMalformed;
        return place;
      }
      this.#scanned = 0;
      if (lineFeed === place || bytes[lineFeed - 1] !== 0x0d) this.#phase = isMalformed;
      else this.#takeLine(bytes, place, lineFeed - 1);
      place = lineFeed + 1;
    }
    return place;
  }

  /** The peer has closed the connection: the end of a body without a stated length, a cut message otherwise. */
  end(): ReadState {
    if (this.#phase === untilClose) this.#phase = isDone;
    else if (this.#phase < isDone) this.#phase = isMalformed;
    return this.state;
  }

  #takeBody(bytes: Uint8Array, place: number, parts: BodyParts): number {
    const available = bytes.length - place;
    const count = this.#phase === untilClose ? available : Math.min(this.#left, available);
    if (this.#phase === untilClose && this.#bodyBytes + count > this.#bodyBytesMax) {
      this.#phase = isTooLarge;
      return place;
    }
    parts.part(bytes, place, place + count);
    this.#bodyBytes += count;
    if (this.#phase !== untilClose) {
      this.#left -= count;
      if (this.#left === 0) this.#phase = this.#phase === inChunk ? atChunkEnd : isDone;
    }
    return place + count;
  }

  /** A line without its end. */
  #takeLine(bytes: Uint8Array, start: number, end: number): void {
    if (this.#phase === atChunkEnd) {
      this.#phase = end === start ? atChunkSize : isMalformed;
      return;
    }
    this.#linesLeft -= this.#phase === atTrailer ? end - start + 2 : Math.max(0, end - start - plainSizeMax);
    if (this.#linesLeft < 0) this.#phase = isMalformed;
    else if (this.#phase === atTrailer) this.#takeTrailer(bytes, start, end);
    else this.#takeChunkSize(chunkSizeIn(bytes, start, end));
  }

  /** A trailer is checked like a field and means nothing. */
  #takeTrailer(bytes: Uint8Array, start: number, end: number): void {
    if (end === start) {
      this.#phase = isDone;
      return;
    }
    this.#trailers += 1;
    if (this.#trailers > fieldsMax || !readFieldLine(cursor, bytes, start) || isFraming(bytes, cursor)) {
      this.#phase = isMalformed;
    }
  }

  #takeChunkSize(size: number): void {
    this.#left = size;
    if (size < 0) this.#phase = isMalformed;
    else if (this.#bodyBytes + size > this.#bodyBytesMax) this.#phase = isTooLarge;
    else this.#phase = size === 0 ? atTrailer : inChunk;
  }
}
