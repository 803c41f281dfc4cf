import { BodyBuffer } from "../body-buffer.ts";
import type { BodyParts } from "../framing.ts";
import type { RequestHead } from "./request-head.ts";

/** What came of a body that had to be waited for: its bytes, or why there are none. */
export type BodyOutcome = Uint8Array | "too-large" | "broken";

/** Takes a body's bytes as they come. */
export interface BodySink extends BodyParts {
  end(): void;
  /** The rest is not coming: malformed, or the client has gone. */
  fail(): void;
}

/** A request's body as its connection hands it out; read once. */
export interface ReadableBody {
  /** The body when all of it is here already, else null. It is the connection's memory, and gone after this turn. */
  takeBody(): Uint8Array | null;
  /** Waits for the body and calls back once; never for a client that goes away. Holds `bytesMax` bytes at most. */
  gatherBody(bytesMax: number, done: (body: BodyOutcome) => void): void;
}

/** What a request asks of the connection that it came on. */
export interface RequestSource {
  readonly remoteAddress: string;
  takeBody(request: HttpRequest): Uint8Array | null;
  readBody(request: HttpRequest, sink: BodySink): void;
  /** Stops the client's sending until `resumeBody`. */
  pauseBody(request: HttpRequest): void;
  resumeBody(request: HttpRequest): void;
}

/** One request of a connection: its head, and its body for who asks. */
export class HttpRequest implements ReadableBody {
  readonly headers: RequestHead;
  readonly #source: RequestSource;
  /** Run when the client goes away before it was answered. */
  onGone: (() => void) | null = null;

  constructor(head: RequestHead, source: RequestSource) {
    this.headers = head;
    this.#source = source;
  }

  get method(): string {
    return this.headers.method;
  }

  get target(): string {
    return this.headers.target;
  }

  get socketAddress(): string {
    return this.#source.remoteAddress;
  }

  takeBody(): Uint8Array | null {
    return this.#source.takeBody(this);
  }

  gatherBody(bytesMax: number, done: (body: BodyOutcome) => void): void {
    const { contentLength } = this.headers;
    if (contentLength !== null && contentLength > bytesMax) done("too-large");
    else this.#source.readBody(this, new GatheringSink({ bytesMax, expected: contentLength }, done));
  }

  streamBody(sink: BodySink): void {
    this.#source.readBody(this, sink);
  }

  pauseBody(): void {
    this.#source.pauseBody(this);
  }

  resumeBody(): void {
    this.#source.resumeBody(this);
  }
}

const growthBytes = 4 * 1024;

/** Puts a body together, up to a bound. */
class GatheringSink implements BodySink {
  readonly #bytesMax: number;
  readonly #done: (body: BodyOutcome) => void;
  readonly #body = new BodyBuffer({ growthBytes });
  #isOver = false;

  /** `expected` is the length that was stated, if one was. */
  constructor(
    options: { readonly bytesMax: number; readonly expected: number | null },
    done: (body: BodyOutcome) => void,
  ) {
    this.#bytesMax = options.bytesMax;
    this.#body.begin(options.expected);
    this.#done = done;
  }

  part(bytes: Uint8Array, from: number, to: number): void {
    if (this.#isOver) return;
    if (this.#body.length + to - from > this.#bytesMax) this.#conclude("too-large");
    else this.#body.addCopy(bytes.subarray(from, to));
  }

  end(): void {
    if (!this.#isOver) this.#conclude(this.#body.take());
  }

  fail(): void {
    this.#conclude("broken");
  }

  #conclude(body: BodyOutcome): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#body.begin(null);
    this.#done(body);
  }
}

/** Discards what is left of a body, up to a bound. */
export class DiscardingSink implements BodySink {
  readonly #exceeded: () => void;
  #left: number;

  constructor(bytesMax: number, exceeded: () => void) {
    this.#left = bytesMax;
    this.#exceeded = exceeded;
  }

  part(_bytes: Uint8Array, from: number, to: number): void {
    this.#left -= to - from;
    if (this.#left < 0) this.#exceeded();
  }

  end(): void {}

  fail(): void {}
}
