import { free } from "../body-buffer.ts";
import type { ReadState } from "../framing.ts";
import { BodySource, type CutKind } from "./body-source.ts";
import type { RequestTarget } from "./request-target.ts";
import { ResponseReader } from "./response-reader.ts";

export interface ConnectionPoolOptions {
  readonly target: RequestTarget;
  /** Connections at a time, and so calls on the wire. */
  readonly connectionsMax: number;
  /** Calls that wait for a connection; more are refused. */
  readonly waitingMax: number;
  /** An idle connection is closed after this; shorter than nodes and balancers commonly keep theirs (5 s and more). */
  readonly idleMsMax?: number;
  /** A connection that is not there by then counts as refused, so that a read still has time for another node. */
  readonly connectMsMax?: number;
  /** PEM; the roots that certificates are verified by in place of the runtime's. */
  readonly authorities?: readonly string[];
  /**
   * Chooses the addresses that a new connection is tried at, one after the other; the name of the target without it,
   * which the runtime then looks up by itself. Its time counts as time to connect. Never rejects.
   */
  readonly locate?: () => Promise<Located>;
  /** A connection could not be had at an address that `locate` has given. */
  readonly unreached?: (address: string) => void;
}

/** Where a connection goes, or why it must not be made. */
export type Located =
  | { readonly ok: true; readonly addresses: readonly [string, ...string[]] }
  | { readonly ok: false; readonly refusal: string | null };

/** One call while it is in the pool's hands. */
export interface PooledCall {
  /** JSON text. */
  readonly body: string;
  /** As the head of the target, for this call alone. */
  readonly head?: string;
  readonly ownConnection: boolean;
  readonly answerBytesMax: number;
  /** Bytes of body beyond which it is handed out as it comes; infinite for who wants it whole. */
  readonly streamsFrom: number;
  /** Monotonic milliseconds. */
  readonly deadlineAt: number;
  readonly settle: (outcome: PooledOutcome) => void;
  /** Whether it has been written to a kept connection that turned out to be closed. */
  isRepeated: boolean;
}

export type PooledOutcome =
  | {
      readonly kind: "answered";
      readonly status: number;
      readonly retryAfter: string | null;
      readonly location: string | null;
      readonly bytes: Uint8Array;
      readonly coding: string | null;
    }
  /** It is large and still coming. The source reports how it ends. */
  | {
      readonly kind: "streaming";
      readonly status: number;
      readonly retryAfter: string | null;
      readonly location: string | null;
      readonly coding: string | null;
      readonly contentLength: number | null;
      readonly source: BodySource;
    }
  | { readonly kind: "timeout" | "unreachable" | "too-large" | "malformed" }
  /** The node took the call and closed without a byte of an answer. */
  | { readonly kind: "closed" }
  | { readonly kind: "overloaded" }
  /** No connection may be made to where the target is. */
  | { readonly kind: "refused"; readonly reason: string };

type Ending = Exclude<PooledOutcome, { kind: "streaming" | "overloaded" }> | { readonly kind: "unread" };

/** A call that has been taken off its connection, and who reads its body if that is handed out already. */
export class UnderWay {
  readonly call: PooledCall;
  readonly #source: BodySource | null;

  constructor(call: PooledCall, source: BodySource | null) {
    this.call = call;
    this.#source = source;
  }

  get isRepeatable(): boolean {
    return !this.call.ownConnection && !this.call.isRepeated;
  }

  /** Reports the outcome to the caller. Only a body that is handed out can be left unread. */
  settle(ending: Ending): void {
    if (this.#source === null) {
      if (ending.kind !== "unread") this.call.settle(ending);
    } else if (ending.kind === "answered") this.#source.end();
    else this.#source.fail(ending.kind === "closed" || ending.kind === "refused" ? "unreachable" : ending.kind);
  }
}

export function answerIn(reader: ResponseReader): Extract<PooledOutcome, { kind: "answered" }> {
  const { status, retryAfter, location, contentEncoding: coding } = reader.head;
  return { kind: "answered", status, retryAfter, location, bytes: reader.body(), coding };
}

export interface ClientConnectionOwner {
  /** The attempt to open it is over, with or without success; called once for every connection, also after `close`. */
  attempted(): void;
  opened(connection: Connection): void;
  /** The answer has ended in one way or another, or unasked bytes came; the owner keeps or closes the connection. */
  ended(connection: Connection, state: Exclude<ReadState, "more">): void;
  /** The body has come to be larger than what its caller wants whole. */
  grown(connection: Connection): void;
  /** The rest of the body under way is not needed. */
  abandoned(connection: Connection): void;
  /** The connection is gone or could not be had; called once, and never for one that the owner closed itself. */
  lost(connection: Connection): void;
}

/** Packed JSON is a fifth of what it says or less. */
const packedPart = 4;

type Socket = Bun.Socket<Connection>;

/** A node's socket and the one call that it carries at a time. */
export class Connection {
  readonly reader = new ResponseReader();
  /** The call under way; null on an idle connection. */
  call: PooledCall | null = null;
  /** Where the body of the call goes as it comes, once it has grown large. */
  source: BodySource | null = null;
  /** Whether it has carried a call before the present one. */
  isReused = false;
  /** Why it must not be made; null for one that may. */
  refusal: string | null = null;
  /** Where it goes, of the addresses that were chosen for it; null before, and where none are chosen. */
  address: string | null = null;
  /** Where its call may still be tried, when it cannot be had. */
  others: readonly string[] = [];
  /** Monotonic milliseconds when another address is tried; infinite where there is none. */
  connectBy = Number.POSITIVE_INFINITY;
  /** Monotonic milliseconds when it began to open, later when it became idle. */
  sinceMs: number;
  readonly #owner: ClientConnectionOwner;
  #socket: Socket | null = null;
  #isOpen = false;
  #isOver = false;
  #isAttempted = false;
  #unsent: Uint8Array | null = null;

  constructor(options: { sinceMs: number }, owner: ClientConnectionOwner) {
    this.sinceMs = options.sinceMs;
    this.#owner = owner;
  }

  /** Takes the call off the connection, with the source that its body is read from by now. */
  release(): UnderWay | null {
    const { call, source } = this;
    this.call = null;
    this.source = null;
    return call === null ? null : new UnderWay(call, source);
  }

  get isOpening(): boolean {
    return !this.#isOpen;
  }

  /** Whether its owner has closed it, or it is lost. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether nothing of this answer or of a request is left on the wire. */
  get isReusable(): boolean {
    return !this.#isOver && this.#unsent === null && this.reader.isReusable;
  }

  /** Writes a call in one piece. What the socket does not take at once follows when it has drained. */
  send(call: PooledCall, head: string): void {
    this.call = call;
    this.reader.begin(call.answerBytesMax);
    const bodyBytes = Buffer.byteLength(call.body);
    const length = String(bodyBytes);
    const request = `${head}${length}\r\n\r\n${call.body}`;
    const written = this.#socket?.write(request) ?? -1;
    if (written === head.length + length.length + 4 + bodyBytes) return;
    if (written < 0) this.wasClosed();
    else this.#unsent = Buffer.from(request).subarray(written);
  }

  /** Ends it from this side, `now` without waiting for what is under way; the owner is not called. */
  close(how: "now" | "politely"): void {
    this.#isOver = true;
    this.#unsent = null;
    if (how === "now") this.#socket?.terminate();
    else this.#socket?.end();
    this.#socket = null;
  }

  /** The node has taken the connection; over TLS its handshake is still to come. */
  wasReached(socket: Socket): void {
    if (this.#isOver) socket.terminate();
    else this.#socket = socket;
  }

  wasOpened(): void {
    this.#conclude();
    if (this.#isOver) return;
    this.#isOpen = true;
    this.#owner.opened(this);
  }

  received(bytes: Uint8Array): void {
    if (this.#isOver) return;
    const state = this.reader.feed(bytes);
    if (this.source !== null) this.#pass(bytes, this.source);
    if (state !== "more") this.#owner.ended(this, state);
    else if (this.source === null && this.call !== null && this.#isGrown(this.call)) this.#owner.grown(this);
  }

  #pass(received: Uint8Array, source: BodySource): void {
    const body = this.reader.body();
    source.push(body);
    // What lay in several chunks has been copied together.
    if (body.buffer !== received.buffer) free(received);
  }

  #isGrown({ streamsFrom }: PooledCall): boolean {
    const { head, bodyBytes } = this.reader;
    return bodyBytes > (head.contentEncoding === null ? streamsFrom : streamsFrom / packedPart);
  }

  /** Hands out the body from here on as it comes, beginning with what has come. */
  stream(): BodySource {
    const source = new BodySource({
      pause: () => void this.#socket?.pause(),
      resume: () => void this.#socket?.resume(),
      abandon: () => this.#owner.abandoned(this),
    });
    this.source = source;
    source.push(this.reader.body());
    return source;
  }

  /** What is over about the call under way; null while it is in time. Monotonic milliseconds. */
  overdue(nowMs: number, connectMsMax: number): CutKind | null {
    if (this.call === null) return null;
    if (this.source?.isPassedOn === true) return this.source.stalled(nowMs);
    if (this.call.deadlineAt <= nowMs) return "timeout";
    const isLate = nowMs - this.sinceMs >= connectMsMax || nowMs >= this.connectBy;
    return this.isOpening && isLate ? "unreachable" : null;
  }

  drained(socket: Socket): void {
    if (this.#unsent === null || this.#isOver) return;
    const written = socket.write(this.#unsent);
    if (written < 0) this.wasClosed();
    else this.#unsent = written >= this.#unsent.length ? null : this.#unsent.subarray(written);
  }

  wasClosed(): void {
    this.#conclude();
    if (this.#isOver) return;
    this.close("now");
    this.#owner.lost(this);
  }

  #conclude(): void {
    if (this.#isAttempted) return;
    this.#isAttempted = true;
    this.#owner.attempted();
  }
}

/** What every connection of a pool does on its socket's events; an error in a handler ends the connection. */
export const plainHandlers: Bun.SocketHandler<Connection> = {
  open: (socket) => {
    socket.data.wasReached(socket);
    socket.data.wasOpened();
  },
  data: (socket, bytes) => socket.data.received(bytes),
  drain: (socket) => socket.data.drained(socket),
  close: (socket) => socket.data.wasClosed(),
  error: (socket) => socket.data.wasClosed(),
  connectError: (socket) => socket.data.wasClosed(),
};

/** Over TLS a connection is there only when the node has proved its name. */
export const tlsHandlers: Bun.SocketHandler<Connection> = {
  ...plainHandlers,
  open: (socket) => socket.data.wasReached(socket),
  handshake: (socket, isTrusted, error) => {
    // The error of a good handshake is undefined, although its type excludes that.
    if (isTrusted && !error && socket.authorized) socket.data.wasOpened();
    else socket.data.wasClosed();
  },
};
