import type { Clock, Random, Timer } from "@sluice/lib";
import type { Redis } from "ioredis";
import type { RedisNode } from "../config/index.ts";
import type { HotLog, MessageHandler, SubscribeOptions } from "./hot.ts";
import {
  connectForMessages,
  type RedisConnection,
  type RedisDependencies,
  reconnectDelayMs,
} from "./redis-connection.ts";

interface Subscription {
  readonly handler: MessageHandler;
  readonly onGap: () => void;
}

interface Channel {
  readonly subscriptions: Set<Subscription>;
  /** Settles when the subscription was sent to the server, or when it could not be. */
  requested: Promise<void>;
}

/**
 * The connection that receives messages. It is a separate one, since a connection that subscribes can do little else,
 * and it leads to a single node even of a cluster, where every node gets every message; each new attempt goes to the
 * next node. After each reconnection all channels are subscribed again and their subscribers notified of the gap.
 */
export class RedisSubscriber implements AsyncDisposable {
  readonly #options: {
    readonly connection: RedisConnection;
    readonly pingMs: number;
    readonly nodes: () => readonly RedisNode[];
  };
  readonly #clock: Clock;
  readonly #log: HotLog;
  readonly #random: Random;
  readonly #channels = new Map<string, Channel>();
  readonly #whenReady: (() => void)[] = [];
  #client: Redis | null = null;
  #attempt = 0;
  #closed = false;
  #timer: Timer | null = null;
  readonly #pinger: Timer;

  constructor(
    options: { connection: RedisConnection; pingMs: number; nodes: () => readonly RedisNode[] },
    dependencies: RedisDependencies,
  ) {
    this.#options = options;
    this.#clock = dependencies.clock;
    this.#log = dependencies.log;
    this.#random = dependencies.random;
    // This connection may be silent for hours; the ping detects that the server has vanished.
    this.#pinger = this.#clock.every(options.pingMs, () => this.#ping());
    this.#connect();
  }

  /** Waits until the first connection is ready, at most `patienceMs`; false when it is not. */
  async connected(patienceMs: number): Promise<boolean> {
    if (this.#client?.status === "ready") return true;
    return new Promise((resolve) => {
      const timer = this.#clock.after(patienceMs, () => resolve(false), { keepsAlive: true });
      this.#whenReady.push(() => {
        timer.cancel();
        resolve(true);
      });
    });
  }

  /**
   * Resolves when the server has confirmed, or at once when it is away: the next connection subscribes then.
   */
  async subscribe(name: string, handler: MessageHandler, options: SubscribeOptions): Promise<AsyncDisposable> {
    const subscription: Subscription = { handler, onGap: options.onGap ?? (() => {}) };
    let channel = this.#channels.get(name);
    if (channel === undefined) {
      channel = { subscriptions: new Set(), requested: this.#request(name) };
      this.#channels.set(name, channel);
    }
    channel.subscriptions.add(subscription);
    await channel.requested;
    return { [Symbol.asyncDispose]: async () => this.#remove(name, subscription) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#channels.clear();
    this.#pinger.cancel();
    this.#timer?.cancel();
    this.#client?.disconnect();
  }

  #connect(): void {
    const { connection } = this.#options;
    const nodes = this.#options.nodes();
    const node = nodes[this.#attempt % Math.max(1, nodes.length)];
    if (this.#closed || node === undefined) return;
    const client = connectForMessages(connection, node);
    this.#client = client;
    // The loss itself is reported by the connection for commands.
    client.on("error", () => {});
    client.on("message", (name: string, message: string) => this.#deliver(name, message));
    client.on("ready", () => this.#onReady(client));
    client.on("end", () => {
      if (this.#client !== client || this.#closed) return;
      this.#client = null;
      const delayMs = reconnectDelayMs(this.#attempt, this.#random);
      this.#timer = this.#clock.after(delayMs, () => this.#connect(), { keepsAlive: true });
      this.#attempt += 1;
    });
  }

  #onReady(client: Redis): void {
    this.#attempt = 0;
    for (const notify of this.#whenReady.splice(0)) notify();
    const names = [...this.#channels.keys()];
    if (names.length === 0) return;
    const interrupted = [...this.#channels.values()].flatMap(({ subscriptions }) => [...subscriptions]);
    client.subscribe(...names).then(
      () => {
        for (const { onGap } of interrupted) this.#guard("", onGap);
      },
      () => client.disconnect(),
    );
  }

  async #request(name: string): Promise<void> {
    const client = this.#client;
    if (client === null || client.status !== "ready") return;
    try {
      await client.subscribe(name);
    } catch {
      // A connection that cannot subscribe is useless; the next one subscribes to every channel.
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
