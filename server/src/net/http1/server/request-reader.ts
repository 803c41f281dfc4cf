import { HeadScanner } from "../fields.ts";
import { BodyFraming, type ReadState } from "../framing.ts";
import {
  type BodySink,
  badLineEnd,
  type HeadFault,
  headBytesMax,
  headTooLarge,
  RequestHead,
  readRequestHead,
} from "./request.ts";

/** Empty lines before a request line, which old clients send after a body. */
const blankLinesMax = 4;
/** A head is kept with the read that it came in while that is no larger than this. */
const keptBytesMax = 4 * 1024;
/** Chunk sizes' extensions and trailers of one request together. */
const linesBytesMax = 16 * 1024;

const nothing = Buffer.alloc(0);

/**
 * Makes requests of a connection's bytes, in whatever pieces they arrive: a head, the bytes of its body, the next head.
 * Holds what has come and was not asked for; its user bounds that by not reading the socket.
 */
export class RequestReader {
  readonly #framing = new BodyFraming({ linesBytesMax, unstated: "empty" });
  readonly #scanner = new HeadScanner();
  /** Takes the body as it comes. */
  #sink: BodySink | null = null;
  #bytes: Buffer = nothing;
  #at = 0;
  #blankLines = 0;
  #isAwaited = false;
  /** The last head and its bytes: a client that asks in the same words again is not read anew. */
  #kept: RequestHead | null = null;
  #keptBytes: Buffer = nothing;
  #keptFrom = 0;
  #keptTo = 0;

  /** Bytes that were not understood or not asked for yet. */
  get held(): number {
    return this.#bytes.length - this.#at;
  }

  get isBodyWhole(): boolean {
    return this.#framing.isWhole;
  }

  /**
   * Whether what is left of the body can be discarded in so many bytes, so that the next request is found behind it.
   */
  canSkip(bytesMax: number): boolean {
    if (this.#framing.isWhole) return true;
    // A client that waits for 100 Continue may send its body or not, and which of both cannot be known.
    return !this.#isAwaited && this.#framing.state === "more" && (this.#framing.left ?? 0) <= bytesMax;
  }

  add(bytes: Buffer): void {
    this.#bytes = this.held === 0 ? bytes : Buffer.concat([this.#bytes.subarray(this.#at), bytes]);
    this.#at = 0;
  }

  /** Hands out all that is held, as the start of something else. */
  takeRest(): Buffer {
    const rest = this.#bytes.subarray(this.#at);
    this.#bytes = nothing;
    this.#at = 0;
    return rest;
  }

  /**
   * The next request's head, whose body is read from then on; null while it has not come. After a HeadFault there is
   * none.
   */
  nextHead(): RequestHead | HeadFault | null {
    const kept = this.#takeKept();
    if (kept !== null) return kept;
    const end = this.#headEnd();
    if (typeof end !== "number") return end;
    const head = readRequestHead(this.#bytes, this.#at, end);
    if (!(head instanceof RequestHead)) return head;
    this.#keep(head, end);
    this.#begin(head, end);
    return head;
  }

  #begin(head: RequestHead, end: number): void {
    this.#at = end;
    this.#blankLines = 0;
    this.#framing.begin(head, Number.POSITIVE_INFINITY);
    this.#isAwaited = head.expectsContinue;
  }

  #takeKept(): RequestHead | null {
    const kept = this.#kept;
    const end = this.#at + this.#keptTo - this.#keptFrom;
    if (kept === null || end > this.#bytes.length || this.#scanner.isBegun) return null;
    if (this.#bytes.compare(this.#keptBytes, this.#keptFrom, this.#keptTo, this.#at, end) !== 0) return null;
    this.#scanner.reset();
    this.#begin(kept, end);
    return kept;
  }

  #keep(head: RequestHead, end: number): void {
    const isKept = this.#bytes.length <= keptBytesMax;
    this.#kept = isKept ? head : null;
    this.#keptBytes = isKept ? this.#bytes : nothing;
    this.#keptFrom = this.#at;
    this.#keptTo = end;
  }

  /** The place after the head's empty line; null while that has not come. */
  #headEnd(): number | HeadFault | null {
    for (;;) {
      const end = this.#scanner.endOf(this.#bytes, this.#at, headBytesMax);
      if (end === "more") return null;
      if (end === "too-large") return headTooLarge;
      if (end === "line-end") return badLineEnd;
      if (end !== this.#at + 2) return end;
      this.#blankLines += 1;
      if (this.#blankLines > blankLinesMax) return badLineEnd;
      this.#at = end;
    }
  }

  /** The whole body when all of it is here and none was read, as a view that the next bytes may replace; else null. */
  takeBody(): Uint8Array | null {
    const { left } = this.#framing;
    if (this.#sink !== null || left === null || left > this.held) return null;
    if (left === 0) return nothing;
    const body = this.#bytes.subarray(this.#at, this.#at + left);
    this.#at += left;
    this.#framing.skip(left);
    this.#forget();
    return body;
  }

  /** Whether a sink takes the body, which has not ended. */
  get isBodyRequested(): boolean {
    return this.#sink !== null;
  }

  wantBody(sink: BodySink): void {
    this.#sink = sink;
  }

  /** The rest of the body is not handed out; the sink that took it fails. */
  endBody(): void {
    const sink = this.#sink;
    this.#sink = null;
    sink?.fail();
  }

  /** Hands out what has come of the body, and its end. After `malformed` the next request's beginning is unknown. */
  readBody(): ReadState {
    const sink = this.#sink;
    if (sink === null) return this.#framing.isWhole ? "done" : "more";
    this.#at = this.#framing.read(this.#bytes, this.#at, sink);
    const { state } = this.#framing;
    if (state === "malformed") {
      this.takeRest();
      this.endBody();
      return state;
    }
    this.#forget();
    if (state !== "done") return state;
    if (this.#sink === sink) this.#sink = null;
    sink.end();
    return state;
  }

  /** An idle connection holds no body in memory. */
  #forget(): void {
    if (this.held === 0) this.takeRest();
  }
}
