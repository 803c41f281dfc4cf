import { lineFeedIn } from "../syntax.ts";
import { BodyFraming } from "./body-framing.ts";
import type { BodySink } from "./body-sinks.ts";
import { type HeadFault, headBytesMax, headTooLarge, RequestHead, readRequestHead } from "./request-head.ts";

/** Empty lines before a request line, which old clients send after a body. */
const blankLinesMax = 4;
/** A head is kept with the read that it came in while that is no larger than this. */
const keptBytesMax = 4 * 1024;

const badLineEnd: HeadFault = { status: 400, message: "A line does not end with CR and LF" };
const nothing = Buffer.alloc(0);

/**
 * Makes requests of a connection's bytes, in whatever pieces they arrive: a head, the bytes of its body, the next head.
 * Holds what has come and was not asked for; whoever uses it bounds that by not reading the socket.
 */
export class RequestReader {
  readonly #framing = new BodyFraming();
  /** Who takes the body as it comes. */
  #sink: BodySink | null = null;
  #bytes: Buffer = nothing;
  #at = 0;
  /** Of a head that has not ended: where its last line begins, counted from `#at`. */
  #lineAt = 0;
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

  /** Whether what is left of the body can be thrown away in so many bytes, so that the next request is found behind it. */
  canSkip(bytesMax: number): boolean {
    if (this.#framing.isWhole) return true;
    // Whoever waits to be told to send may send or not, and nobody knows which.
    return !this.#isAwaited && !this.#framing.isBroken && (this.#framing.left ?? 0) <= bytesMax;
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

  /** The next request's head, whose body is read from then on; null while it has not come. After a fault there is none. */
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
    this.#lineAt = 0;
    this.#blankLines = 0;
    this.#framing.begin(head);
    this.#isAwaited = head.expectsContinue;
  }

  #takeKept(): RequestHead | null {
    const kept = this.#kept;
    const end = this.#at + this.#keptTo - this.#keptFrom;
    if (kept === null || end > this.#bytes.length || this.#lineAt > 0) return null;
    if (this.#bytes.compare(this.#keptBytes, this.#keptFrom, this.#keptTo, this.#at, end) !== 0) return null;
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
    const bytes = this.#bytes;
    let lineAt = this.#at + this.#lineAt;
    for (;;) {
      const lineFeed = lineFeedIn(bytes, lineAt);
      if (lineFeed < 0) {
        this.#lineAt = lineAt - this.#at;
        return this.held > headBytesMax ? headTooLarge : null;
      }
      if (lineFeed === lineAt || bytes[lineFeed - 1] !== 0x0d) return badLineEnd;
      const isEmpty = lineFeed === lineAt + 1;
      lineAt = lineFeed + 1;
      if (lineAt - this.#at > headBytesMax) return headTooLarge;
      if (!isEmpty) continue;
      if (lineAt !== this.#at + 2) return lineAt;
      this.#blankLines += 1;
      if (this.#blankLines > blankLinesMax) return badLineEnd;
      this.#at = lineAt;
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

  /** Whether somebody takes the body, which has not ended. */
  get isBodyWanted(): boolean {
    return this.#sink !== null;
  }

  wantBody(sink: BodySink): void {
    this.#sink = sink;
  }

  /** The rest of the body is not handed out, to whoever took it. */
  endBody(): void {
    const sink = this.#sink;
    this.#sink = null;
    sink?.fail();
  }

  /** Hands out what has come of the body, and its end. After `broken` nobody knows where the next request would begin. */
  readBody(): "more" | "whole" | "broken" {
    const sink = this.#sink;
    if (sink === null) return this.#framing.isWhole ? "whole" : "more";
    const next = this.#framing.read(this.#bytes, this.#at, (part) => sink.part(part));
    if (next === null) {
      this.takeRest();
      this.endBody();
      return "broken";
    }
    this.#at = next;
    this.#forget();
    if (!this.#framing.isWhole) return "more";
    if (this.#sink === sink) this.#sink = null;
    sink.end();
    return "whole";
  }

  /** An idle connection holds no body in memory. */
  #forget(): void {
    if (this.held === 0) this.takeRest();
  }
}
