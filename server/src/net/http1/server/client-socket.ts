import type { WritableSocket } from "./outgoing.ts";

/** A client's socket; the runtime's has this shape. */
export interface ClientSocket extends WritableSocket {
  readonly remoteAddress: string;
  pause(): void;
  resume(): void;
  /** Says that nothing more is sent, and goes on receiving. */
  shutdown(): void;
  /** Closes when what was sent has gone out. */
  end(): void;
  /** Closes at once. */
  terminate(): void;
}

/** Whether a client is listened to; asked twice for the same it does nothing. */
export class Flow {
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
