/** A WebSocket client that keeps what it was sent; waiting is for frames, never for time. */
export class Listener implements Disposable {
  readonly frames: string[] = [];
  closed: { readonly code: number; readonly reason: string } | null = null;
  readonly #socket: WebSocket;
  #wake: () => void = () => {};

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => {
      this.frames.push(String(data));
      this.#wake();
    });
    socket.addEventListener("close", ({ code, reason }) => {
      this.closed = { code, reason };
      this.#wake();
    });
  }

  static async open(url: string): Promise<Listener> {
    const socket = new WebSocket(url);
    const listener = new Listener(socket);
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener("open", () => resolve(), { once: true });
      socket.addEventListener("error", () => reject(new Error(`refused: ${url}`)), { once: true });
    });
    return listener;
  }

  send(frame: unknown): void {
    this.#socket.send(typeof frame === "string" ? frame : JSON.stringify(frame));
  }

  /** The next frame that was not taken yet. */
  async text(): Promise<string> {
    await this.#until(() => this.frames.length > 0 || this.closed !== null);
    const text = this.frames.shift();
    if (text === undefined) throw new Error(`closed with ${this.closed?.code} ${this.closed?.reason}`);
    return text;
  }

  async next(): Promise<Record<string, unknown>> {
    return JSON.parse(await this.text()) as Record<string, unknown>;
  }

  async end(): Promise<{ readonly code: number; readonly reason: string }> {
    await this.#until(() => this.closed !== null);
    return this.closed ?? { code: 0, reason: "" };
  }

  async #until(isDone: () => boolean): Promise<void> {
    while (!isDone()) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  [Symbol.dispose](): void {
    this.#socket.close();
  }
}
