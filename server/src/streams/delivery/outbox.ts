import { BoundedQueue } from "@sluice/lib";

/** What may wait for a client, in its socket and here, before it is taken for one that does not read. */
const waitingBytesMax = 8 * 1024 * 1024;
const waitingMessagesMax = 65_536;

export interface OutboundMessage {
  readonly data: string | Uint8Array;
  readonly bytes: number;
}

/** The messages of one connection that wait to be sent, in their order. */
export class Outbox {
  readonly #messages = new BoundedQueue<OutboundMessage>({ max: waitingMessagesMax });
  #bytes = 0;
  /** Bytes of the one message over the bound that waits or is being sent; 0 when there is none. */
  #largeBytes = 0;

  get isEmpty(): boolean {
    return this.#messages.length === 0;
  }

  /** Whether so many bytes may wait for the client in its socket alone, where nothing waits here. */
  fits(bytes: number, unsentBytes: number): boolean {
    return bytes + unsentBytes <= waitingBytesMax;
  }

  /**
   * Adds a message; false, with nothing changed, when more would wait than may: 8 MiB, beside one message that is
   * larger than that by itself. `unsentBytes` are those that the socket has and the client has not.
   */
  add(message: OutboundMessage, unsentBytes: number): boolean {
    const before = this.#bytes + unsentBytes;
    if (before <= waitingBytesMax / 2) this.#largeBytes = 0;
    const largeBytes = this.#largeBytes === 0 && message.bytes > waitingBytesMax ? message.bytes : this.#largeBytes;
    if (before + message.bytes - largeBytes > waitingBytesMax || !this.#messages.push(message)) return false;
    this.#largeBytes = largeBytes;
    this.#bytes += message.bytes;
    return true;
  }

  /** Takes the oldest message; undefined when none waits. */
  take(): OutboundMessage | undefined {
    const [message] = this.#messages.take(1);
    if (message !== undefined) this.#bytes -= message.bytes;
    return message;
  }
}
