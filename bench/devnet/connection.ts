interface Exchange {
  pending: Buffer;
  unsent: Uint8Array;
  answered: (answer: Buffer) => void;
  failed: (error: Error) => void;
}

/** Takes what came; calls `answered` when the answer is whole. */
function receive(exchange: Exchange, bytes: Buffer): void {
  exchange.pending = exchange.pending.length === 0 ? Buffer.from(bytes) : Buffer.concat([exchange.pending, bytes]);
  const { pending } = exchange;
  const split = pending.indexOf("\r\n\r\n");
  if (split < 0) return;
  const head = pending.toString("latin1", 0, split);
  const length = Number(/content-length: *(\d+)/i.exec(head)?.[1] ?? Number.NaN);
  if (!head.startsWith("HTTP/1.1 200") || Number.isNaN(length)) {
    exchange.failed(new Error(head));
    return;
  }
  if (pending.length < split + 4 + length) return;
  exchange.pending = Buffer.alloc(0);
  exchange.answered(pending.subarray(split + 4, split + 4 + length));
}

function flush(exchange: Exchange, socket: Bun.Socket<undefined>): void {
  if (exchange.unsent.length > 0) exchange.unsent = exchange.unsent.subarray(socket.write(exchange.unsent));
}

/** One keep-alive HTTP connection over raw TCP, with one request under way at a time: it costs a load little CPU. */
export class Connection {
  readonly #socket: Bun.Socket<undefined>;
  readonly #exchange: Exchange;

  private constructor(socket: Bun.Socket<undefined>, exchange: Exchange) {
    this.#socket = socket;
    this.#exchange = exchange;
  }

  static async open(port: number): Promise<Connection> {
    const nothing = () => undefined;
    const exchange: Exchange = {
      pending: Buffer.alloc(0),
      unsent: new Uint8Array(),
      answered: nothing,
      failed: nothing,
    };
    const socket = await Bun.connect<undefined>({
      hostname: "127.0.0.1",
      port,
      socket: {
        data: (_socket, bytes) => receive(exchange, bytes),
        drain: (open) => flush(exchange, open),
        close: () => exchange.failed(new Error("the connection was closed")),
        error: (_socket, error) => exchange.failed(error),
      },
    });
    return new Connection(socket, exchange);
  }

  /** Sends a whole request and gives the body of its answer. */
  send(request: Uint8Array): Promise<Buffer> {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    this.#exchange.answered = resolve;
    this.#exchange.failed = reject;
    this.#exchange.unsent = request;
    flush(this.#exchange, this.#socket);
    return promise;
  }

  close(): void {
    this.#exchange.failed = () => undefined;
    this.#socket.end();
  }
}

/** The bytes of a POST of JSON. */
export function postOf(port: number, body: string): Uint8Array {
  const head = `POST / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n`;
  return Buffer.from(`${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}
