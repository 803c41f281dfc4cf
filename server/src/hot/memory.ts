import type { Clock } from "@sluice/lib";
import {
  checkName,
  checkTtl,
  type Hot,
  type HotLog,
  HotUnavailable,
  type MessageHandler,
  valueBytesMax,
} from "./hot.ts";
import { LruMap } from "./lru.ts";
import {
  checkLeaseRequest,
  type LeasedBucket,
  leaseFromBucket,
  type TokenLease,
  type TokenLeaseRequest,
} from "./token-lease.ts";

const entriesMax = 100_000;
/** About what a Map entry and its key cost beside the bytes. */
const entryOverheadBytes = 100;

interface Expiring<T> {
  readonly value: T;
  readonly endsAtMs: number;
}

/**
 * The hot store of a single process. Values are bounded by bytes and by number, everything else by number (100,000);
 * the least recently used goes first. A dropped bucket is full again. Lives run on the monotonic clock, which setting
 * the machine's time leaves alone.
 */
export class MemoryHot implements Hot {
  readonly driver = "memory";
  readonly #clock: Clock;
  readonly #log: HotLog;
  readonly #values: LruMap<Expiring<Uint8Array>>;
  readonly #leased = new LruMap<LeasedBucket>({ entriesMax });
  readonly #present = new LruMap<ReadonlyMap<string, number>>({ entriesMax });
  readonly #handlers = new Map<string, Set<MessageHandler>>();
  #closed = false;

  constructor(options: { valuesBytesMax: number }, dependencies: { clock: Clock; log: HotLog }) {
    this.#values = new LruMap({ entriesMax, weightMax: options.valuesBytesMax });
    this.#clock = dependencies.clock;
    this.#log = dependencies.log;
  }

  async get(key: string): Promise<Uint8Array | null> {
    this.#checkOpen(key);
    const found = this.#values.get(key);
    if (found === undefined) return null;
    if (found.endsAtMs > this.#clock.monotonic()) return found.value;
    this.#values.delete(key);
    return null;
  }

  async set(key: string, bytes: Uint8Array, ttlMs: number): Promise<void> {
    this.#checkOpen(key);
    const endsAtMs = this.#clock.monotonic() + checkTtl(ttlMs);
    if (bytes.length > valueBytesMax) return this.#values.delete(key);
    // A copy: the caller may reuse its buffer.
    const weight = bytes.length + key.length * 2 + entryOverheadBytes;
    this.#values.set(key, { value: bytes.slice(), endsAtMs }, weight);
  }

  async delete(key: string): Promise<void> {
    this.#checkOpen(key);
    this.#values.delete(key);
  }

  async leaseTokens(key: string, request: TokenLeaseRequest): Promise<TokenLease> {
    this.#checkOpen(key);
    checkLeaseRequest(request);
    const nowMs = Math.floor(this.#clock.monotonic());
    const { lease, bucket } = leaseFromBucket(this.#leased.get(key) ?? null, nowMs, request);
    this.#leased.set(key, bucket);
    return lease;
  }

  async attend(key: string, holder: string, ttlMs: number): Promise<number> {
    this.#checkOpen(key);
    checkName(holder);
    const nowMs = this.#clock.monotonic();
    const others = [...(this.#present.get(key) ?? [])].filter(([name, ends]) => name !== holder && ends > nowMs);
    const own: [string, number][] = ttlMs === 0 ? [] : [[holder, nowMs + checkTtl(ttlMs)]];
    this.#present.set(key, new Map([...others, ...own]));
    return others.length + own.length;
  }

  async publish(channel: string, message: string): Promise<void> {
    this.#checkOpen(channel);
    const handlers = this.#handlers.get(channel);
    if (handlers === undefined) return;
    // As over a network, a publisher returns before its message is handled.
    for (const handler of [...handlers]) queueMicrotask(() => this.#deliver(channel, handler, message));
  }

  async subscribe(channel: string, handler: MessageHandler): Promise<AsyncDisposable> {
    this.#checkOpen(channel);
    const handlers = this.#handlers.get(channel) ?? new Set();
    this.#handlers.set(channel, handlers);
    // A handler that is subscribed twice is two subscriptions.
    const own: MessageHandler = (message) => handler(message);
    handlers.add(own);
    const unsubscribe = async (): Promise<void> => {
      handlers.delete(own);
      if (handlers.size === 0 && this.#handlers.get(channel) === handlers) this.#handlers.delete(channel);
    };
    return { [Symbol.asyncDispose]: unsubscribe };
  }

  async identify(): Promise<null> {
    return null;
  }

  async ping(): Promise<boolean> {
    return !this.#closed;
  }

  async reach(): Promise<void> {
    // Memory is always there.
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#handlers.clear();
  }

  #checkOpen(name: string): void {
    checkName(name);
    if (this.#closed) throw new HotUnavailable(new Error("The hot store is closed."));
  }

  #deliver(channel: string, handler: MessageHandler, message: string): void {
    if (this.#handlers.get(channel)?.has(handler) !== true) return;
    try {
      handler(message);
    } catch (error) {
      this.#log.warn({ channel, error: String(error) }, "a subscriber failed on a message");
    }
  }
}
