import { closeCodes } from "@sluice/contract/close-codes";
import type { Upgraded } from "../http1/server/connection.ts";
import type { ClientSocket } from "../http1/server/response-writer.ts";
import type { FrameBatch } from "./frame-batch.ts";
import { encodeFrame, FrameReader, opcodes, reasonBytesMax } from "./frames.ts";
import { closedAbnormally, type Socket, type SocketSession } from "./session.ts";

export interface WebSocketOptions {
  readonly session: SocketSession;
  /** The longest message that a client may send. */
  readonly messageBytesMax: number;
  /** What may wait for a client that does not read before its connection is ended. */
  readonly unsentBytesMax: number;
}

export interface WebSocketDependencies {
  readonly socket: ClientSocket;
  /** An error of the session, which ends its connection alone. */
  readonly failed: (error: unknown) => void;
  /** The connection is over; called once. `lingers` when the client may still be sending: the socket is still open. */
  readonly ended: (lingers: boolean) => void;
}

/** What a client that sends no code closes with, and what it counts as (RFC 6455, section 7.1.5). */
const noCode = 1005;
const normalClosure = 1000;
/** Frames that wait are put together to writes of this size; what is longer by itself is not copied. */
const joinedBytesMax = 64 * 1024;

const nothing = Buffer.alloc(0);

/** The last text and its frame: a text that goes to many clients is encoded once. */
const shared = { text: "", frame: encodeFrame(opcodes.text, "") };

/** The server's end of a WebSocket (RFC 6455): a session's messages as frames on a client's socket. */
export class WebSocketConnection implements Socket, Upgraded {
  readonly session: SocketSession;
  readonly #unsentBytesMax: number;
  readonly #dependencies: WebSocketDependencies;
  readonly #reader: FrameReader;
  /** What the socket has not taken, oldest first, and its bytes. Parts of what other connections send as well. */
  #unsent: Buffer[] = [];
  #unsentBytes = 0;
  /** Frames that go out together; null outside `cork`. */
  #corked: Buffer[] | null = null;
  /** `closing`: our closing frame was sent. */
  #state: "open" | "closing" | "over" = "open";
  #closeCode = closedAbnormally;

  constructor(options: WebSocketOptions, dependencies: WebSocketDependencies) {
    this.session = options.session;
    this.#unsentBytesMax = options.unsentBytesMax;
    this.#dependencies = dependencies;
    this.#reader = new FrameReader(options, {
      message: (data) => this.#received(data),
      ping: (payload) => void this.#write(encodeFrame(opcodes.pong, payload)),
      pong: () => this.session.ponged(),
      close: (code) => this.#closedByPeer(code),
      broken: (code) => {
        this.close(code);
        // A socket that is closed while bytes still arrive is reset, and the client could lose the closing frame.
        this.#finish(true);
      },
    });
  }

  /** Bytes that were taken; -1 when some wait, 0 when the connection is closing. */
  send(data: string | Uint8Array): number {
    if (this.#state !== "open") return 0;
    if (typeof data !== "string") return this.#write(encodeFrame(opcodes.binary, data));
    if (data !== shared.text) {
      shared.text = data;
      shared.frame = encodeFrame(opcodes.text, data);
    }
    return this.#write(shared.frame);
  }

  /** As `send`, of all that is in the batch. */
  sendBatch({ pieces }: FrameBatch): number {
    let bytes = 0;
    for (const piece of pieces) {
      const sent = this.#state === "open" ? this.#write(piece) : 0;
      bytes = sent < 0 || bytes < 0 ? -1 : bytes + sent;
    }
    return bytes;
  }

  ping(): number {
    return this.#state === "open" ? this.#write(encodeFrame(opcodes.ping, "")) : 0;
  }

  /** Sends the closing frame behind what was sent; once the socket has taken it, the sending side is shut. */
  close(code: number = normalClosure, reason = ""): void {
    if (this.#state !== "open") return;
    this.#state = "closing";
    this.#closeCode = code;
    const text = Buffer.from(reason);
    const isCut = text.length > reasonBytesMax;
    const payload = Buffer.alloc(2 + (isCut ? 0 : text.length));
    payload.writeUInt16BE(code, 0);
    if (!isCut) payload.set(text, 2);
    this.#write(encodeFrame(opcodes.close, payload));
    // In a later step, since the session that closes is still at work.
    queueMicrotask(() => this.#endClosing());
  }

  terminate(): void {
    if (this.#state === "over") return;
    this.#dependencies.socket.terminate();
    this.clientGone();
  }

  getBufferedAmount(): number {
    return this.#unsentBytes;
  }

  cork(work: () => void): void {
    if (this.#corked !== null) {
      work();
      return;
    }
    const frames: Buffer[] = [];
    this.#corked = frames;
    try {
      work();
    } finally {
      this.#corked = null;
      if (frames.length > 0 && this.#state !== "over") this.#write(Buffer.concat(frames));
    }
  }

  fromClient(bytes: Buffer): void {
    try {
      this.#reader.feed(bytes);
    } catch (error) {
      this.#dependencies.failed(error);
      this.close(closeCodes.internalError);
    }
  }

  clientDrained(): void {
    while (this.#unsentBytes > 0) {
      const next = this.#nextUnsent();
      const written = Math.max(0, this.#dependencies.socket.write(next));
      this.#taken(written);
      if (written < next.length) return;
    }
    if (this.#state === "closing") this.#endClosing();
    else this.session.writable?.();
  }

  /** The client's answer is waited for as long as a refused request's bytes are; nothing depends on it. */
  #endClosing(): void {
    if (this.#state === "closing" && this.#unsentBytes === 0) this.#finish(true);
  }

  /** Of what waits as much as one write is to have. */
  #nextUnsent(): Buffer {
    const [first = nothing] = this.#unsent;
    let count = 0;
    let bytes = 0;
    for (const frame of this.#unsent) {
      if (count > 0 && bytes + frame.length > joinedBytesMax) break;
      count += 1;
      bytes += frame.length;
    }
    return count <= 1 ? first : Buffer.concat(this.#unsent.slice(0, count), bytes);
  }

  /** The socket took so much of what waits. What is left is still a part of the frames, not of a copy. */
  #taken(written: number): void {
    this.#unsentBytes -= written;
    let count = 0;
    let left = written;
    for (const frame of this.#unsent) {
      if (frame.length > left) {
        if (left > 0) this.#unsent[count] = frame.subarray(left);
        break;
      }
      left -= frame.length;
      count += 1;
    }
    this.#unsent.splice(0, count);
  }

  clientGone(): void {
    this.#finish(false);
  }

  #finish(lingers: boolean): void {
    if (this.#state === "over") return;
    this.#state = "over";
    this.#reader.stop();
    this.#unsent = [];
    this.#unsentBytes = 0;
    this.session.closed(this.#closeCode);
    this.#dependencies.ended(lingers);
  }

  #received(data: string | Buffer): void {
    if (this.#state === "open") this.session.received(data);
  }

  /**
   * The client began to close, or answered our closing frame. What was sent still arrives, unless it waits for the
   * client to read.
   */
  #closedByPeer(code: number): void {
    if (this.#state === "open") {
      this.close(code === noCode ? normalClosure : code);
      this.#closeCode = code;
    }
    // A client that sends on behind its closing frame would otherwise reset the connection, and could lose ours.
    this.#finish(true);
  }

  #write(frame: Buffer): number {
    if (this.#corked !== null) {
      this.#corked.push(frame);
      return frame.length;
    }
    const written = this.#unsentBytes > 0 ? 0 : this.#dependencies.socket.write(frame);
    if (written === frame.length) return written;
    if (written < 0) return 0;
    this.#unsent.push(frame.subarray(written));
    this.#unsentBytes += frame.length - written;
    if (this.#unsentBytes > this.#unsentBytesMax) this.terminate();
    return -1;
  }
}
