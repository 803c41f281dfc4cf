import { type Frame, FrameSplitter } from "@sluice/wire/frames";

/**
 * Messages between every machine's process and its parent, over a Unix socket. Each frame is a u32 length, a kind and
 * its fields, little-endian. Kinds from 1 on are the machine's own; a request is answered by one frame, and answers
 * come in the order of the requests.
 */

/** From the child, once in each life: its process id as a u32. */
export const helloKind = 0;

/** The line that a child prints on its standard output when it is connected. */
export const readyLine = '{"ready":true}';

/** The part of Bun's sockets that both ends use. */
interface ByteSocket {
  write(bytes: Uint8Array): number;
}

/**
 * Frames over a socket that may take only part of a write. The rest waits for the socket's drain, in order. What waits
 * is bounded by the protocol: a machine has a fixed number of requests under way.
 */
export class FrameStream {
  readonly #splitter = new FrameSplitter();
  readonly #waiting: Uint8Array[] = [];
  readonly #socket: ByteSocket;

  constructor(socket: ByteSocket) {
    this.#socket = socket;
  }

  send(frames: Uint8Array): void {
    if (this.#waiting.length > 0) this.#waiting.push(frames);
    else this.#write(frames);
  }

  #write(bytes: Uint8Array): void {
    const written = Math.max(0, this.#socket.write(bytes));
    if (written < bytes.length) this.#waiting.unshift(bytes.subarray(written));
  }

  drain(): void {
    while (this.#waiting.length > 0) {
      const next = this.#waiting.shift() ?? new Uint8Array();
      const before = this.#waiting.length;
      this.#write(next);
      if (this.#waiting.length > before) return;
    }
  }

  /** The frames that the chunk completes; each is a view that holds until the next call. */
  receive(chunk: Uint8Array): Generator<Frame> {
    return this.#splitter.push(chunk);
  }
}
