import type { Grant, KeyRefusal } from "./grant.ts";
import type { UsedKey } from "./last-used.ts";

/** A key that exists, as it was at `checkedAtMs` (monotonic). */
export interface KeyEntry extends UsedKey {
  readonly presented: string;
  readonly hash: string;
  readonly accountId: string;
  /** Null when the key exists and is not active. */
  readonly grant: Grant | null;
  readonly refusal: KeyRefusal | null;
  readonly checkedAtMs: number;
  /** Monotonic; until then the entry is used without a look-up. */
  freshUntilMs: number;
  /** Set on each use; gives the entry a second chance when room is needed. */
  isUsed: boolean;
}

/** Entries examined to find one that was not used; past that the oldest goes, used or not. */
const chancesMax = 64;

/**
 * Keys by the text that was presented, known ones and unknown ones apart, so that a flood of made-up keys never pushes
 * out a real one. Both are bounded. Known ones go by second chance: a hit costs a map look-up and a flag, and no
 * re-ordering as a strict least-recently-used list would need.
 */
export class KeyCache {
  readonly #known = new Map<string, KeyEntry>();
  readonly #unknownUntil = new Map<string, number>();
  readonly #presentedByHash = new Map<string, string>();
  readonly #hashOfUnknown = new Map<string, string>();
  readonly #knownMax: number;
  readonly #unknownMax: number;

  constructor(bounds: { knownMax: number; unknownMax: number }) {
    this.#knownMax = bounds.knownMax;
    this.#unknownMax = bounds.unknownMax;
  }

  get size(): { known: number; unknown: number } {
    return { known: this.#known.size, unknown: this.#unknownUntil.size };
  }

  known(presented: string): KeyEntry | undefined {
    return this.#known.get(presented);
  }

  isUnknown(presented: string, nowMs: number): boolean {
    const until = this.#unknownUntil.get(presented);
    if (until === undefined) return false;
    if (until > nowMs) return true;
    this.#forgetUnknown(presented);
    return false;
  }

  putKnown(entry: KeyEntry): void {
    this.#forgetUnknown(entry.presented);
    if (!this.#known.has(entry.presented) && this.#known.size >= this.#knownMax) this.#evictKnown();
    this.#known.set(entry.presented, entry);
    this.#presentedByHash.set(entry.hash, entry.presented);
  }

  putUnknown(presented: string, hash: string, untilMs: number): void {
    this.#forgetKnown(presented);
    if (!this.#unknownUntil.has(presented) && this.#unknownUntil.size >= this.#unknownMax) {
      for (const oldest of this.#unknownUntil.keys()) {
        this.#forgetUnknown(oldest);
        break;
      }
    }
    this.#unknownUntil.set(presented, untilMs);
    this.#hashOfUnknown.set(presented, hash);
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
    this.#unknownUntil.clear();
    this.#presentedByHash.clear();
    this.#hashOfUnknown.clear();
  }

  #evictKnown(): void {
    let chances = 0;
    for (const [presented, entry] of this.#known) {
      if (!entry.isUsed || chances >= chancesMax) {
        this.#forgetKnown(presented);
        return;
      }
      chances += 1;
      entry.isUsed = false;
      this.#known.delete(presented);
      this.#known.set(presented, entry);
    }
  }

  #forgetKnown(presented: string): void {
    const entry = this.#known.get(presented);
    if (entry === undefined) return;
    this.#known.delete(presented);
    this.#presentedByHash.delete(entry.hash);
  }

  #forgetUnknown(presented: string): void {
    const hash = this.#hashOfUnknown.get(presented);
    if (hash === undefined) return;
    this.#unknownUntil.delete(presented);
    this.#hashOfUnknown.delete(presented);
    this.#presentedByHash.delete(hash);
  }
}
