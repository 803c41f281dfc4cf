import { backoffDelayMs, type Clock, type Random, type Timer } from "@sluice/lib";
import { WebSocketClient } from "../net/index.ts";
import { type ChainValue, memberOf, parseChainJson } from "./integers.ts";

/** One subscription that is kept up across reconnects. */
export interface PubSubSubscription {
  readonly method: string;
  /** JSON text of the parameters, an array. */
  readonly params: string;
  readonly notify: (result: ChainValue) => void;
  /** Takes whole messages of large notifications, unparsed, in place of `notify`. */
  readonly large?: { readonly method: string; readonly notify: (text: string) => void };
  /** Reports whether notices arrive: true after the node accepted, false after the connection or the node refused. */
  readonly active: (active: boolean) => void;
}

export interface PubSubClientOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** First and longest wait before another attempt, milliseconds. */
  readonly reconnectBaseMs?: number;
  readonly reconnectMaxMs?: number;
  /** Longer messages are ignored; 16 Mi when absent, more than a node sends for small subscriptions. */
  readonly charactersMax?: number;
}

const charactersMaxDefault = 16 * 1024 * 1024;
/** In these first characters of a message stands which notification it is. */
const beginning = 160;

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
  #socket: WebSocketClient | null = null;
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
    this.#routes = new Map();
    try {
      const { url, headers } = this.#options;
      this.#socket = new WebSocketClient(
        { url, headers },
        {
          opened: () => this.#subscribe(),
          received: (data) => {
            const { charactersMax = charactersMaxDefault } = this.#options;
            if (typeof data === "string" && data.length <= charactersMax) this.#receive(data);
          },
          lost: () => this.#lost(),
        },
      );
    } catch {
      this.#retry();
    }
  }

  #subscribe(): void {
    this.#attempt = 0;
    for (const [id, { method, params }] of this.#subscriptions.entries()) {
      this.#socket?.send(`{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${params}}`);
    }
  }

  #receive(text: string): void {
    for (const { large } of this.#subscriptions) {
      if (large !== undefined && text.slice(0, beginning).includes(`"method":"${large.method}"`)) {
        large.notify(text);
        return;
      }
    }
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

  #lost(): void {
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
    socket?.close();
  }
}
