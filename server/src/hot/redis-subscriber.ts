import type { Random } from "@sluice/lib";
import { Redis } from "ioredis";
import type { HotLog, MessageHandler, SubscribeOptions } from "./hot.ts";
import { connectionOptions, type RedisTimes, reconnectDelayMs } from "./redis-commands.ts";
import type { RedisAddress, RedisNode } from "./redis-url.ts";

interface Subscription {
  readonly handler: MessageHandler;
  readonly onGap: () => void;
}

interface Channel {
  readonly subscriptions: Set<Subscription>;
  /** Settles when the server has been asked, whether or not it could be. */
  asked: Promise<void>;
}

/**
 * The connection that messages come in on. It is one of its own, since a connection that subscribes can do little else,
 * and it is to a single node even of a cluster, where every node gets every message; each new try goes to the next
 * node. Whenever it is made anew, all channels are subscribed again and told of the gap.
 */
export class RedisSubscriber implements AsyncDisposable {
  readonly #options: {
    readonly address: RedisAddress;
    readonly times: RedisTimes;
    readonly pingMs: number;
    readonly nodes: () => readonly RedisNode[];
  };
  readonly #log: HotLog;
  readonly #random: Random;
  readonly #channels = new Map<string, Channel>();
  readonly #whenReady: (() => void)[] = [];
  #client: Redis | null = null;
  #attempt = 0;
  #closed = false;
  #timer: ReturnType<typeof setTimeout> | null = null;
  readonly #pinger: ReturnType<typeof setInterval>;

  constructor(
    options: { address: RedisAddress; times: RedisTimes; pingMs: number; nodes: () => readonly RedisNode[] },
    deps: { log: HotLog; random: Random },
  ) {
    this.#options = options;
    this.#log = deps.log;
    this.#random = deps.random;
    // Nothing is sent on this connection for hours on end; the ping finds out that the other side has vanished.
    this.#pinger = setInterval(() => this.#ping(), options.pingMs);
    this.#pinger.unref();
    this.#connect();
  }

  /** Waits until the first connection is ready, at most `patienceMs`, and says whether it is. */
  async connected(patienceMs: number): Promise<boolean> {
    if (this.#client?.status === "ready") return true;
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), patienceMs);
      this.#whenReady.push(() => {
        clearTimeout(timer);
        resolve(true);
      });
    });
  }

  /**
   * Resolves when the server has confirmed, or, when it is away, at once: it is then asked after the next connection.
   */
  async subscribe(name: string, handler: MessageHandler, options: SubscribeOptions): Promise<AsyncDisposable> {
    const subscription: Subscription = { handler, onGap: options.onGap ?? (() => {}) };
    let channel = this.#channels.get(name);
    if (channel === undefined) {
      channel = { subscriptions: new Set(), asked: this.#ask(name) };
      this.#channels.set(name, channel);
    }
    channel.subscriptions.add(subscription);
    await channel.asked;
    return { [Symbol.asyncDispose]: async () => this.#remove(name, subscription) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#channels.clear();
    clearInterval(this.#pinger);
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#client?.disconnect();
  }

  #connect(): void {
    const { address, times } = this.#options;
    const nodes = this.#options.nodes();
    const node = nodes[this.#attempt % Math.max(1, nodes.length)];
    if (this.#closed || node === undefined) return;
    const client = new Redis({
      ...connectionOptions(address, times),
      ...node,
      connectionName: "sluice-subscriber",
      autoResubscribe: false,
      retryStrategy: () => null,
    });
    this.#client = client;
    // The loss itself is reported by the connection for commands.
    client.on("error", () => {});
    client.on("message", (name: string, message: string) => this.#deliver(name, message));
    client.on("ready", () => this.#onReady(client));
    client.on("end", () => {
      if (this.#client !== client || this.#closed) return;
      this.#client = null;
      this.#timer = setTimeout(() => this.#connect(), reconnectDelayMs(this.#attempt, this.#random));
      this.#attempt += 1;
    });
  }

  #onReady(client: Redis): void {
    this.#attempt = 0;
    for (const tell of this.#whenReady.splice(0)) tell();
    const names = [...this.#channels.keys()];
    if (names.length === 0) return;
    const told = [...this.#channels.values()].flatMap(({ subscriptions }) => [...subscriptions]);
    client.subscribe(...names).then(
      () => {
        for (const { onGap } of told) this.#guard("", onGap);
      },
      () => client.disconnect(),
    );
  }

  async #ask(name: string): Promise<void> {
    const client = this.#client;
    if (client === null || client.status !== "ready") return;
    try {
      await client.subscribe(name);
    } catch {
      // A connection that did not subscribe is of no use; the next one subscribes to everything.
      client.disconnect();
    }
  }

  #remove(name: string, subscription: Subscription): void {
    const channel = this.#channels.get(name);
    if (channel?.subscriptions.delete(subscription) !== true || channel.subscriptions.size > 0) return;
    this.#channels.delete(name);
    const client = this.#client;
    if (client?.status === "ready") client.unsubscribe(name).catch(() => client.disconnect());
  }

  #ping(): void {
    const client = this.#client;
    if (client?.status === "ready") client.ping().catch(() => client.disconnect());
  }

  #deliver(name: string, message: string): void {
    for (const { handler } of [...(this.#channels.get(name)?.subscriptions ?? [])]) {
      this.#guard(name, () => handler(message));
    }
  }

  #guard(channel: string, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#log.warn({ channel, error: String(error) }, "a subscriber failed on a message");
    }
  }
}
