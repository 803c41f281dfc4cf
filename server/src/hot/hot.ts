import { SluiceError } from "@sluice/contract/errors";
import type { Log } from "@sluice/lib";
import type { TokenLease, TokenLeaseRequest } from "./token-lease.ts";

/** Receives the messages of one channel in order. Its errors are logged and not passed on. */
export type MessageHandler = (message: string) => void;

export interface SubscribeOptions {
  /**
   * Called when messages may have been missed because the connection was away; a cache that depends on them is cleared.
   */
  readonly onGap?: () => void;
}

/** Where the hot store keeps its content. */
type HotDriver = "memory" | "redis";

/**
 * What replicas share and may lose at any moment: nothing here is the only copy of anything. Keys are 1 to 512
 * characters; values, shared buckets and lists of holders have separate key spaces. Lives are whole milliseconds from 1
 * to 30 days. Every method but `subscribe` and `ping` throws HotUnavailable, within a quarter of a second, when the
 * store is away, and RangeError for arguments out of these bounds.
 */
export interface Hot extends AsyncDisposable {
  readonly driver: HotDriver;
  /** The bytes are the caller's to read, not to change. */
  get(key: string): Promise<Uint8Array | null>;
  /** Values over 16 MiB are not stored. */
  set(key: string, bytes: Uint8Array, ttlMs: number): Promise<void>;
  /** Removes the value under the key, if there is one. */
  delete(key: string): Promise<void>;
  /** Leases tokens of a bucket that several processes spend from. Such buckets have a separate key space. */
  leaseTokens(key: string, request: TokenLeaseRequest): Promise<TokenLease>;
  /** Says that `holder` is present for `ttlMs` from now, or leaves with 0, and gives how many are present. */
  attend(key: string, holder: string, ttlMs: number): Promise<number>;
  /** Reaches the present subscribers, in this process and in others; later ones never get the message. */
  publish(channel: string, message: string): Promise<void>;
  /** Lasts until it is disposed of, across losses of the connection; see `onGap`. */
  subscribe(channel: string, handler: MessageHandler, options?: SubscribeOptions): Promise<AsyncDisposable>;
  /**
   * The random id that the store holds, by which processes know that they use the same one; null for one process's own
   * memory. A store without one, as after a loss, is given `known`, or a new one where that is null.
   */
  identify(known: string | null): Promise<string | null>;
  /** Whether the store answers now. */
  ping(): Promise<boolean>;
  /** Resolves when the store answers; rejects with the reason why it does not. */
  reach(): Promise<void>;
}

/**
 * The store is away, too slow, or refuses. Callers that can do without it catch this; an endpoint answers OVERLOADED.
 */
export class HotUnavailable extends SluiceError {
  constructor(cause: unknown) {
    super("OVERLOADED", { cause });
    this.name = "HotUnavailable";
  }
}

/** The part of a log that this room writes to. */
export type HotLog = Pick<Log, "info" | "warn">;

/** Bytes of one value; a larger one is not stored. */
export const valueBytesMax = 16 * 1024 * 1024;
const nameLengthMax = 512;
const ttlMsMax = 30 * 24 * 3_600_000;

/** Keys, channels and holders. */
export function checkName(name: string): string {
  if (name.length === 0 || name.length > nameLengthMax) throw new RangeError("A key has 1 to 512 characters.");
  return name;
}

/** @throws {RangeError} for a life that is not a whole number of milliseconds from 1 to 30 days. */
export function checkTtl(ttlMs: number): number {
  if (!Number.isSafeInteger(ttlMs) || ttlMs < 1 || ttlMs > ttlMsMax) {
    throw new RangeError("A life is a whole number of milliseconds from 1 to 30 days.");
  }
  return ttlMs;
}
