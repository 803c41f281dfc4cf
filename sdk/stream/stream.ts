import type { StreamChannel } from "@sluice/contract/streams";
import type { Network } from "@sluice/contract/tiers";
import { StreamConnection, type StreamState } from "./connection.ts";
import type { StreamFiltersOf, StreamMessage } from "./events.ts";
import { isPassing, StreamError } from "./stream-error.ts";
import { type StreamSubscription, type SubscribeOptions, Subscription } from "./subscription.ts";

/** Where streams are served, and how they are read. */
export interface StreamOptions {
  /**
   * Gateways that serve `/ws`, such as `http://127.0.0.1:8899`, in the order in which they are tried: when a connection
   * is lost the next one is made to the next of them.
   */
  readonly url: string | readonly string[];
  /** A key with `read`; without it a page of the gateway comes with its own session. */
  readonly apiKey?: string;
  /** The chain; the server's default when absent. */
  readonly network?: Network;
  /** `/ws` when absent. */
  readonly path?: string;
  /** Events of one subscription that wait to be read, beside 16 Mi characters of them; 1,024 when absent. */
  readonly bufferMax?: number;
  /**
   * Milliseconds before a connection is made again: drawn between 0 and a bound that begins with `first` (250 when
   * absent) and doubles to `max` (30,000 when absent) while no connection brings anything.
   */
  readonly retryMs?: { readonly first?: number; readonly max?: number };
  /** Milliseconds between two pings; 15,000 when absent. A connection that is silent for three of them is lost. */
  readonly pingEveryMs?: number;
  /** Is told each time that the connection changes; must not throw. */
  readonly onState?: (state: StreamState) => void;
  /** The runtime's own when absent; Node has one from version 22 on. */
  readonly WebSocket?: new (
    url: string,
  ) => WebSocket;
}

/**
 * The stream of a chain over one connection, for any number of subscriptions. The connection is made with the first
 * one, made again whenever it is lost, and closed with the last one.
 */
export interface Stream extends AsyncDisposable {
  transactions(
    filters?: StreamFiltersOf<"transactions">,
    options?: SubscribeOptions,
  ): StreamSubscription<"transactions">;
  blocks(filters?: StreamFiltersOf<"blocks">, options?: SubscribeOptions): StreamSubscription<"blocks">;
  accounts(filters?: StreamFiltersOf<"accounts">, options?: SubscribeOptions): StreamSubscription<"accounts">;
  slots(filters?: StreamFiltersOf<"slots">, options?: SubscribeOptions): StreamSubscription<"slots">;
  /** Ends all subscriptions and the connection. */
  close(): Promise<void>;
}

const bufferMaxDefault = 1_024;
const retryMsDefault = { first: 250, max: 30_000 } as const;
const pingEveryMsDefault = 15_000;

/**
 * Creates a client of `/ws`. A subscription goes on after its last event whenever the connection is lost (1001, 1006,
 * 4408, 4429, 4503 and all others but those below), over all `url`s in turn: each event comes once and in order. It
 * ends with `StreamError` when no attempt can mend it: the key is refused (4401), no credits are left (4402), the key
 * may not do it (4403), a question is too long (1009), or the server refuses the subscription itself.
 *
 * @throws {TypeError} when there is no URL, or no WebSocket in this runtime
 */
export function createStream(options: StreamOptions): Stream {
  return new StreamClient(options);
}

class StreamClient implements Stream {
  readonly #options: StreamOptions;
  readonly #connection: StreamConnection;
  readonly #subscriptions = new Set<Subscription>();
  readonly #byRef = new Map<number, Subscription>();
  readonly #byId = new Map<string, Subscription>();
  #refs = 0;
  #isClosed = false;

  constructor(options: StreamOptions) {
    this.#options = options;
    const hosts = hostsOf(options);
    const WebSocketOf = options.WebSocket ?? (globalThis.WebSocket as typeof WebSocket | undefined);
    if (WebSocketOf === undefined) throw new TypeError("this runtime has no WebSocket: give one in the options");
    if (hosts.length === 0) throw new TypeError("a stream needs the URL of a gateway");
    this.#connection = new StreamConnection(
      {
        hosts,
        WebSocket: WebSocketOf,
        retryMs: { ...retryMsDefault, ...options.retryMs },
        pingEveryMs: options.pingEveryMs ?? pingEveryMsDefault,
      },
      {
        opened: () => {
          for (const subscription of this.#subscriptions) this.#ask(subscription);
        },
        received: (message, characters) => this.#received(message, characters),
        lost: () => this.#forget(),
        refused: (error) => {
          this.#forget();
          for (const subscription of [...this.#subscriptions]) subscription.fail(error);
        },
        state: (state) => options.onState?.(state),
      },
    );
  }

  transactions(filters: StreamFiltersOf<"transactions"> = {}, options: SubscribeOptions = {}) {
    return this.#open("transactions", filters, options);
  }

  blocks(filters: StreamFiltersOf<"blocks"> = {}, options: SubscribeOptions = {}) {
    return this.#open("blocks", filters, options);
  }

  accounts(filters: StreamFiltersOf<"accounts"> = {}, options: SubscribeOptions = {}) {
    return this.#open("accounts", filters, options);
  }

  slots(filters: StreamFiltersOf<"slots"> = {}, options: SubscribeOptions = {}) {
    return this.#open("slots", filters, options);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const subscription of [...this.#subscriptions]) subscription.close();
    await this.#connection.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #open<Channel extends StreamChannel>(
    channel: Channel,
    filters: StreamFiltersOf<Channel>,
    options: SubscribeOptions,
  ): StreamSubscription<Channel> {
    if (this.#isClosed) throw new StreamError("CLOSED", "The stream was closed");
    const bufferMax = this.#options.bufferMax ?? bufferMaxDefault;
    const subscription = new Subscription(
      { ...options, channel, filters, bufferMax },
      {
        ask: (asking) => this.#ask(asking),
        release: (released) => this.#release(released),
        ended: (ended) => this.#ended(ended),
      },
    );
    this.#subscriptions.add(subscription);
    this.#connection.open();
    this.#ask(subscription);
    // The server tells a subscription events of its channel alone.
    return subscription as StreamSubscription<StreamChannel> as StreamSubscription<Channel>;
  }

  #ask(subscription: Subscription): void {
    if (!this.#connection.isOpen || !subscription.isWanted) return;
    this.#refs += 1;
    subscription.ref = this.#refs;
    this.#byRef.set(this.#refs, subscription);
    this.#connection.say(subscription.question(this.#refs));
  }

  #release(subscription: Subscription): void {
    const { ref, id } = subscription;
    // The server's answer to a question that nobody remembers is taken back when it comes.
    if (ref !== null) this.#byRef.delete(ref);
    subscription.ref = null;
    subscription.id = null;
    if (id === null) return;
    this.#byId.delete(id);
    this.#connection.say({ action: "unsubscribe", subscriptionId: id });
  }

  #ended(subscription: Subscription): void {
    this.#subscriptions.delete(subscription);
    if (subscription.id !== null) this.#byId.delete(subscription.id);
    if (this.#subscriptions.size === 0) void this.#connection.close();
  }

  /** The names by which the server knew subscriptions mean nothing to the next one. */
  #forget(): void {
    this.#byRef.clear();
    this.#byId.clear();
    for (const subscription of this.#subscriptions) {
      subscription.ref = null;
      subscription.id = null;
    }
  }

  #received(message: StreamMessage, characters: number): void {
    switch (message.type) {
      case "subscribed":
        this.#subscribed(message);
        return;
      case "error":
        this.#failed(message);
        return;
      case "draining":
        for (const { subscriptionId, cursor } of message.subscriptions) this.#byId.get(subscriptionId)?.passed(cursor);
        return;
      case "cursor":
        this.#connection.progressed();
        this.#byId.get(message.subscriptionId)?.passed(message.cursor);
        return;
      case "transaction":
      case "block":
      case "account":
      case "slot":
      case "undo":
      case "gap":
      case "lagged":
        this.#connection.progressed();
        this.#byId.get(message.subscriptionId)?.received(message, characters);
        return;
      default:
    }
  }

  #subscribed({ ref, subscriptionId, cursor }: Extract<StreamMessage, { readonly type: "subscribed" }>): void {
    const subscription = typeof ref === "number" ? this.#byRef.get(ref) : undefined;
    if (typeof ref === "number") this.#byRef.delete(ref);
    if (subscription === undefined) {
      this.#connection.say({ action: "unsubscribe", subscriptionId });
      return;
    }
    subscription.ref = null;
    subscription.id = subscriptionId;
    this.#byId.set(subscriptionId, subscription);
    subscription.answered(cursor);
  }

  #failed(error: Extract<StreamMessage, { readonly type: "error" }>): void {
    const { code, message, ref, subscriptionId, cursor = null, first_slot: firstSlot = null } = error;
    const asked = typeof ref === "number" ? this.#byRef.get(ref) : undefined;
    const told = subscriptionId === undefined ? undefined : this.#byId.get(subscriptionId);
    const subscription = asked ?? told;
    // What ends the connection is told by its close.
    if (subscription === undefined) return;
    if (!isPassing(code)) subscription.fail(new StreamError(code, message, { cursor, firstSlot }));
    else if (asked !== undefined) this.#connection.leave();
  }
}

/** The addresses of `/ws`: the key is in the query, since a browser sends no headers with a WebSocket. */
function hostsOf({ url, path = "/ws", apiKey, network }: StreamOptions): { url: string; address: string }[] {
  const query = new URLSearchParams({
    ...(apiKey === undefined ? {} : { "api-key": apiKey }),
    ...(network === undefined ? {} : { network }),
  }).toString();
  return (typeof url === "string" ? [url] : url).map((each) => ({
    url: each,
    address: `${each.replace(/^http/, "ws").replace(/\/+$/, "")}${path}${query === "" ? "" : `?${query}`}`,
  }));
}
