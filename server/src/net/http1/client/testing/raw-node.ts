import { certificate, privateKey } from "./certificates.ts";

export interface RawConnection {
  /** Counted from 1. */
  readonly number: number;
  readonly socket: Bun.Socket<RawConnection>;
  received: string;
  requests: number;
}

/** What a node does with one whole request on a connection; it writes bytes as it likes. */
export type RawAnswer = (connection: RawConnection, body: string, head: string) => void;

/**
 * A node made of a bare socket, so that it can say anything at all. Requests are distinguished by their Content-Length.
 */
export class RawNode implements Disposable {
  readonly connections: RawConnection[] = [];
  readonly heads: string[] = [];
  readonly bodies: string[] = [];
  answer: RawAnswer;
  readonly #listener: Bun.TCPSocketListener<RawConnection>;

  constructor(answer: RawAnswer, options: { isTls?: boolean } = {}) {
    this.answer = answer;
    this.#listener = Bun.listen<RawConnection>({
      hostname: "127.0.0.1",
      port: 0,
      ...(options.isTls === true ? { tls: { cert: certificate, key: privateKey } } : {}),
      socket: {
        open: (socket) => {
          socket.data = { number: this.connections.length + 1, socket, received: "", requests: 0 };
          this.connections.push(socket.data);
        },
        data: (socket, bytes) => this.#received(socket.data, bytes.toString("latin1")),
        error: () => undefined,
      },
    });
  }

  get port(): number {
    return this.#listener.port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/`;
  }

  #received(connection: RawConnection, text: string): void {
    connection.received += text;
    for (;;) {
      const split = connection.received.indexOf("\r\n\r\n");
      if (split < 0) return;
      const head = connection.received.slice(0, split);
      const end = split + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (connection.received.length < end) return;
      const body = Buffer.from(connection.received.slice(split + 4, end), "latin1").toString();
      connection.received = connection.received.slice(end);
      connection.requests += 1;
      this.heads.push(head);
      this.bodies.push(body);
      this.answer(connection, body, head);
    }
  }

  [Symbol.dispose](): void {
    this.#listener.stop(true);
  }
}

/** A usual answer. */
export const answerOf = (body: string, head = ""): string =>
  `HTTP/1.1 200 OK\r\n${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
