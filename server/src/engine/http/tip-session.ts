/** A connected WebSocket as a session sees it; door's sockets have this shape. */
export interface TipSocket {
  send(data: string): number;
  close(code?: number, reason?: string): void;
  terminate(): void;
  ping(): number;
  getBufferedAmount(): number;
}

/** What a session asks of the stream that it belongs to. */
export interface TipSessionOwner {
  opened(): void;
  closed(): void;
  /** Every 30 seconds: whether the key still holds. */
  recheck(): void;
}

/** What may lie unsent towards a client before it is passed over: some twenty records. */
const unsentBytesMax = 8 * 1024;
const missedPongsMax = 2;
const goingAway = 1001;

/** One client of the tip stream. It has nothing to say; what it says is not looked at. */
export class TipSession {
  readonly requestId: string;
  readonly #owner: TipSessionOwner;
  #socket: TipSocket | null = null;
  #missedPongs = 0;
  #isEnded = false;

  constructor(requestId: string, owner: TipSessionOwner) {
    this.requestId = requestId;
    this.#owner = owner;
  }

  opened(socket: TipSocket): void {
    this.#socket = socket;
    this.#owner.opened();
  }

  /** The present floor. A client that does not read is passed over: it wants the present and no backlog. */
  offer(text: string): void {
    if (this.#isEnded || this.#socket === null) return;
    if (this.#socket.getBufferedAmount() < unsentBytesMax) this.#socket.send(text);
  }

  received(): void {
    // The stream has one direction; door bounds the length of what comes the other way.
  }

  ponged(): void {
    this.#missedPongs = 0;
  }

  tick(): void {
    // Also the end of a peer that was sent our closing frame and never answered it.
    if (this.#isEnded || this.#missedPongs >= missedPongsMax) {
      this.#socket?.terminate();
      return;
    }
    this.#missedPongs += 1;
    this.#socket?.ping();
    this.#owner.recheck();
  }

  drain(): void {
    this.end(goingAway, "");
  }

  closed(): void {
    this.#isEnded = true;
    this.#owner.closed();
  }

  end(code: number, reason: string): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#socket?.close(code, reason);
  }
}
