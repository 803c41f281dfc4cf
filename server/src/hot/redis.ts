import type { Random } from "@sluice/lib";
import type { RedisAddress } from "../config/index.ts";
import {
  checkName,
  checkTtl,
  type Hot,
  HotUnavailable,
  type MessageHandler,
  type SubscribeOptions,
  valueBytesMax,
} from "./hot.ts";
import { newScript, RedisCommands } from "./redis-commands.ts";
import { connectionOf, type RedisDependencies, type RedisTimes } from "./redis-connection.ts";
import { RedisSubscriber } from "./redis-subscriber.ts";
import { attend, leaseTokens, publish } from "./scripts.ts";
import { checkLeaseRequest, type TokenLease, type TokenLeaseRequest } from "./token-lease.ts";

export interface RedisHotOptions {
  readonly address: RedisAddress;
  /** Put before every key and channel, so that several installations can share a server. */
  readonly prefix: string;
  readonly times: RedisTimes;
  /** How often the subscriber's connection is tried. */
  readonly pingMs: number;
}

const leaseTokensScript = newScript(leaseTokens);
const attendScript = newScript(attend);
const publishScript = newScript(publish);

/** The hot store that replicas share, on Redis or Valkey: a single server, one that sentinels watch, or a cluster. */
export class RedisHot implements Hot {
  readonly driver = "redis";
  readonly #prefix: string;
  readonly #channelPrefix: string;
  readonly #commands: RedisCommands;
  readonly #subscriber: RedisSubscriber;
  readonly #random: Random;

  constructor(options: RedisHotOptions, dependencies: RedisDependencies) {
    const { address, prefix, times, pingMs } = options;
    this.#prefix = prefix;
    this.#random = dependencies.random;
    // Keys of one database are unknown to the others; channels are the whole server's.
    this.#channelPrefix = address.database === 0 ? `${prefix}p:` : `${prefix}p@${address.database}:`;
    const connection = connectionOf(address, times);
    const commands = new RedisCommands({ connection, times }, dependencies);
    this.#commands = commands;
    this.#subscriber = new RedisSubscriber({ connection, pingMs, nodes: () => commands.nodes() }, dependencies);
  }

  /** Whether both connections are ready within `patienceMs`; they are retried in either case. */
  async connected(patienceMs: number): Promise<boolean> {
    const both = [this.#commands.connected(patienceMs), this.#subscriber.connected(patienceMs)];
    return (await Promise.all(both)).every((ready) => ready);
  }

  async get(key: string): Promise<Uint8Array | null> {
    const name = this.#name("v", key);
    return this.#commands.run((client) => client.getBuffer(name));
  }

  async set(key: string, bytes: Uint8Array, ttlMs: number): Promise<void> {
    const name = this.#name("v", key);
    checkTtl(ttlMs);
    if (bytes.length > valueBytesMax) return this.delete(key);
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    await this.#commands.run((client) => client.set(name, buffer, "PX", ttlMs));
  }

  async delete(key: string): Promise<void> {
    const name = this.#name("v", key);
    await this.#commands.run((client) => client.del(name));
  }

  async leaseTokens(key: string, request: TokenLeaseRequest): Promise<TokenLease> {
    return this.leaseTokensAt(key, request, null);
  }

  /** As `leaseTokens`, at a time that is passed instead of the server's: for proving the script's arithmetic. */
  async leaseTokensAt(key: string, request: TokenLeaseRequest, nowMs: number | null): Promise<TokenLease> {
    checkLeaseRequest(request);
    const { rate, burst, holder, sequence, held, needed, want, owed, lifeMs } = request;
    const values = [rate, burst, holder, sequence, held, needed, want, owed, lifeMs, nowMs ?? ""].map(String);
    const answer = await this.#commands.script(leaseTokensScript, this.#name("t", key), ...values);
    const [granted, thousandths] = Array.isArray(answer) ? answer.map(toNumber) : [];
    if (granted === undefined || thousandths === undefined) throw strange(answer);
    return { granted, thousandths };
  }

  async attend(key: string, holder: string, ttlMs: number): Promise<number> {
    const values = [checkName(holder), String(ttlMs === 0 ? 0 : checkTtl(ttlMs))];
    return toNumber(await this.#commands.script(attendScript, this.#name("a", key), ...values));
  }

  async publish(channel: string, message: string): Promise<void> {
    const name = this.#channelPrefix + checkName(channel);
    await this.#commands.script(publishScript, name, message);
  }

  async subscribe(channel: string, handler: MessageHandler, options: SubscribeOptions = {}): Promise<AsyncDisposable> {
    return this.#subscriber.subscribe(this.#channelPrefix + checkName(channel), handler, options);
  }

  async identify(known: string | null): Promise<string> {
    // It has no end of life, and is in a key space of its own: no prefix of callers can be in its way.
    const name = this.#name("i", "store");
    const id = known ?? Buffer.from(this.#random.bytes(16)).toString("hex");
    return this.#commands.run(async (client) => {
      const isGiven = (await client.set(name, id, "NX")) === "OK";
      return isGiven ? id : ((await client.get(name)) ?? id);
    });
  }

  ping(): Promise<boolean> {
    return this.reach().then(
      () => true,
      () => false,
    );
  }

  async reach(): Promise<void> {
    // A key that never exists: in a cluster PING goes to any node, while a look-up needs the slot to be served.
    const name = this.#name("v", "ping");
    await this.#commands.run((client) => client.exists(name));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#subscriber[Symbol.asyncDispose]();
    await this.#commands[Symbol.asyncDispose]();
  }

  #name(kind: "v" | "t" | "a" | "i", key: string): string {
    return `${this.#prefix}${kind}:${checkName(key)}`;
  }
}

function toNumber(answer: unknown): number {
  if (typeof answer !== "number") throw strange(answer);
  return answer;
}

function strange(answer: unknown): HotUnavailable {
  return new HotUnavailable(new Error(`Redis gave an answer of an unexpected kind: ${typeof answer}.`));
}
