import {
  createStream,
  type Network,
  type Stream,
  type StreamChannel,
  StreamError,
  type StreamEvent,
  type StreamFiltersOf,
  type StreamState,
} from "@sluice/sdk";

/** What a tail shows. */
export interface TailQuestion {
  readonly network: Network;
  readonly channel: StreamChannel;
  /** Those that the channel knows. */
  readonly filters: StreamFiltersOf<StreamChannel>;
}

/** An event, numbered in the order in which it came, with the time in Unix milliseconds. */
export interface TailRow {
  readonly number: number;
  readonly atMs: number;
  readonly event: StreamEvent;
}

export interface TailView {
  readonly status: "connecting" | "live" | "lagged" | "interrupted" | "closed";
  /** Why it is interrupted or closed; empty otherwise. */
  readonly reason: string;
  readonly isPaused: boolean;
  /** The newest first. */
  readonly rows: readonly TailRow[];
  readonly received: number;
  /** Events beyond the tier's messages a second, which were not sent. */
  readonly dropped: number;
  /** Events of each of the last seconds that are over, the newest last. */
  readonly perSecond: readonly number[];
}

export const tailRowsMax = 200;
const secondsMax = 60;
const viewEveryMs = 250;
/** For so long after events were dropped the tail says so. */
const laggedForMs = 5_000;

/**
 * One subscription for people to look at. A pause stops reading, so that nothing is lost by it: the SDK keeps what may
 * wait, then leaves the server and comes back by the last cursor.
 */
export class LiveTail {
  readonly #stream: Stream;
  readonly #onView: (view: TailView) => void;
  readonly #timer: ReturnType<typeof setInterval>;
  #state: StreamState = { state: "idle" };
  #rows: TailRow[] = [];
  #received = 0;
  #dropped = 0;
  #laggedAtMs = Number.NEGATIVE_INFINITY;
  #perSecond: number[] = [];
  #second = Math.floor(performance.now() / 1_000);
  #inSecond = 0;
  #failure: StreamError | null = null;
  #resume: (() => void) | null = null;
  #isPaused = false;

  constructor(question: TailQuestion, onView: (view: TailView) => void) {
    this.#onView = onView;
    this.#stream = createStream({
      url: location.origin,
      path: "/api/v1/console/ws",
      network: question.network,
      onState: (state) => {
        this.#state = state;
      },
    });
    this.#timer = setInterval(() => this.#show(), viewEveryMs);
    void this.#read(question);
  }

  pause(): void {
    this.#isPaused = true;
    this.#show();
  }

  resume(): void {
    this.#isPaused = false;
    this.#resume?.();
    this.#show();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#resume?.();
    void this.#stream.close();
  }

  async #read(question: TailQuestion): Promise<void> {
    try {
      for await (const event of eventsOf(this.#stream, question)) {
        this.#add(event);
        if (!this.#isPaused) continue;
        await new Promise<void>((resolve) => {
          this.#resume = resolve;
        });
      }
    } catch (error) {
      this.#failure = error instanceof StreamError ? error : new StreamError("UNKNOWN", String(error));
      this.#show();
    }
  }

  #add(event: StreamEvent): void {
    this.#received += 1;
    this.#countSeconds();
    this.#inSecond += 1;
    if (event.type === "lagged") {
      this.#dropped += event.dropped;
      this.#laggedAtMs = performance.now();
    }
    this.#rows = [{ number: this.#received, atMs: Date.now(), event }, ...this.#rows.slice(0, tailRowsMax - 1)];
  }

  /** Closes the seconds that are over. */
  #countSeconds(): void {
    const now = Math.floor(performance.now() / 1_000);
    for (; this.#second < now; this.#second += 1) {
      this.#perSecond.push(this.#inSecond);
      this.#inSecond = 0;
      if (this.#perSecond.length > secondsMax) this.#perSecond.shift();
      // After a long sleep of the machine only the last seconds count.
      if (now - this.#second > secondsMax) this.#second = now - secondsMax;
    }
  }

  #show(): void {
    this.#countSeconds();
    this.#onView({
      ...this.#standing(),
      isPaused: this.#isPaused,
      rows: this.#rows,
      received: this.#received,
      dropped: this.#dropped,
      perSecond: [...this.#perSecond],
    });
  }

  #standing(): Pick<TailView, "status" | "reason"> {
    if (this.#failure !== null) return { status: "closed", reason: `${this.#failure.message} (${this.#failure.code})` };
    const state = this.#state;
    if (state.state === "waiting") {
      const stated = state.error === null ? "" : `: ${state.error.message}`;
      return { status: "interrupted", reason: `The connection was closed with ${state.closeCode}${stated}` };
    }
    if (state.state !== "open") return { status: "connecting", reason: "" };
    return { status: performance.now() - this.#laggedAtMs < laggedForMs ? "lagged" : "live", reason: "" };
  }
}

function eventsOf(stream: Stream, { channel, filters }: TailQuestion): AsyncIterable<StreamEvent> {
  switch (channel) {
    case "transactions":
      return stream.transactions(filters);
    case "blocks":
      return stream.blocks(filters);
    case "accounts":
      return stream.accounts(filters);
    case "slots":
      return stream.slots(filters);
  }
}
