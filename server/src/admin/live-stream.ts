import { SluiceError } from "@sluice/contract/errors";
import type { Clock, Timer } from "@sluice/lib";

/** A failed reading is tried again; after this many in a row the stream ends, and the browser opens another. */
const failuresMax = 5;
/** Streams of one account: a page has two at most, and a person some tabs. */
const streamsPerAccountMax = 20;
/** Streams of all accounts together; each reads about once a second. */
const streamsMax = 1_000;
const encoder = new TextEncoder();
const headers = {
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-store",
  "X-Accel-Buffering": "no",
} as const;

export interface LiveOptions {
  readonly clock: Pick<Clock, "after">;
  readonly everyMs: number;
  /** Aborted when the server drains: streams end then, since they would never end by themselves. */
  readonly closing: AbortSignal;
}

/** Whose stream it is, and the method of the request: HEAD gets the headers alone. */
interface Reader {
  /** An account, or who operates without one. */
  readonly holder: string;
  readonly method: string;
}

/**
 * Server-sent events: a message each `everyMs` with what `read` gives, and nothing while the reader is slow, since it
 * wants the present and not a backlog. A stream ends when its reader leaves.
 */
export class LiveStreams {
  readonly #options: LiveOptions;
  /** Ends each open stream. */
  readonly #open = new Set<() => void>();
  readonly #openOf = new Map<string, number>();

  constructor(options: LiveOptions) {
    this.#options = options;
    options.closing.addEventListener("abort", () => this.#endAll(), { once: true });
  }

  /** Open streams. */
  get size(): number {
    return this.#open.size;
  }

  /** @throws {SluiceError} RATE_LIMIT_EXCEEDED when the account has its streams, OVERLOADED when the server has them */
  open({ holder, method }: Reader, read: () => Promise<unknown>): Response {
    if (method === "HEAD") return new Response(null, { headers });
    const streamsOfAccount = this.#openOf.get(holder) ?? 0;
    if (streamsOfAccount >= streamsPerAccountMax) {
      const message = `The account has ${streamsPerAccountMax} live streams open`;
      throw new SluiceError("RATE_LIMIT_EXCEEDED", { message });
    }
    if (this.#open.size >= streamsMax || this.#options.closing.aborted) throw new SluiceError("OVERLOADED");
    this.#openOf.set(holder, streamsOfAccount + 1);
    return new Response(
      this.#stream(read, () => this.#left(holder)),
      { headers },
    );
  }

  #stream(read: () => Promise<unknown>, left: () => void): ReadableStream<Uint8Array> {
    let timer: Timer | undefined;
    let isOpen = true;
    let failures = 0;
    let end = (): void => {};
    const leave = (): void => {
      isOpen = false;
      timer?.cancel();
      this.#open.delete(end);
      left();
    };
    return new ReadableStream<Uint8Array>({
      start: (controller) => {
        const beat = async (): Promise<void> => {
          if ((controller.desiredSize ?? 0) > 0) {
            try {
              const value = await read();
              failures = 0;
              if (isOpen) controller.enqueue(encoder.encode(`data: ${JSON.stringify(value)}\n\n`));
            } catch {
              failures += 1;
              if (failures >= failuresMax) end();
            }
          }
          if (isOpen) timer = this.#options.clock.after(this.#options.everyMs, beat);
        };
        end = () => {
          if (!isOpen) return;
          leave();
          controller.close();
        };
        this.#open.add(end);
        void beat();
      },
      cancel: leave,
    });
  }

  #left(holder: string): void {
    const rest = (this.#openOf.get(holder) ?? 1) - 1;
    if (rest > 0) this.#openOf.set(holder, rest);
    else this.#openOf.delete(holder);
  }

  #endAll(): void {
    for (const end of this.#open) end();
  }
}
