/**
 * A client that costs little: keep-alive connections, one request in flight on each, answers found by their
 * content-length. With fetch the client took more processor time than the servers it measured.
 */
interface Lane {
  readonly socket: Bun.Socket<undefined>;
  sentAt: number;
  received: string;
}

export class Connections implements Disposable {
  readonly latenciesMs: number[] = [];
  readonly #free: Lane[] = [];
  readonly #lanes = new Map<Bun.Socket<undefined>, Lane>();
  #waiting: { path: string; since: number }[] = [];
  #idle = Promise.withResolvers<void>();
  readonly #host: string;
  readonly #port: number;

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.#host = hostname;
    this.#port = Number(port);
  }

  async open(count: number): Promise<void> {
    for (let at = 0; at < count; at++) {
      const socket = await Bun.connect<undefined>({
        hostname: this.#host,
        port: this.#port,
        socket: { data: (from, bytes) => this.#read(from, bytes), error: () => undefined },
      });
      const lane = { socket, sentAt: 0, received: "" };
      this.#lanes.set(socket, lane);
      this.#free.push(lane);
    }
  }

  /** Sends at once, or when a connection is free; the wait counts. */
  send(path: string): void {
    const since = performance.now();
    const lane = this.#free.pop();
    if (lane === undefined) this.#waiting.push({ path, since });
    else this.#write(lane, path, since);
  }

  /** When all that was sent has been answered. */
  async settled(): Promise<void> {
    while (this.#free.length < this.#lanes.size) {
      this.#idle = Promise.withResolvers<void>();
      await this.#idle.promise;
    }
  }

  [Symbol.dispose](): void {
    for (const socket of this.#lanes.keys()) socket.end();
  }

  #write(lane: Lane, path: string, since: number): void {
    lane.sentAt = since;
    lane.received = "";
    lane.socket.write(`GET ${path} HTTP/1.1\r\nHost: ${this.#host}\r\n\r\n`);
  }

  #read(socket: Bun.Socket<undefined>, bytes: Buffer): void {
    const lane = this.#lanes.get(socket);
    if (lane === undefined) return;
    lane.received += bytes.toString("latin1");
    const head = lane.received.indexOf("\r\n\r\n");
    const length = /content-length: (\d+)/i.exec(lane.received)?.[1];
    if (head < 0 || length === undefined || lane.received.length < head + 4 + Number(length)) return;
    if (!lane.received.startsWith("HTTP/1.1 200")) throw new Error(lane.received);
    this.latenciesMs.push(performance.now() - lane.sentAt);
    const next = this.#waiting.shift();
    if (next !== undefined) this.#write(lane, next.path, next.since);
    else {
      this.#free.push(lane);
      this.#idle.resolve();
    }
  }
}
