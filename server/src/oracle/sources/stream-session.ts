import type { Clock } from "@sluice/lib";
import { WebSocketClient } from "../../net/index.ts";
import type { Market, StreamMessage, StreamRules } from "./exchange.ts";
import type { DropReason } from "./row.ts";
import type { StreamEnd } from "./source-record.ts";

export interface StreamSessionOptions {
  readonly url: string;
  readonly rules: StreamRules;
  readonly markets: readonly Market[];
  readonly pingEveryMs: number | null;
  readonly silenceMs: number;
  readonly connectMsMax?: number;
}

export interface StreamSessionDependencies {
  readonly clock: Clock;
  readonly onMessage: (message: StreamMessage) => void;
  readonly onDropped: (reason: DropReason) => void;
  /** Subscriptions were sent. */
  readonly onSubscribed: () => void;
  /** Called once; the session calls nothing afterwards. */
  readonly onEnded: (reason: StreamEnd) => void;
}

/** For name, connection, handshake and, where there is one, the welcome. */
const connectMs = 10_000;
/** The longest expected frame is a list of a hundred names. */
const frameCharactersMax = 64 * 1024;
/** Ten times what all markets of the busiest exchange send. */
const framesPerSecondMax = 20_000;

/**
 * One connection to an exchange's stream: connects within a deadline, subscribes when it may, pings as the exchange
 * wants it and gives up when nothing comes. It has no timers: its owner steps it. A connection that ended is never used
 * again.
 */
export class StreamSession {
  readonly #options: StreamSessionOptions;
  readonly #dependencies: StreamSessionDependencies;
  readonly #socket: WebSocketClient;
  readonly startedAtMs: number;
  #state: "connecting" | "subscribed" | "ended" = "connecting";
  #receivedAtMs: number;
  #pingAtMs: number;
  #pings = 0;
  #secondAtMs: number;
  #framesInSecond = 0;

  /** Throws SyntaxError when the address is none. */
  constructor(options: StreamSessionOptions, dependencies: StreamSessionDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.startedAtMs = dependencies.clock.monotonic();
    this.#receivedAtMs = this.startedAtMs;
    this.#secondAtMs = this.startedAtMs;
    this.#pingAtMs = this.startedAtMs + (options.pingEveryMs ?? 0);
    this.#socket = new WebSocketClient(options, {
      opened: () => {
        if (options.rules.subscribeAfter === "open") this.#subscribe();
      },
      received: (data) => this.#receive(data),
      lost: () => this.#end(this.#state === "connecting" ? "connect-failed" : "closed-by-exchange"),
    });
  }

  get isSubscribed(): boolean {
    return this.#state === "subscribed";
  }

  /** Looks at the clock: the deadline to connect, silence, the next ping. */
  step(): void {
    const now = this.#dependencies.clock.monotonic();
    if (this.#state === "connecting" && now - this.startedAtMs > (this.#options.connectMsMax ?? connectMs))
      this.#end("connect-timeout");
    if (this.#state !== "subscribed") return;
    if (now - this.#receivedAtMs > this.#options.silenceMs) {
      this.#end("silent");
      return;
    }
    const { pingEveryMs, rules } = this.#options;
    if (rules.ping === null || pingEveryMs === null || now < this.#pingAtMs) return;
    this.#pingAtMs = now + pingEveryMs;
    this.#pings += 1;
    // Ids of subscriptions are small; those of pings stay clear of them.
    this.#send(rules.ping.frame(1_000 + this.#pings, this.#dependencies.clock.now()));
  }

  end(reason: StreamEnd): void {
    this.#end(reason);
  }

  #receive(data: string | Uint8Array): void {
    if (this.#state === "ended") return;
    const now = this.#dependencies.clock.monotonic();
    this.#receivedAtMs = now;
    if (this.#isFlood(now)) this.#refuse("flood");
    else if (typeof data !== "string") this.#dependencies.onDropped("binary-frame");
    else if (data.length > frameCharactersMax) this.#refuse("oversized");
    else {
      const message = this.#options.rules.read(data);
      if (message.kind === "welcome") this.#subscribe();
      this.#dependencies.onMessage(message);
    }
  }

  #isFlood(now: number): boolean {
    if (now - this.#secondAtMs >= 1_000) {
      this.#secondAtMs = now;
      this.#framesInSecond = 0;
    }
    this.#framesInSecond += 1;
    return this.#framesInSecond > framesPerSecondMax;
  }

  #refuse(reason: "flood" | "oversized"): void {
    this.#dependencies.onDropped(reason);
    this.#end(reason);
  }

  #subscribe(): void {
    if (this.#state !== "connecting") return;
    this.#state = "subscribed";
    const { clock } = this.#dependencies;
    this.#receivedAtMs = clock.monotonic();
    this.#pingAtMs = this.#receivedAtMs + (this.#options.pingEveryMs ?? 0);
    for (const frame of this.#options.rules.subscribe(this.#options.markets, clock.now())) this.#send(frame);
    this.#dependencies.onSubscribed();
  }

  #send(frame: string): void {
    this.#socket.send(frame);
  }

  #end(reason: StreamEnd): void {
    if (this.#state === "ended") return;
    this.#state = "ended";
    this.#socket.terminate();
    this.#dependencies.onEnded(reason);
  }
}
