export interface WebSocketClientOptions {
  /** `ws:` or `wss:`. */
  readonly url: string;
  /** Sent with the handshake. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface WebSocketClientHandlers {
  opened(): void;
  /** Bytes are memory of their own. */
  received(data: string | Uint8Array<ArrayBuffer>): void;
  /** The connection is gone, or could not be had; called once, and last. */
  lost(): void;
}

/**
 * A connection to the WebSocket of another server: a node, an exchange. No handler is called after it was closed here.
 */
export class WebSocketClient {
  readonly #socket: WebSocket;
  #handlers: WebSocketClientHandlers | null;

  /**
   * Begins to connect.
   *
   * @throws {SyntaxError} when the URL is none.
   */
  constructor(options: WebSocketClientOptions, handlers: WebSocketClientHandlers) {
    this.#handlers = handlers;
    // Bun's WebSocket takes headers, which the DOM's type does not know.
    const settings = { headers: options.headers ?? {} } as unknown as string[];
    this.#socket = new WebSocket(options.url, settings);
    this.#socket.binaryType = "arraybuffer";
    this.#socket.onopen = () => this.#handlers?.opened();
    this.#socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) =>
      this.#handlers?.received(typeof data === "string" ? data : new Uint8Array(data));
    this.#socket.onclose = () => this.#lose();
    this.#socket.onerror = () => this.#lose();
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  /** Bytes that the peer has not taken yet. */
  get unsentBytes(): number {
    return this.#socket.bufferedAmount;
  }

  /** Sends where it is open, else does nothing. */
  send(data: string | Uint8Array<ArrayBuffer>): void {
    if (this.isOpen) this.#socket.send(data);
  }

  /** Closes with 1000. */
  close(): void {
    this.#handlers = null;
    this.#socket.close(1000);
  }

  /** Cuts the connection: a peer that is gone never answers a closing frame. */
  terminate(): void {
    this.#handlers = null;
    // The DOM's sockets cannot do it, and its type does not know that Bun's can.
    if ("terminate" in this.#socket && typeof this.#socket.terminate === "function") this.#socket.terminate();
    else this.#socket.close();
  }

  #lose(): void {
    const handlers = this.#handlers;
    this.#handlers = null;
    this.#socket.close();
    handlers?.lost();
  }
}
