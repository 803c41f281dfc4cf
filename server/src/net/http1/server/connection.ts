import {
  type BodySink,
  DiscardingSink,
  type HeadFault,
  HttpRequest,
  RequestHead,
  type RequestSource,
} from "./request.ts";
import { RequestReader } from "./request-reader.ts";
import { type ClientSocket, dropAnswer, type HttpAnswer, isEndless, ResponseWriter } from "./response-writer.ts";

/** What becomes of a request: an answer, or another protocol on its connection. */
export type Handled = HttpAnswer | Upgrade;

/** A switch to another protocol. */
export interface Upgrade {
  /** The head of the answer, with its end. */
  readonly head: string;
  /**
   * Takes over the socket, once the head was written. `ended` is called when the socket is done with; `lingers` leaves
   * it open for what the client still sends.
   */
  readonly begin: (socket: ClientSocket, ended: (lingers?: boolean) => void) => Upgraded;
  /** Called in place of `begin` when the client has gone. */
  readonly abandoned: () => void;
}

/** What receives a client's bytes after the switch. */
export interface Upgraded {
  fromClient(bytes: Buffer): void;
  clientDrained(): void;
  clientGone(): void;
}

export interface ConnectionOwner {
  /** Monotonic milliseconds, to the resolution of the owner's ticks. */
  readonly nowMs: number;
  /** Whether connections are closed after their present answer. */
  readonly isDraining: boolean;
  /** `Date: …` with its end. */
  readonly date: string;
  /** Never throws and never rejects. */
  handle(request: HttpRequest): Handled | Promise<Handled>;
  /** The answer to what is no request. */
  refusal(fault: HeadFault): HttpAnswer;
  /** Called once each for every request; `finished` also when its client went away. */
  begun(): void;
  finished(): void;
  ended(connection: object): void;
  /** The client's address. */
  addressOf(socket: ClientSocket): string;
}

/** What a connection is about, as far as it can last too long. */
type Phase =
  /** Waits for a request, for more of a head, or for more of a body that is being read. */
  | "idle"
  | "head"
  | "body"
  /** An answer that the client does not take. */
  | "unread"
  /** Discards what is left of an unread body, or all that still comes on a connection that the server closed. */
  | "discarding"
  | "lingering"
  /** Waits for the handler of a client that sends no more. */
  | "half-closed"
  /** Waits for the handler, or was switched to another protocol. */
  | "busy";

export interface ConnectionTimes {
  /** Between requests, and for a peer that neither sends nor takes what it should. */
  readonly idleMs: number;
  /** For a head, from its first byte on. */
  readonly headMs: number;
  /** For what is left of an unread body, and for the end of a connection that the server closed. */
  readonly lingerMs: number;
  /** Between requests while the server is going away. */
  readonly partingMs: number;
}

/** A client that has not called for this long is not expected to have a call on its way. */
const restingMs = 2_000;

/** Bytes that a client may send ahead of its turn before the socket is paused. */
const heldBytesMax = 64 * 1024;
/** Bytes of an unread body that are discarded so that the connection can go on. */
const discardedBytesMax = 256 * 1024;
const continueLine = "HTTP/1.1 100 Continue\r\n\r\n";
const slowHead: HeadFault = { status: 408, message: "The request's head did not arrive in time" };
const slowBody: HeadFault = { status: 408, message: "The request's body did not arrive in time" };
const cutHead: HeadFault = { status: 400, message: "The request's head did not arrive whole" };

/**
 * One client's connection: requests one after the other, each answered before the next is begun, so that answers go out
 * in the order of the requests however those were sent.
 */
export class Connection implements RequestSource {
  readonly #owner: ConnectionOwner;
  readonly #socket: ClientSocket;
  readonly #writer: ResponseWriter;
  readonly #flow: FlowControl;
  readonly #reader = new RequestReader();
  #request: HttpRequest | null = null;
  /** How far the answer of that request is; `endless` for a stream that is under way and has no end of its own. */
  #answering: "awaited" | "begun" | "endless" | "sent" = "awaited";
  /** The client has closed its sending half. */
  #isInputOver = false;
  #upgraded: Upgraded | null = null;
  #isAdvancing = false;
  /** `refused`: what came was no request. `lingering`: closed from here, and what still comes is thrown away. */
  #state: "open" | "refused" | "lingering" | "over" = "open";
  /** Monotonic milliseconds when a byte moved last, and when the head or the discarding or the lingering began. */
  #movedAt: number;
  #sinceMs: number;

  constructor(socket: ClientSocket, owner: ConnectionOwner) {
    this.#socket = socket;
    this.#owner = owner;
    this.#writer = new ResponseWriter(socket);
    this.#flow = new FlowControl(socket);
    this.#movedAt = owner.nowMs;
    this.#sinceMs = owner.nowMs;
  }

  get remoteAddress(): string {
    return this.#owner.addressOf(this.#socket);
  }

  received(bytes: Buffer): void {
    if (this.#state !== "open") return;
    this.#movedAt = this.#owner.nowMs;
    if (this.#upgraded !== null) {
      this.#upgraded.fromClient(bytes);
      return;
    }
    if (this.#request === null && this.#reader.held === 0) this.#sinceMs = this.#movedAt;
    this.#reader.add(bytes);
    this.#advance();
  }

  drained(): void {
    if (this.#upgraded !== null) this.#upgraded.clientDrained();
    else if (this.#writer.drained()) this.#movedAt = this.#owner.nowMs;
  }

  /**
   * The client sends no more: what came whole is still answered, within the time of an idle connection. What has no end
   * of its own ends now, since a client that has gone altogether says the same.
   */
  halfClosed(): void {
    if (this.#state === "over" || this.#isInputOver) return;
    this.#isInputOver = true;
    this.#movedAt = this.#owner.nowMs;
    if (this.#upgraded !== null || this.#state === "lingering" || this.#answering === "endless") this.#endPolitely();
    else this.#advance();
  }

  /** The client has gone, or the connection was ended from here. */
  closed(): void {
    if (this.#state === "over") return;
    this.#state = "over";
    this.#writer.closed();
    this.#upgraded?.clientGone();
    const request = this.#request;
    this.#request = null;
    this.#reader.endBody();
    if (request !== null) {
      if (this.#answering !== "sent") request.onGone?.();
      this.#owner.finished();
    }
    this.#owner.ended(this);
  }

  terminate(): void {
    if (this.#state !== "over") this.#socket.terminate();
    this.closed();
  }

  /**
   * The server is going away. A request may be on its way that would be lost if its connection were closed now: it is
   * closed where it has waited long for one, else with an answer that says so, or when none has come in a moment. What
   * switched to another protocol ends by itself.
   */
  drain(): void {
    if (this.#phase !== "idle") return;
    const { nowMs } = this.#owner;
    if (nowMs - this.#movedAt >= restingMs) this.#endPolitely();
    else this.#movedAt = nowMs;
  }

  /** Ends what is past its time, with an answer where one is possible. */
  check(nowMs: number, times: ConnectionTimes): void {
    const phase = this.#phase;
    const idleMs = phase === "idle" && this.#owner.isDraining ? times.partingMs : times.idleMs;
    if (!isOverdue(phase, nowMs - this.#movedAt, nowMs - this.#sinceMs, { ...times, idleMs })) return;
    if (phase === "idle") this.#endPolitely();
    else if (phase === "head") this.#refuse(slowHead);
    else if (phase === "body" && this.#answering === "awaited") this.#giveUp();
    else this.terminate();
  }

  /** Ends a connection that waits for a request since before the last tick; false, with nothing done, for others. */
  endIfIdle(): boolean {
    const isIdle = this.#phase === "idle" && this.#movedAt < this.#owner.nowMs;
    if (isIdle) this.#endPolitely();
    return isIdle;
  }

  get #phase(): Phase {
    if (this.#upgraded !== null) return "busy";
    if (this.#state !== "open") return "lingering";
    if (this.#request === null) return this.#reader.held === 0 ? "idle" : "head";
    if (this.#answering === "sent" && !this.#reader.isBodyWhole) return "discarding";
    if (this.#writer.isBlocked) return "unread";
    if (this.#reader.isBodyRequested && !this.#flow.isPaused) return "body";
    return this.#isInputOver ? "half-closed" : "busy";
  }

  takeBody(request: HttpRequest): Uint8Array | null {
    return request === this.#request ? this.#reader.takeBody() : null;
  }

  readBody(request: HttpRequest, sink: BodySink): void {
    if (request !== this.#request) {
      sink.fail();
      return;
    }
    this.#reader.wantBody(sink);
    this.#movedAt = this.#owner.nowMs;
    const isAwaited = this.#reader.held === 0 && !this.#reader.isBodyWhole;
    if (request.headers.expectsContinue && isAwaited) void this.#writer.write(continueLine);
    this.resumeBody(request);
    this.#advance();
  }

  pauseBody(request: HttpRequest): void {
    if (request === this.#request) this.#flow.pause();
  }

  resumeBody(request: HttpRequest): void {
    if (request === this.#request) this.#resume();
  }

  #advance(): void {
    if (this.#isAdvancing) return;
    this.#isAdvancing = true;
    while (this.#step());
    this.#isAdvancing = false;
    if (this.#state === "open" && this.#reader.held > heldBytesMax) this.#flow.pause();
  }

  /** Does what can be done with what has come; true when there may be more to do. */
  #step(): boolean {
    if (this.#state !== "open" || this.#upgraded !== null) return false;
    if (this.#request === null) return this.#reader.held > 0 ? this.#beginNext() : this.#endInput();
    const state = this.#reader.readBody();
    const isSent = this.#answering === "sent";
    if (state === "malformed" && isSent) this.terminate();
    if (state === "more" && this.#isInputOver) this.#cutBody();
    if (state !== "done" || !isSent) return false;
    this.#request = null;
    this.#sinceMs = this.#owner.nowMs;
    this.#resume();
    this.#owner.finished();
    return true;
  }

  #beginNext(): boolean {
    const head = this.#reader.nextHead();
    if (head === null) return this.#endInput();
    if (!(head instanceof RequestHead)) {
      this.#refuse(head);
      return false;
    }
    this.#answering = "awaited";
    const request = new HttpRequest(head, this);
    this.#request = request;
    this.#owner.begun();
    const handled = this.#owner.handle(request);
    if (handled instanceof Promise) void handled.then((settled) => this.#handled(request, settled));
    else this.#handled(request, handled);
    return true;
  }

  /** There is no further request in what was sent; when nothing more is sent, that is the end. */
  #endInput(): false {
    if (!this.#isInputOver) return false;
    if (this.#reader.held > 0) this.#refuse(cutHead);
    else this.#endPolitely();
    return false;
  }

  #handled(request: HttpRequest, handled: Handled): void {
    if (!("begin" in handled)) {
      if (this.#request === request) this.#answer(request, handled);
      else dropAnswer(handled);
    } else if (this.#request !== request) handled.abandoned();
    else {
      const sent = this.#writer.write(handled.head);
      if (sent === true) this.#upgrade(handled);
      else void sent.then(() => this.#upgrade(handled));
    }
  }

  #answer(request: HttpRequest, answer: HttpAnswer): void {
    const isLast =
      request.headers.isLast ||
      this.#owner.isDraining ||
      !this.#reader.canSkip(discardedBytesMax) ||
      (this.#isInputOver && this.#reader.held === 0);
    this.#answering = isEndless(answer) ? "endless" : "begun";
    if (this.#isInputOver && this.#answering === "endless") {
      dropAnswer(answer);
      this.#endPolitely();
      return;
    }
    const sent = this.#writer.send(answer, { date: this.#owner.date, isLast, request: request.headers });
    if (sent === true) this.#answered(isLast);
    else void sent.then((isSent) => (isSent ? this.#answered(isLast) : this.terminate()));
  }

  #answered(isLast: boolean): void {
    this.#answering = "sent";
    this.#movedAt = this.#owner.nowMs;
    this.#sinceMs = this.#movedAt;
    // Where the answer did not say so the client may have sent its next request.
    if (isLast) {
      this.#end();
      return;
    }
    if (!this.#reader.isBodyWhole) {
      this.#reader.endBody();
      this.#reader.wantBody(new DiscardingSink(discardedBytesMax, () => this.terminate()));
      this.#resume();
    }
    this.#advance();
  }

  /** No more of the body comes: its reader is told; behind an answer nothing is left to do. */
  #cutBody(): void {
    if (this.#answering === "sent") this.#endPolitely();
    else this.#reader.endBody();
  }

  /** The request's body did not come: its handler is told, and what it answers is dropped. */
  #giveUp(): void {
    const request = this.#request;
    this.#request = null;
    this.#reader.endBody();
    request?.onGone?.();
    this.#owner.finished();
    this.#refuse(slowBody);
  }

  #refuse(fault: HeadFault): void {
    this.#state = "refused";
    this.#sinceMs = this.#owner.nowMs;
    const sent = this.#writer.send(this.#owner.refusal(fault), {
      date: this.#owner.date,
      isLast: true,
      request: null,
    });
    if (sent === true) this.#linger();
    else void sent.then(() => this.#linger());
  }

  #end(): void {
    if (this.#reader.held === 0 && this.#reader.isBodyWhole) this.#endPolitely();
    else this.#linger();
  }

  /** A client that still sends could lose the answer if its bytes met a closed socket. */
  #linger(): void {
    if (this.#state === "over") return;
    if (this.#isInputOver) {
      this.#endPolitely();
      return;
    }
    if (this.#request !== null) this.#owner.finished();
    this.#request = null;
    this.#upgraded = null;
    this.#state = "lingering";
    this.#sinceMs = this.#owner.nowMs;
    this.#reader.takeRest();
    this.#reader.endBody();
    this.#resume();
    this.#socket.shutdown();
  }

  /** What was sent still arrives. */
  #endPolitely(): void {
    this.#socket.end();
    this.closed();
  }

  /** From here on the connection is the other protocol's; what the client sent ahead goes to it first. */
  #upgrade({ begin, abandoned }: Upgrade): void {
    if (this.#request === null || this.#isInputOver) {
      abandoned();
      if (this.#request !== null) this.#endPolitely();
      return;
    }
    this.#request = null;
    this.#owner.finished();
    this.#resume();
    const upgraded = begin(this.#socket, (lingers = false) => (lingers ? this.#linger() : this.closed()));
    this.#upgraded = upgraded;
    const rest = this.#reader.takeRest();
    if (rest.length > 0) upgraded.fromClient(rest);
  }

  #resume(): void {
    if (this.#flow.isPaused) this.#movedAt = this.#owner.nowMs;
    this.#flow.resume();
  }
}

/** Whether a client is listened to; asked twice for the same it does nothing. */
class FlowControl {
  readonly #socket: ClientSocket;
  isPaused = false;

  constructor(socket: ClientSocket) {
    this.#socket = socket;
  }

  pause(): void {
    if (!this.isPaused) this.#socket.pause();
    this.isPaused = true;
  }

  resume(): void {
    if (this.isPaused) this.#socket.resume();
    this.isPaused = false;
  }
}

/** Whether a phase has lasted too long: `stoodMs` without a byte, `sinceMs` since it began. */
function isOverdue(phase: Phase, stoodMs: number, sinceMs: number, times: ConnectionTimes): boolean {
  switch (phase) {
    case "busy":
      return false;
    case "head":
      return sinceMs >= times.headMs;
    case "discarding":
    case "lingering":
      return sinceMs >= times.lingerMs;
    default:
      return stoodMs >= times.idleMs;
  }
}
