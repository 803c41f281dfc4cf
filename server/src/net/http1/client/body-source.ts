import type { ByteSource } from "@sluice/lib";
import { free } from "../body-buffer.ts";

/** Why a body that is handed out while it comes has no end: the node's doing, but for `unread`. */
export type CutKind = "timeout" | "unreachable" | "too-large" | "malformed" | "unread";

export class CutBody extends Error {
  readonly kind: CutKind;

  constructor(kind: CutKind) {
    super(`the body was cut: ${kind}`);
    this.kind = kind;
  }
}

/** What a body can do to the socket that it comes from. */
export interface BodyFlow {
  pause(): void;
  resume(): void;
  /** The rest is not needed. */
  abandon(): void;
}

/** Bytes that wait for their reader before the socket is paused; one read of it (512 KiB at most) may come on top. */
const waitingBytesMax = 256 * 1024;
/** A node that has been silent for so long in the middle of an answer is not waited for. */
const silentMsMax = 30_000;
/** A reader that takes nothing for so long holds a connection to a node for nothing. */
const unreadMsMax = 60_000;
/** However steadily it moves, a body may hold a connection for no longer. */
const wholeMsMax = 600_000;

/**
 * A body on its way from a connection to its reader, with the one thing between them that is bounded: what has come and
 * has not been read. It ends when the framing says so, and is cut when the connection is.
 */
export class BodySource implements ByteSource {
  #pieces: Uint8Array[] = [];
  /** What the reader has now. */
  #lent: Uint8Array | null = null;
  #waiting = 0;
  #flow: BodyFlow | null;
  #isPaused = false;
  #end: "ended" | CutBody | null = null;
  #wake: (() => void) | null = null;
  #isPassedOn = false;
  #hasMoved = true;
  /** Monotonic milliseconds, to the resolution of the pool's looks. */
  #movedAt = 0;
  #begunAt: number | null = null;

  constructor(flow: BodyFlow) {
    this.#flow = flow;
  }

  /** Whether the call's own deadline has given way to one for progress. */
  get isPassedOn(): boolean {
    return this.#isPassedOn;
  }

  /** Whether so much waits that nothing more is taken from the socket. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** It is passed on while it comes: from now on its deadline is for progress. */
  passOn(): void {
    this.#isPassedOn = true;
  }

  /** Why a body that is passed on is not waited for any longer, or null. The pool asks at each of its looks. */
  stalled(nowMs: number): "timeout" | "unread" | null {
    this.#begunAt ??= nowMs;
    if (this.#hasMoved) this.#movedAt = nowMs;
    this.#hasMoved = false;
    if (nowMs - this.#begunAt >= wholeMsMax) return this.#isPaused ? "unread" : "timeout";
    const stoodMs = nowMs - this.#movedAt;
    if (this.#isPaused) return stoodMs >= unreadMsMax ? "unread" : null;
    return stoodMs >= silentMsMax ? "timeout" : null;
  }

  push(bytes: Uint8Array): void {
    if (bytes.length === 0 || this.#end !== null) return;
    this.#pieces.push(bytes);
    this.#waiting += bytes.length;
    this.#hasMoved = true;
    if (this.#waiting > waitingBytesMax && !this.#isPaused) {
      this.#isPaused = true;
      this.#flow?.pause();
    }
    this.#rouse();
  }

  /** The framing says that it is whole. */
  end(): void {
    this.#conclude("ended");
  }

  fail(kind: CutKind): void {
    this.#conclude(new CutBody(kind));
  }

  async next(): Promise<Uint8Array | null> {
    this.#takeBack();
    while (this.#pieces.length === 0 && this.#end === null) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const piece = this.#pieces.shift();
    if (piece === undefined) {
      if (this.#end instanceof CutBody) throw this.#end;
      return null;
    }
    this.#lent = piece;
    this.#waiting -= piece.length;
    this.#hasMoved = true;
    if (this.#isPaused && this.#waiting <= waitingBytesMax / 2) {
      this.#isPaused = false;
      this.#flow?.resume();
    }
    return piece;
  }

  cancel(): void {
    const flow = this.#flow;
    this.#pieces = [];
    this.#waiting = 0;
    this.#flow = null;
    this.#end ??= new CutBody("unread");
    this.#rouse();
    flow?.abandon();
  }

  /** The connection goes its own way from here on, so it is left as it was found: not paused. */
  #conclude(end: "ended" | CutBody): void {
    if (this.#end !== null) return;
    this.#end = end;
    if (this.#isPaused) this.#flow?.resume();
    this.#flow = null;
    this.#isPaused = false;
    this.#rouse();
  }

  #takeBack(): void {
    if (this.#lent !== null) free(this.#lent);
    this.#lent = null;
  }

  #rouse(): void {
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }
}
