import { BoundedQueue } from "@sluice/lib";
import type { GrpcStatusError } from "./status.ts";

/** The transport's end of a stream. */
export interface ResponseStreamSink<A> {
  /** Takes the message in any case; false when it wants no more until it says `drained`. */
  write(message: A): boolean;
  end(error: GrpcStatusError | null): void;
}

/**
 * The messages of one stream on their way to a client. What the transport does not take yet waits here, up to a bound;
 * what becomes of the stream at the bound is its owner's to say.
 */
export class ResponseStream<A> {
  readonly #sink: ResponseStreamSink<A>;
  readonly #waiting: BoundedQueue<A>;
  readonly #closeListeners: (() => void)[] = [];
  #backlog: Iterator<A> | null = null;
  #flows = true;
  #state: "open" | "ended" | "closed" = "open";

  constructor(options: { readonly waitingMax: number }, sink: ResponseStreamSink<A>) {
    this.#waiting = new BoundedQueue({ max: options.waitingMax });
    this.#sink = sink;
  }

  get isOpen(): boolean {
    return this.#state === "open";
  }

  /** How many more messages can be sent before the bound. */
  get room(): number {
    return this.#waiting.max - this.#waiting.length;
  }

  /** False, with nothing sent, where the stream is over or as many messages as may wait are waiting. */
  send(message: A): boolean {
    if (this.#state !== "open") return false;
    if (!this.#flows || this.#backlog !== null) return this.#waiting.push(message);
    this.#flows = this.#sink.write(message);
    return true;
  }

  /**
   * Sends all of these before whatever is sent later. They are made as the client reads, and count towards no bound.
   */
  begin(backlog: Iterable<A>): void {
    this.#backlog = backlog[Symbol.iterator]();
    this.#pump();
  }

  /**
   * Ends the stream behind what waits; nothing is sent after it, nor the rest of a backlog. An error becomes its
   * status.
   */
  end(error: GrpcStatusError | null = null): void {
    if (this.#state !== "open") return;
    this.#state = "ended";
    for (const message of this.#waiting.take(this.#waiting.max)) this.#sink.write(message);
    this.#sink.end(error);
  }

  /** Calls back once, when the stream is over for the transport too: sent to its end, or left by the client. */
  onClose(listener: () => void): void {
    if (this.#state === "closed") listener();
    else this.#closeListeners.push(listener);
  }

  /** Called by the transport. */
  drained(): void {
    this.#flows = true;
    this.#pump();
  }

  /** Called by the transport. */
  closed(): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#backlog = null;
    this.#waiting.take(this.#waiting.max);
    for (const listener of this.#closeListeners.splice(0)) listener();
  }

  #pump(): void {
    while (this.#flows && this.#state === "open") {
      const message = this.#next();
      if (message === undefined) return;
      this.#flows = this.#sink.write(message);
    }
  }

  #next(): A | undefined {
    const next = this.#backlog?.next();
    if (next !== undefined && next.done !== true) return next.value;
    this.#backlog = null;
    return this.#waiting.take(1)[0];
  }
}
