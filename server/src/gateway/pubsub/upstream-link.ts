/** Where a node speaks PubSub. */
export interface PubSubTarget {
  readonly label: string;
  readonly ws: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface UpstreamLinkHandlers {
  readonly received: (data: string | Uint8Array) => void;
  /** The node is gone, or never came; told once. */
  readonly lost: () => void;
}

/** What a client may have said before the node was reached, and what may lie unsent towards the node. */
const waitingMessagesMax = 1_064;
const unsentBytesMax = 1024 * 1024;
const connectTimeoutMs = 10_000;

/** A client's own connection to a node: frames go both ways as they are. */
export class UpstreamLink {
  readonly #socket: WebSocket;
  readonly #handlers: UpstreamLinkHandlers;
  readonly #timer: ReturnType<typeof setTimeout>;
  #waiting: (string | Uint8Array<ArrayBuffer>)[] = [];
  #closed = false;

  constructor(target: PubSubTarget, handlers: UpstreamLinkHandlers) {
    this.#handlers = handlers;
    // Bun's WebSocket takes headers, which the DOM's type does not know.
    this.#socket = new WebSocket(target.ws, { headers: target.headers } as unknown as string[]);
    this.#socket.binaryType = "arraybuffer";
    this.#timer = setTimeout(() => this.#lose(), connectTimeoutMs);
    this.#socket.onopen = () => {
      clearTimeout(this.#timer);
      for (const message of this.#waiting) this.#socket.send(message);
      this.#waiting = [];
    };
    this.#socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => {
      if (!this.#closed) handlers.received(typeof event.data === "string" ? event.data : new Uint8Array(event.data));
    };
    this.#socket.onclose = () => this.#lose();
    this.#socket.onerror = () => this.#lose();
  }

  /** False when the node takes no more: too much waits for it. */
  send(data: string | Uint8Array): boolean {
    if (this.#closed) return true;
    // The runtime reuses the memory of a binary frame after the handler returns.
    const message = typeof data === "string" ? data : new Uint8Array(data);
    if (this.#socket.readyState !== WebSocket.OPEN) {
      this.#waiting.push(message);
      return this.#waiting.length <= waitingMessagesMax;
    }
    this.#socket.send(message);
    return this.#socket.bufferedAmount <= unsentBytesMax;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#socket.close(1000);
  }

  #lose(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#socket.close();
    this.#handlers.lost();
  }
}
