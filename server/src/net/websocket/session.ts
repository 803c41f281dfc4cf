import { closeCodes } from "@sluice/contract/close-codes";
import type { Clock } from "@sluice/lib";
import { type FrameGroup, FrameMember } from "./fan-out.ts";
import type { FrameBatch } from "./frame-batch.ts";

/** A connected WebSocket as a session sees it. */
export interface Socket {
  send(data: string | Uint8Array): number;
  close(code?: number, reason?: string): void;
  /** Ends the connection without the closing exchange, for peers that no longer read. */
  terminate(): void;
  ping(): number;
  /** Bytes that the peer has not taken yet. */
  getBufferedAmount(): number;
  /** Runs the work and sends what it sent in one piece. */
  cork?(work: () => void): unknown;
  /** Sends what many clients get alike, in one write; absent where frames are the runtime's. */
  sendBatch?(batch: FrameBatch): unknown;
}

/** One client's life on a WebSocket, from the upgrade on; called by the listener that has the socket. */
export interface SocketSession {
  /** Sent with the upgrade's answer. */
  readonly requestId: string;
  opened(socket: Socket): void;
  received(data: string | Uint8Array): void;
  ponged(): void;
  /** What was sent has gone out after the socket had been full. */
  writable?(): void;
  closed(code: number): void;
  /** Every 30 seconds: pings the client, and ends the connection of one that no longer answers. */
  tick(): void;
  /** The server is going away: closes with 1001. */
  drain(): void;
}

/** Knows where an upgrade came from. */
export interface SocketPeer {
  requestIP(request: Request): { readonly address: string } | null;
}

/** What serves the WebSocket upgrades of some paths. */
export interface SocketMount {
  serves(path: string): boolean;
  /** Always gives a session: a client that is refused receives the reason on the socket and is closed with a code. */
  begin(request: Request, peer: SocketPeer): SocketSession | Promise<SocketSession>;
}

/** What a connection that ended without a closing frame counts as (RFC 6455, section 7.1.5). */
export const closedAbnormally = 1006;

/** Pings without an answer after which a client counts as gone: 60 to 90 seconds. */
const missedPongsMax = 2;

/** Bounds on what a client says. */
export class InboundBounds {
  readonly #limits: { readonly messageBytesMax: number; readonly messagesPerSecond: number };
  readonly #clock: Pick<Clock, "monotonic">;
  #windowMs = Number.NEGATIVE_INFINITY;
  #windowMessages = 0;

  constructor(
    limits: { readonly messageBytesMax: number; readonly messagesPerSecond: number },
    dependencies: { readonly clock: Pick<Clock, "monotonic"> },
  ) {
    this.#limits = limits;
    this.#clock = dependencies.clock;
  }

  /** The close code of the bound that a message of `bytes` breaks; null for one within the bounds. */
  check(bytes: number): number | null {
    if (bytes > this.#limits.messageBytesMax) return closeCodes.messageTooLarge;
    return this.#isWithinRate() ? null : closeCodes.rateLimited;
  }

  /** Counts in windows of a second; cheap, and exact enough for a bound that only floods meet. */
  #isWithinRate(): boolean {
    const nowMs = this.#clock.monotonic();
    if (nowMs - this.#windowMs >= 1_000) {
      this.#windowMs = nowMs;
      this.#windowMessages = 0;
    }
    this.#windowMessages += 1;
    return this.#windowMessages <= this.#limits.messagesPerSecond;
  }
}

/** Why a session ends: the close code, and the message that is sent before it, if any. */
export interface Ending {
  readonly code: number;
  readonly reason?: string;
  readonly message?: string;
}

/**
 * What the sessions of all services have in common: liveness, bounds on what a client says, and one end. A subclass
 * gives the hooks; once the session is ending, only `onReceived`, `onOpened` and `onClosed` are called.
 */
export abstract class ClientSession implements SocketSession {
  readonly requestId: string;
  /** Null where the service ignores what clients say. */
  readonly #inbound: InboundBounds | null;
  #socket: Socket | null = null;
  /** What groups have of it, from the first that it joins. */
  #member: FrameMember | null = null;
  #missedPongs = 0;
  #ending: Ending | null = null;
  #isClosed = false;

  constructor(requestId: string, inbound: InboundBounds | null) {
    this.requestId = requestId;
    this.#inbound = inbound;
  }

  protected abstract onOpened(): void;

  /** A message of any kind, of `bytes` in UTF-8, also one that comes while the session is ending. */
  protected onReceived(_bytes: number): void {}

  /** A message within the bounds. */
  protected onMessage(_data: string | Uint8Array): void {}

  /** A message broke the bound of this close code; the session is to end. */
  protected onExceeded(code: number): void {
    this.end({ code });
  }

  protected onWritable(): void {}

  /**
   * Whether what groups published goes out to this client. A session that says no has taken it over: it keeps of it
   * what it will send itself, or ends. Called once a turn of the event loop, before the write.
   */
  protected takes(_batch: FrameBatch): boolean {
    return true;
  }

  /** Every 30 seconds, while the client is alive. */
  protected onTick(): void {}

  /** The session was asked to end, from here; before the socket is closed. Called once. */
  protected onEnding(): void {}

  /** The connection is gone. `code` is the one that the session ended with, else the client's. Called once. */
  protected abstract onClosed(code: number, wasOpened: boolean): void;

  /** Whether nothing has ended the session. */
  get isLive(): boolean {
    return this.#ending === null && !this.#isClosed;
  }

  /** Bytes that the client has not taken. */
  protected get unsentBytes(): number {
    return (this.#socket?.getBufferedAmount() ?? 0) + (this.#member?.ownBytes ?? 0);
  }

  /**
   * Sends where the session is open and not ending; false otherwise. Behind what its groups published before, and ahead
   * of what they publish after.
   */
  protected send(data: string | Uint8Array): boolean {
    if (this.#socket === null || !this.isLive) return false;
    if (this.#member?.defer(data) !== true) this.#socket.send(data);
    return true;
  }

  /** The client gets what the group publishes from now on, for as long as the session is live. */
  protected join(group: FrameGroup): void {
    if (!this.isLive) return;
    this.#member ??= new FrameMember(group.fanOut, (batch) => this.#deliver(batch));
    group.add(this.#member);
  }

  /** The client gets what the group published until now. */
  protected leave(group: FrameGroup): void {
    if (this.#member !== null) group.delete(this.#member);
  }

  /** Runs the work and sends what it sent in one piece. */
  protected cork(work: () => void): void {
    if (this.#socket?.cork === undefined) work();
    else this.#socket.cork(work);
  }

  /** Ends the session, once; one that is still being upgraded is closed when it is open. */
  end(ending: Ending): void {
    if (!this.isLive) return;
    // What was published to it before goes ahead of the end; to give that out may already end the session.
    this.#member?.finish();
    if (!this.isLive) return;
    this.#ending = ending;
    this.onEnding();
    if (this.#socket !== null) this.#close(this.#socket, ending);
  }

  opened(socket: Socket): void {
    this.#socket = socket;
    this.onOpened();
    if (this.#ending !== null) this.#close(socket, this.#ending);
  }

  received(data: string | Uint8Array): void {
    if (this.#inbound === null) return;
    const bytes = typeof data === "string" ? Buffer.byteLength(data) : data.byteLength;
    this.onReceived(bytes);
    if (this.#ending !== null) return;
    const exceeded = this.#inbound.check(bytes);
    if (exceeded === null) this.onMessage(data);
    else this.onExceeded(exceeded);
  }

  ponged(): void {
    this.#missedPongs = 0;
  }

  writable(): void {
    if (this.isLive) this.onWritable();
  }

  tick(): void {
    // Also the end of a peer that was sent our closing frame and never answered it.
    if (this.#missedPongs >= missedPongsMax || this.#ending !== null) {
      this.#socket?.terminate();
      return;
    }
    this.#missedPongs += 1;
    this.#socket?.ping();
    this.onTick();
  }

  drain(): void {
    this.end({ code: closeCodes.goingAway });
  }

  closed(code = closedAbnormally): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#member?.drop();
    // The runtime may report another code after a close by the server.
    this.onClosed(this.#ending?.code ?? code, this.#socket !== null);
  }

  #deliver(batch: FrameBatch): void {
    const socket = this.#socket;
    if (socket === null || !this.isLive) return;
    try {
      if (!this.takes(batch)) return;
    } catch (error) {
      this.end({ code: closeCodes.internalError });
      throw error;
    }
    if (socket.sendBatch !== undefined) {
      socket.sendBatch(batch);
      return;
    }
    const send = (): void => {
      for (const { data } of batch.frames) socket.send(data);
    };
    if (batch.frames.length > 1 && socket.cork !== undefined) socket.cork(send);
    else send();
  }

  #close(socket: Socket, { code, reason, message }: Ending): void {
    if (message !== undefined) socket.send(message);
    socket.close(code, reason ?? "");
  }
}

/** The session of a client that was refused at the upgrade: it receives why and is closed. */
export class RefusedSession extends ClientSession {
  constructor(requestId: string, refusal: Ending) {
    super(requestId, null);
    this.end(refusal);
  }

  protected onOpened(): void {}

  protected onClosed(): void {}
}
