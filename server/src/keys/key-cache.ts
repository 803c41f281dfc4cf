import { BoundedMap } from "@sluice/lib";
import type { Grant } from "./grant.ts";

/** A key that exists, as it was at `checkedAtMs` (monotonic). */
export interface KeyEntry extends UsedKey {
  readonly presented: string;
  readonly hash: string;
  readonly accountId: string;
  /** Null when the key exists and is not active. */
  readonly grant: Grant | null;
  readonly checkedAtMs: number;
  /** Monotonic; until then the entry is used without a look-up. */
  freshUntilMs: number;
  /** Set on each use; gives the entry a second chance when room is needed. */
  isUsed: boolean;
}

/** A text that is no key, until it is looked up again (monotonic milliseconds). */
interface UnknownEntry {
  readonly untilMs: number;
  readonly hash: string;
}

/** Entries visited to find one that was not used; the next after these is evicted, used or not. */
const chancesMax = 64;

/**
 * Keys by the text that was presented, known ones and unknown ones apart, so that a flood of made-up keys never pushes
 * out a real one. Both are bounded. Known ones go by second chance: a hit costs a map look-up and a flag, and no
 * re-ordering as a strict least-recently-used list would need.
 */
export class KeyCache {
  readonly #known = new Map<string, KeyEntry>();
  /**
   * Stands before the key that is visited next when room is needed, as the hand of a clock. A new iterator for each
   * eviction would walk over the deleted places of the map, as in `BoundedMap`.
   */
  #hand = this.#known.values();
  readonly #unknown: BoundedMap<string, UnknownEntry>;
  readonly #presentedByHash = new Map<string, string>();
  /** Keys that exist, also those that were forgotten since: what is asked of them is not asked by a stranger. */
  readonly #seen: BoundedMap<string, true>;
  readonly #knownMax: number;

  constructor(bounds: { knownMax: number; unknownMax: number }) {
    this.#knownMax = bounds.knownMax;
    this.#seen = new BoundedMap<string, true>({ max: bounds.knownMax });
    this.#unknown = new BoundedMap<string, UnknownEntry>({
      max: bounds.unknownMax,
      onEvict: (_presented, { hash }) => this.#presentedByHash.delete(hash),
    });
  }

  get size(): { known: number; unknown: number; hashes: number } {
    return { known: this.#known.size, unknown: this.#unknown.size, hashes: this.#presentedByHash.size };
  }

  known(presented: string): KeyEntry | undefined {
    return this.#known.get(presented);
  }

  /** Whether a look-up has found this key before; the last `knownMax` keys are remembered. */
  wasKnown(presented: string): boolean {
    return this.#seen.get(presented) === true;
  }

  isUnknown(presented: string, nowMs: number): boolean {
    const entry = this.#unknown.get(presented);
    if (entry === undefined) return false;
    if (entry.untilMs > nowMs) return true;
    this.#forgetUnknown(presented);
    return false;
  }

  putKnown(entry: KeyEntry): void {
    this.#forgetUnknown(entry.presented);
    if (!this.#known.has(entry.presented) && this.#known.size >= this.#knownMax) this.#evictKnown();
    this.#known.set(entry.presented, entry);
    this.#seen.set(entry.presented, true);
    this.#presentedByHash.set(entry.hash, entry.presented);
  }

  putUnknown(presented: string, hash: string, untilMs: number): void {
    this.#forgetKnown(presented);
    this.#seen.delete(presented);
    this.#unknown.set(presented, { untilMs, hash });
    this.#presentedByHash.set(hash, presented);
  }

  forgetHash(hash: string): void {
    const presented = this.#presentedByHash.get(hash);
    if (presented === undefined) return;
    this.#forgetKnown(presented);
    this.#forgetUnknown(presented);
  }

  forgetAccount(accountId: string): void {
    for (const entry of this.#known.values()) {
      if (entry.accountId === accountId) this.#forgetKnown(entry.presented);
    }
  }

  clear(): void {
    this.#known.clear();
    this.#hand = this.#known.values();
    this.#unknown.clear();
    this.#presentedByHash.clear();
  }

  #evictKnown(): void {
    for (let chances = 0; ; chances += 1) {
      const entry = this.#nextKnown();
      if (entry === undefined) return;
      if (!entry.isUsed || chances >= chancesMax) {
        this.#forgetKnown(entry.presented);
        return;
      }
      entry.isUsed = false;
    }
  }

  /** The next known key, of which the first follows the last. */
  #nextKnown(): KeyEntry | undefined {
    const next = this.#hand.next();
    if (next.done !== true) return next.value;
    this.#hand = this.#known.values();
    return this.#hand.next().value;
  }

  #forgetKnown(presented: string): void {
    const entry = this.#known.get(presented);
    if (entry === undefined) return;
    this.#known.delete(presented);
    this.#presentedByHash.delete(entry.hash);
  }

  #forgetUnknown(presented: string): void {
    const entry = this.#unknown.get(presented);
    if (entry === undefined) return;
    this.#unknown.delete(presented);
    this.#presentedByHash.delete(entry.hash);
  }
}

/** A key in use, as the collector needs it. */
export interface UsedKey {
  readonly keyId: string;
  /** Unix milliseconds of the last use. */
  usedAtMs: number;
  /** True while the use waits to be written. */
  isTouched: boolean;
}

/** Keys written in one batch; the store takes at most this many at once. */
const batchMax = 10_000;
/** Keys that may wait to be written, while the store does not answer, before uses are no longer noted. */
const waitingMax = 100_000;

/**
 * Collects when keys were last used and writes it in batches: one write a key and interval, however busy the key. A
 * time that is lost in a crash is at most one interval old, which is what a last-used column is good for.
 */
export class LastUsed {
  readonly #write: (times: Map<string, number>) => Promise<void>;
  #waiting = new Set<UsedKey>();
  #flight: Promise<void> | null = null;

  constructor(write: (times: Map<string, number>) => Promise<void>) {
    this.#write = write;
  }

  note(key: UsedKey, nowMs: number): void {
    key.usedAtMs = nowMs;
    if (key.isTouched || this.#waiting.size >= waitingMax) return;
    key.isTouched = true;
    this.#waiting.add(key);
  }

  /** Writes what waits, at most one batch; a batch that fails waits for the next flush. Rejects as the store does. */
  flush(): Promise<void> {
    this.#flight ??= this.#writeBatch().finally(() => {
      this.#flight = null;
    });
    return this.#flight;
  }

  /** Writes all that waits; gives up at the first batch that fails. */
  async drain(): Promise<void> {
    if (this.#flight !== null) await this.#flight;
    while (this.#waiting.size > 0) await this.flush();
  }

  async #writeBatch(): Promise<void> {
    if (this.#waiting.size === 0) return;
    const batch = [...this.#waiting.values().take(batchMax)];
    const times = new Map<string, number>();
    for (const key of batch) {
      this.#waiting.delete(key);
      key.isTouched = false;
      times.set(key.keyId, key.usedAtMs);
    }
    try {
      await this.#write(times);
    } catch (error) {
      for (const key of batch) this.note(key, key.usedAtMs);
      throw error;
    }
  }
}
