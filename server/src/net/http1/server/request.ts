import { type BodyOutcome, type BodySink, GatheringSink } from "./body-sinks.ts";
import type { RequestHead } from "./request-head.ts";

/** A request's body as its connection hands it out; read once. */
export interface ReadableBody {
  /** The body when all of it is here already, else null. It is the connection's memory, and gone after this turn. */
  takeBody(): Uint8Array | null;
  /** Waits for the body and tells once; never for a client that goes away. Nothing beyond `bytesMax` is held. */
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
