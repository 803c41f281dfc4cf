import type { Clock, Timer } from "@sluice/lib";
import { sliceEnvelope, sliceNotification } from "@sluice/wire/json";
import { WebSocketClient } from "../../net/index.ts";

/** Where a node speaks PubSub. */
export interface PubSubTarget {
  readonly label: string;
  readonly ws: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A node's answer: JSON text of its result or its error. */
export type UpstreamReply =
  | { readonly ok: true; readonly result: string }
  | { readonly ok: false; readonly error: string };

export interface UpstreamConnectionHandlers {
  /** A notification: JSON texts of the node's number of the subscription and of the result. */
  notified(subscription: string, result: string): void;
  /** Something came from the node. */
  heard(): void;
  /** The node is gone, never came, or does not answer; called once, and nothing is called after it. */
  lost(): void;
}

const connectTimeoutMs = 10_000;
const answerTimeoutMs = 10_000;
/** A node that has said nothing for this long is asked something, so that a connection that is half open is found. */
const probeAfterMs = 10_000;
/** Bytes that may lie unsent towards the node. */
const unsentBytesMax = 4 * 1024 * 1024;
/** Characters of notifications that come before the answer that names their subscription, and are kept until then. */
const earlyCharactersMax = 4 * 1024 * 1024;

interface Asked {
  readonly replied: (reply: UpstreamReply) => void;
  readonly untilMs: number;
}

/** A connection to a node over which calls are made and notifications come. */
export class UpstreamConnection {
  readonly target: PubSubTarget;
  readonly #clock: Clock;
  readonly #handlers: UpstreamConnectionHandlers;
  readonly #socket: WebSocketClient;
  readonly #connecting: Timer;
  readonly #watch: Timer;
  /** Calls that are sent once the node is reached. */
  #waiting: string[] = [];
  /** In the order in which they were made. */
  readonly #asked = new Map<string, Asked>();
  #early: (readonly [string, string])[] = [];
  #earlyCharacters = 0;
  #nextId = 0;
  #heardMs: number;
  #isOver = false;

  constructor(target: PubSubTarget, clock: Clock, handlers: UpstreamConnectionHandlers) {
    this.target = target;
    this.#clock = clock;
    this.#handlers = handlers;
    this.#heardMs = clock.monotonic();
    this.#connecting = clock.after(connectTimeoutMs, () => this.#lose());
    this.#watch = clock.every(1_000, () => this.#look());
    this.#socket = new WebSocketClient(
      { url: target.ws, headers: target.headers },
      {
        opened: () => {
          this.#connecting.cancel();
          this.#heardMs = clock.monotonic();
          for (const text of this.#waiting) this.#socket.send(text);
          this.#waiting = [];
        },
        received: (data) => this.#received(data),
        lost: () => this.#lose(),
      },
    );
  }

  /** Makes a call; `params` is JSON text. The number of calls is the caller's to bound. */
  call(method: string, params: string, replied: (reply: UpstreamReply) => void): void {
    if (this.#isOver) return;
    const id = String(this.#nextId);
    this.#nextId += 1;
    this.#asked.set(id, { replied, untilMs: this.#clock.monotonic() + connectTimeoutMs + answerTimeoutMs });
    const text = `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`;
    if (!this.#socket.isOpen) this.#waiting.push(text);
    else {
      this.#socket.send(text);
      if (this.#socket.unsentBytes > unsentBytesMax) this.#lose();
    }
  }

  /** Keeps a notification of a subscription that no answer has named yet. */
  keepEarly(subscription: string, result: string): void {
    // Something is counted for an empty one too.
    const characters = result.length + subscription.length + 16;
    if (this.#asked.size === 0 || this.#earlyCharacters + characters > earlyCharactersMax) return;
    this.#earlyCharacters += characters;
    this.#early.push([subscription, result]);
  }

  /** What came of a subscription before the answer that named it. */
  takeEarly(subscription: string): readonly string[] {
    const taken = this.#early.filter(([of]) => of === subscription).map(([, result]) => result);
    if (taken.length > 0) this.#early = this.#early.filter(([of]) => of !== subscription);
    return taken;
  }

  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#connecting.cancel();
    this.#watch.cancel();
    this.#waiting = [];
    this.#asked.clear();
    this.#early = [];
    this.#socket.close();
  }

  #received(data: string | Uint8Array): void {
    const bytes = typeof data === "string" ? Buffer.from(data) : Buffer.from(data.buffer, data.byteOffset, data.length);
    this.#heardMs = this.#clock.monotonic();
    this.#handlers.heard();
    const notification = sliceNotification(bytes);
    if (notification !== null) {
      const { subscriptionStart, subscriptionEnd, resultStart, resultEnd } = notification;
      const subscription = bytes.toString("utf8", subscriptionStart, subscriptionEnd);
      this.#handlers.notified(subscription, bytes.toString("utf8", resultStart, resultEnd));
      return;
    }
    const answer = sliceEnvelope(bytes);
    // What cannot be read may have been a notification, which is then missing: another node can do better.
    if (answer.kind === "malformed") {
      this.#lose();
      return;
    }
    const id = bytes.toString("utf8", answer.idStart, answer.idEnd);
    const asked = this.#asked.get(id);
    if (asked === undefined) return;
    this.#asked.delete(id);
    const value = bytes.toString("utf8", answer.valueStart, answer.valueEnd);
    asked.replied(answer.kind === "result" ? { ok: true, result: value } : { ok: false, error: value });
    if (this.#asked.size > 0) return;
    this.#early = [];
    this.#earlyCharacters = 0;
  }

  #look(): void {
    const nowMs = this.#clock.monotonic();
    for (const { untilMs } of this.#asked.values()) {
      if (untilMs <= nowMs) this.#lose();
      break;
    }
    if (this.#isOver || !this.#socket.isOpen) return;
    if (nowMs - this.#heardMs >= probeAfterMs + answerTimeoutMs) this.#lose();
    else if (nowMs - this.#heardMs >= probeAfterMs && this.#asked.size === 0) this.call("getVersion", "[]", ignore);
  }

  #lose(): void {
    if (this.#isOver) return;
    this.close();
    this.#handlers.lost();
  }
}

const ignore = (): void => {};
