import type { StreamChannel } from "@sluice/contract/streams";
import type { StreamEvent, StreamMessage } from "./events.ts";
import { StreamError } from "./stream-error.ts";

/** Where a subscription begins, and what it does when events are dropped. */
export interface SubscribeOptions {
  /** Begins with the first block of this slot or a later one. Without it and `cursor` with what comes next. */
  readonly from_slot?: bigint;
  /** Begins right after the event of this cursor. */
  readonly cursor?: string;
  /**
   * What happens when the tier's messages a second do not suffice: `tell` (when absent) gives the event `lagged` where
   * events are missing, of which a resumption right after it may still bring some; `replay` goes back for them at the
   * tier's rate, so that none is missing and those behind come later.
   */
  readonly lagged?: "tell" | "replay";
}

/**
 * A subscription, over any number of connections: each event once and in order. It is read by one `for await`; to leave
 * the loop ends it. The loop throws `StreamError` once what was received before has been read.
 */
export interface StreamSubscription<Channel extends StreamChannel> extends AsyncIterable<StreamEvent<Channel>> {
  /** The cursor after which it begins, once the server has taken it; null for slots at processed. */
  readonly begun: Promise<string | null>;
  /**
   * After what was read: where another one misses nothing. It moves on while nothing comes, every half minute, so that
   * one that hears nothing for hours does not begin far back. Null before it has begun, and for slots at processed.
   */
  readonly cursor: string | null;
  /** Ends it: the loop ends, and what was not read is dropped. */
  close(): void;
  [Symbol.asyncDispose](): Promise<void>;
}

/** What a subscription asks of the stream that it belongs to. */
export interface SubscriptionHost {
  /** Asks the server to tell it from where it stands. */
  readonly ask: (subscription: Subscription) => void;
  /** Nothing more of it is to come from the server for now. */
  readonly release: (subscription: Subscription) => void;
  readonly ended: (subscription: Subscription) => void;
}

/** What a subscription is made of. */
export interface SubscriptionParts extends SubscribeOptions {
  readonly channel: StreamChannel;
  readonly filters: object;
  readonly bufferMax: number;
}

type Told = Extract<StreamMessage, { readonly type: StreamEvent["type"] }>;

/** Characters of messages that may wait besides the bound on their number. */
const charactersMax = 16 * 1024 * 1024;

interface WaitingEvent {
  readonly event: StreamEvent;
  readonly characters: number;
}

/**
 * The state of one subscription. Events wait here until they are read. With more than may wait it leaves the server,
 * and comes back by its last cursor when half is read, so that a slow reader misses nothing and holds a bounded amount.
 */
export class Subscription implements StreamSubscription<StreamChannel> {
  readonly begun: Promise<string | null>;
  /** The names by which the present connection knows it: of the question, then of the subscription. */
  ref: number | null = null;
  id: string | null = null;
  readonly #parts: SubscriptionParts;
  readonly #host: SubscriptionHost;
  #waiting: WaitingEvent[] = [];
  #characters = 0;
  /** After the last event that was received. */
  #cursor: string | null;
  /** After the last event that was read. */
  #cursorRead: string | null;
  #hasBegun = false;
  #isPaused = false;
  #end: { readonly error: StreamError | null } | null = null;
  #wake: (() => void) | null = null;
  #settleBegun: { resolve: (cursor: string | null) => void; reject: (error: StreamError) => void };
  /** Of slots at processed, to which no cursor leads back: the last one, and those that found no room. */
  #slot: bigint | null = null;
  #dropped: { count: number; readonly fromSlot: bigint } | null = null;

  constructor(parts: SubscriptionParts, host: SubscriptionHost) {
    this.#parts = parts;
    this.#host = host;
    this.#cursor = parts.cursor ?? null;
    this.#cursorRead = this.#cursor;
    this.#settleBegun = { resolve: () => undefined, reject: () => undefined };
    this.begun = new Promise((resolve, reject) => {
      this.#settleBegun = { resolve, reject };
    });
    // Who does not ask when it begins is told of the failure by the loop.
    this.begun.catch(() => undefined);
  }

  get cursor(): string | null {
    return this.#waiting.length === 0 ? this.#cursor : this.#cursorRead;
  }

  /** Whether the server is to tell it. */
  get isWanted(): boolean {
    return !this.#isPaused && this.#end === null;
  }

  /** The message that asks for what comes next. */
  question(ref: number): object {
    const { channel, filters, from_slot: fromSlot } = this.#parts;
    const from =
      this.#cursor !== null
        ? { cursor: this.#cursor }
        : fromSlot !== undefined && !this.#hasBegun
          ? { from_slot: String(fromSlot) }
          : {};
    return { action: "subscribe", channel, filters, ...from, cursors: true, ref };
  }

  /** The server tells it from now on. */
  answered(cursor: string | null): void {
    this.#cursor = cursor;
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.#cursorRead = cursor;
    this.#settleBegun.resolve(cursor);
  }

  /** What lay between the last event and this cursor was nothing of it. */
  passed(cursor: string | null): void {
    if (this.isWanted && cursor !== null) this.#cursor = cursor;
  }

  received(message: Told, characters: number): void {
    if (!this.isWanted) return;
    if (message.type === "lagged" && this.#parts.lagged === "replay" && this.#cursor !== null) {
      this.#host.release(this);
      this.#host.ask(this);
      return;
    }
    const { subscriptionId: _, ...event } = message;
    if (event.type === "slot" && event.cursor === null) {
      this.#receivedWithoutCursor(event, characters);
      return;
    }
    if ("cursor" in event) this.#cursor = event.cursor;
    this.#push(event, characters);
    if (!this.#isFull) return;
    this.#isPaused = true;
    this.#host.release(this);
  }

  /** Ends it with an error, which is thrown behind what waits. */
  fail(error: StreamError): void {
    if (this.#end !== null) return;
    const { code, message, details } = error;
    this.#end = { error: new StreamError(code, message, { ...details, cursor: details.cursor ?? this.#cursor }) };
    this.#settleBegun.reject(error);
    this.#host.ended(this);
    this.#wakeReader();
  }

  close(): void {
    if (this.#end?.error === null) return;
    const isFirst = this.#end === null;
    this.#end = { error: null };
    this.#waiting = [];
    this.#characters = 0;
    if (isFirst) {
      this.#settleBegun.reject(new StreamError("CLOSED", "The subscription was closed"));
      this.#host.release(this);
      this.#host.ended(this);
    }
    this.#wakeReader();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  /**
   * Gives the events in order, and waits for more.
   *
   * @throws {StreamError} behind the last event, where the subscription ended with one
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<StreamEvent> {
    try {
      for (;;) {
        const event = this.#take();
        if (event !== undefined) yield event;
        else if (this.#end !== null) {
          if (this.#end.error !== null) throw this.#end.error;
          return;
        } else {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        }
      }
    } finally {
      this.close();
    }
  }

  get #isFull(): boolean {
    return this.#waiting.length >= this.#parts.bufferMax || this.#characters >= charactersMax;
  }

  #push(event: StreamEvent, characters: number): void {
    this.#waiting.push({ event, characters });
    this.#characters += characters;
    this.#wakeReader();
  }

  #take(): StreamEvent | undefined {
    const first = this.#waiting.shift();
    if (first === undefined) return undefined;
    this.#characters -= first.characters;
    if ("cursor" in first.event && first.event.cursor !== null) this.#cursorRead = first.event.cursor;
    const isHalfRead = this.#waiting.length <= this.#parts.bufferMax / 2 && this.#characters <= charactersMax / 2;
    if (this.#isPaused && isHalfRead) {
      this.#isPaused = false;
      if (this.isWanted) this.#host.ask(this);
    }
    return first.event;
  }

  /** Another host may tell a slot again. One that finds no room is dropped, which is told when there is room. */
  #receivedWithoutCursor(event: Extract<StreamEvent, { readonly type: "slot" }>, characters: number): void {
    const { slot } = event;
    if (this.#slot !== null && slot <= this.#slot) return;
    this.#slot = slot;
    if (this.#isFull) {
      this.#dropped ??= { count: 0, fromSlot: slot };
      this.#dropped.count += 1;
      return;
    }
    const dropped = this.#dropped;
    this.#dropped = null;
    if (dropped !== null) this.#push({ type: "lagged", dropped: dropped.count, from_slot: dropped.fromSlot }, 0);
    this.#push(event, characters);
  }

  #wakeReader(): void {
    this.#wake?.();
    this.#wake = null;
  }
}
