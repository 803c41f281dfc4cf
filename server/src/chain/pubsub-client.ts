import { backoffDelayMs, type Clock, type Random, type Timer } from "@sluice/lib";
import { type ChainValue, memberOf, parseChainJson } from "./integers.ts";

/** One subscription that is kept up across reconnects. */
export interface PubSubSubscription {
  readonly method: string;
  /** JSON text of the parameters, an array. */
  readonly params: string;
  readonly notify: (result: ChainValue) => void;
  /** Reports whether notices arrive: true after the node accepted, false after the connection or the node refused. */
  readonly active: (active: boolean) => void;
}

export interface PubSubClientOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** First and longest wait before another attempt, milliseconds. */
  readonly reconnectBaseMs?: number;
  readonly reconnectMaxMs?: number;
}

/** More than a node sends for the small subscriptions that the gateway itself holds. */
const noticeCharactersMax = 16 * 1024 * 1024;

/**
 * A client of a node's PubSub socket that keeps a fixed list of subscriptions up: it reconnects with backoff for as
 * long as it lives and subscribes again each time. Notices are hints: a receiver that needs every slot must fill gaps
 * itself.
 */
export class PubSubClient implements AsyncDisposable {
  readonly #options: PubSubClientOptions;
  readonly #clock: Pick<Clock, "after">;
  readonly #random: Random;
  readonly #subscriptions: readonly PubSubSubscription[];
  #socket: WebSocket | null = null;
  #routes = new Map<string, PubSubSubscription>();
  #attempt = 0;
  #timer: Timer | null = null;
  #closed = false;

  constructor(
    options: PubSubClientOptions,
    dependencies: { clock: Pick<Clock, "after">; random: Random; subscriptions: readonly PubSubSubscription[] },
  ) {
    this.#options = options;
    this.#clock = dependencies.clock;
    this.#random = dependencies.random;
    this.#subscriptions = dependencies.subscriptions;
  }

  /** Begins to connect; idempotent. */
  start(): void {
    if (this.#closed || this.#socket !== null || this.#timer !== null) return;
    this.#connect();
  }

  #connect(): void {
    this.#timer = null;
    let socket: WebSocket;
    try {
      // Bun's WebSocket takes headers, which the DOM's type does not know.
      const settings = { headers: this.#options.headers } as unknown as string[];
      socket = new WebSocket(this.#options.url, settings);
    } catch {
      this.#retry();
      return;
    }
    this.#socket = socket;
    this.#routes = new Map();
    socket.onopen = () => {
      this.#attempt = 0;
      for (const [index, subscription] of this.#subscriptions.entries()) {
        socket.send(
          `{"jsonrpc":"2.0","id":${index},"method":${JSON.stringify(subscription.method)},"params":${subscription.params}}`,
        );
      }
    };
    socket.onmessage = (event: MessageEvent<unknown>) => {
      if (typeof event.data === "string" && event.data.length <= noticeCharactersMax) this.#receive(event.data);
    };
    socket.onclose = () => this.#lost(socket);
    socket.onerror = () => this.#lost(socket);
  }

  #receive(text: string): void {
    let message: ChainValue;
    try {
      message = parseChainJson(text);
    } catch {
      return;
    }
    const params = memberOf(message, "params");
    if (params !== undefined) {
      const result = memberOf(params, "result");
      const route = this.#routes.get(String(memberOf(params, "subscription")));
      if (route !== undefined && result !== undefined) route.notify(result);
      return;
    }
    const id = memberOf(message, "id");
    const subscription = typeof id === "bigint" ? this.#subscriptions[Number(id)] : undefined;
    if (subscription === undefined) return;
    const result = memberOf(message, "result");
    if (result === undefined) {
      subscription.active(false);
      return;
    }
    this.#routes.set(String(result), subscription);
    subscription.active(true);
  }

  #lost(socket: WebSocket): void {
    if (this.#socket !== socket) return;
    this.#socket = null;
    for (const subscription of this.#subscriptions) subscription.active(false);
    this.#retry();
  }

  #retry(): void {
    if (this.#closed) return;
    const delayMs = backoffDelayMs(
      this.#attempt,
      { baseMs: this.#options.reconnectBaseMs ?? 250, maxMs: this.#options.reconnectMaxMs ?? 10_000 },
      this.#random,
    );
    this.#attempt += 1;
    this.#timer = this.#clock.after(delayMs, () => this.#connect(), { keepsAlive: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    this.#timer = null;
    const socket = this.#socket;
    this.#socket = null;
    socket?.close(1000);
  }
}
