import type { Random } from "@sluice/lib";
import { type LeasedBucket, leaseFromBucket, type TokenLease, type TokenLeaseRequest } from "../../hot/index.ts";
import type { SharedStore } from "../shared-interfaces.ts";

interface Call {
  readonly holder: string;
  /** Carries the call out; answers what settles the caller. */
  readonly carryOut: () => () => void;
  readonly fail: (error: Error) => void;
  answer: (() => void) | null;
}

const unreachable = (): Error => new Error("out of reach");

/**
 * The shared buckets as Redis keeps them, by a clock of their own. Without `random` every call is answered at once;
 * with it calls wait for `step`, which carries them out and answers them in any order, or loses the question or the
 * answer.
 */
export class SimulatedStore implements SharedStore {
  readonly #clock: { monotonic(): number };
  readonly #random: Random | null;
  readonly #buckets = new Map<string, LeasedBucket>();
  readonly #present = new Map<string, Map<string, number>>();
  readonly #calls: Call[] = [];
  readonly #hanging: (() => void)[] = [];
  /** How far its clock is ahead of everybody else's. */
  aheadMs = 0;
  leases = 0;
  isLost = false;
  isHanging = false;

  constructor(clock: { monotonic(): number }, random: Random | null = null) {
    this.#clock = clock;
    this.#random = random;
  }

  leaseTokens(key: string, request: TokenLeaseRequest): Promise<TokenLease> {
    this.leases += 1;
    return this.#call(request.holder, () => {
      const { lease, bucket } = leaseFromBucket(this.#buckets.get(key) ?? null, this.#now(), request);
      this.#buckets.set(key, bucket);
      return lease;
    });
  }

  attend(key: string, holder: string, ttlMs: number): Promise<number> {
    return this.#call(holder, () => {
      const present = this.#present.get(key) ?? new Map<string, number>();
      this.#present.set(key, present);
      if (ttlMs === 0) present.delete(holder);
      else present.set(holder, this.#now() + ttlMs);
      return [...present.values()].filter((endsAtMs) => endsAtMs > this.#now()).length;
    });
  }

  heldBy(key: string, holder: string): number {
    return this.#buckets.get(key)?.holders.get(holder)?.held ?? 0;
  }

  /** Starts again with nothing in it. */
  restart(): void {
    this.#buckets.clear();
    this.#present.clear();
  }

  /** Ends the hanging: what was asked meanwhile fails. */
  release(): void {
    this.isHanging = false;
    for (const fail of this.#hanging.splice(0)) fail();
  }

  /** Moves one call one step on. */
  step(): void {
    const index = Math.floor((this.#random?.next() ?? 0) * this.#calls.length);
    const call = this.#calls[index];
    if (call === undefined) return;
    if (call.answer === null && !this.isLost) {
      call.answer = call.carryOut();
      return;
    }
    this.#calls.splice(index, 1);
    if (this.isLost || call.answer === null) call.fail(unreachable());
    else call.answer();
  }

  /** The calls of a killed process: each is carried out or lost on its way, and none is answered. */
  orphan(holder: string): void {
    for (const [index, call] of [...this.#calls.entries()].reverse()) {
      if (call.holder !== holder) continue;
      this.#calls.splice(index, 1);
      if (call.answer === null && (this.#random?.next() ?? 0) < 0.5) call.carryOut();
    }
  }

  #now(): number {
    return Math.floor(this.#clock.monotonic()) + this.aheadMs;
  }

  #call<T>(holder: string, work: () => T): Promise<T> {
    if (this.isHanging) return new Promise((_, reject) => this.#hanging.push(() => reject(unreachable())));
    if (this.isLost) return Promise.reject(unreachable());
    if (this.#random === null) return Promise.resolve(work());
    return new Promise((resolve, reject) => {
      const carryOut = (): (() => void) => {
        const value = work();
        return () => resolve(value);
      };
      this.#calls.push({ holder, carryOut, fail: reject, answer: null });
    });
  }
}
