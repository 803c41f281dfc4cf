/** One client connection that is kept, with one call under way at a time, and what became of each call. */
import { connect, type Socket } from "node:net";

/**
 * `refused`: no connection, or one that ended without any answer: the system opens some that no process has taken. A
 * call that was written on such a one may have been carried out.
 * `lost`: a connection on which calls were answered ended after a further one was written and before its answer came.
 * `late`: no answer within the time that the caller waits; the connection is given up then.
 */
export type Outcome =
  | { readonly kind: "answered"; readonly status: number; readonly body: string }
  | { readonly kind: "refused"; readonly isWritten: boolean }
  | { readonly kind: "lost" | "late" };

const headEnd = "\r\n\r\n";

export class KeepAliveCaller implements Disposable {
  #socket: Socket | null = null;
  #port = 0;
  #received = "";
  #hasAnswered = false;
  #waiting: ((outcome: Outcome) => void) | null = null;

  /** Posts a JSON body on the connection that is open to that port, or on a new one. */
  async post(request: {
    readonly port: number;
    readonly path: string;
    readonly key: string;
    readonly body: string;
    readonly lateMs: number;
  }): Promise<Outcome> {
    const { port, path, key, body, lateMs } = request;
    if (this.#socket === null || this.#port !== port) {
      this.#drop();
      if (!(await this.#open(port, lateMs))) return { kind: "refused", isWritten: false };
    }
    const socket = this.#socket;
    if (socket === null) return { kind: "refused", isWritten: false };
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    this.#waiting = resolve;
    const length = `content-length: ${Buffer.byteLength(body)}`;
    const head = `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: ${key}\r\n`;
    socket.write(`${head}content-type: application/json\r\n${length}\r\n\r\n${body}`);
    const timer = setTimeout(() => this.#settle({ kind: "late" }), lateMs);
    const outcome = await promise;
    clearTimeout(timer);
    if (outcome.kind !== "answered") this.#drop();
    return outcome;
  }

  #open(port: number, lateMs: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const socket = connect({ host: "127.0.0.1", port });
    const timer = setTimeout(() => socket.destroy(), lateMs);
    socket.once("connect", () => {
      clearTimeout(timer);
      this.#socket = socket;
      this.#port = port;
      this.#received = "";
      this.#hasAnswered = false;
      resolve(true);
    });
    socket.on("data", (bytes: Buffer) => this.#receive(bytes));
    socket.on("error", () => undefined);
    socket.on("close", () => {
      clearTimeout(timer);
      resolve(false);
      if (this.#socket !== socket) return;
      this.#socket = null;
      this.#settle(this.#hasAnswered ? { kind: "lost" } : { kind: "refused", isWritten: true });
    });
    // The server's end of a connection ends it here too.
    socket.on("end", () => socket.destroy());
    return promise;
  }

  #receive(bytes: Buffer): void {
    this.#received += bytes.toString("latin1");
    const at = this.#received.indexOf(headEnd);
    if (at < 0) return;
    const head = this.#received.slice(0, at);
    const length = Number(/content-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    if (this.#received.length < at + headEnd.length + length) return;
    const body = this.#received.slice(at + headEnd.length, at + headEnd.length + length);
    this.#received = "";
    const isLast = /connection: *close/i.test(head);
    this.#hasAnswered = true;
    this.#settle({ kind: "answered", status: Number(head.slice(9, 12)), body });
    if (isLast) this.#drop();
  }

  #settle(outcome: Outcome): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.(outcome);
  }

  #drop(): void {
    const socket = this.#socket;
    this.#socket = null;
    socket?.destroy();
  }

  [Symbol.dispose](): void {
    this.#drop();
    this.#settle({ kind: "refused", isWritten: true });
  }
}
