import { type ClientHttp2Session, connect } from "node:http2";

/**
 * A client that opens a stream and never reads of it: it gives no room beyond HTTP/2's first window, as a process does
 * that hangs. gRPC's own clients cannot be made to do that: they read ahead.
 */
export class SlowReader implements Disposable {
  readonly #session: ClientHttp2Session;
  readonly answered: Promise<void>;

  constructor(
    port: number,
    path: string,
    headers: Readonly<Record<string, string>>,
    first: { readonly message: Uint8Array; readonly isHalfClosed: boolean },
  ) {
    this.#session = connect(`http://127.0.0.1:${port}`);
    const stream = this.#session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc+proto",
      te: "trailers",
      ...headers,
    });
    stream.pause();
    this.answered = new Promise((resolve, reject) => {
      stream.on("response", () => resolve());
      stream.on("error", reject);
    });
    // It is ended on purpose; nothing waits for its answer then.
    this.answered.catch(() => {});
    stream.write(framed(first.message));
    if (first.isHalfClosed) stream.end();
  }

  [Symbol.dispose](): void {
    this.#session.destroy();
  }
}

/** A message as gRPC frames it: not compressed, its length, itself. */
export function framed(message: Uint8Array): Buffer {
  const frame = Buffer.alloc(5 + message.length);
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, 5);
  return frame;
}
