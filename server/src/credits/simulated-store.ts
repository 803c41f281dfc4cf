import type { Random } from "../lib/index.ts";
import type { CreditsStore } from "./interfaces.ts";

/** One call of the store: carried out at some step, answered at a later one, so that a kill can fall in between. */
interface StoreCall {
  readonly worker: number;
  /** Carries the call out; answers what settles the caller. */
  readonly carryOut: () => () => void;
  readonly fail: (error: Error) => void;
  /** Credits that are lost when the caller never learns of the answer, or the call is never carried out. */
  readonly lostWhenDone: () => number;
  readonly lostWhenNot: () => number;
  answer: (() => void) | null;
}

/** Credits as state keeps them, every call delayed, and failing where the course wants it, before or after its work. */
export class SimulatedStore {
  readonly used = new Map<string, bigint>();
  readonly calls: StoreCall[] = [];
  lostByFailures = 0;
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  facet(worker: number): CreditsStore {
    const enqueue = <T>(work: () => T, lostWhenDone: (result: T) => number, lostWhenNot: number): Promise<T> => {
      const { promise, resolve, reject } = Promise.withResolvers<T>();
      let result: { value: T } | null = null;
      this.calls.push({
        worker,
        carryOut: () => {
          const value = work();
          result = { value };
          return () => resolve(value);
        },
        fail: reject,
        lostWhenDone: () => (result === null ? 0 : lostWhenDone(result.value)),
        lostWhenNot: () => lostWhenNot,
        answer: null,
      });
      return promise;
    };
    const key = (accountId: string, month: string): string => `${accountId} ${month}`;
    const usedOf = (name: string): bigint => this.used.get(name) ?? 0n;
    return {
      used: (accountId, month) =>
        enqueue(
          () => usedOf(key(accountId, month)),
          () => 0,
          0,
        ),
      lease: (accountId, month, want, allowance) =>
        enqueue(
          () => {
            const before = usedOf(key(accountId, month));
            const left = allowance === null ? want : allowance - before;
            const available = left < 0n ? 0n : left;
            const granted = available < want ? available : want;
            this.used.set(key(accountId, month), before + granted);
            return granted;
          },
          // A report of unlimited usage that failed is told again: what was done twice counts too much by as much.
          (granted) => Number(granted),
          0,
        ),
      giveBack: (accountId, month, unspent) =>
        enqueue(
          () => {
            this.used.set(key(accountId, month), usedOf(key(accountId, month)) - unspent);
          },
          () => 0,
          Number(unspent),
        ),
    };
  }

  /** Moves one random call one step on. */
  step(failureChance: number): void {
    const index = Math.floor(this.#random.next() * this.calls.length);
    const call = this.calls[index];
    if (call === undefined) return;
    const fails = this.#random.next() < failureChance;
    if (call.answer === null && !fails) {
      call.answer = call.carryOut();
      return;
    }
    this.calls.splice(index, 1);
    if (!fails && call.answer !== null) {
      call.answer();
      return;
    }
    this.lostByFailures += call.answer === null ? call.lostWhenNot() : call.lostWhenDone();
    call.fail(new Error("store failed"));
  }

  /** The calls of a killed worker: each is carried out or lost on its way, and none is ever answered. */
  orphan(worker: number): void {
    for (let index = this.calls.length - 1; index >= 0; index -= 1) {
      const call = this.calls[index];
      if (call?.worker !== worker) continue;
      this.calls.splice(index, 1);
      if (call.answer === null && this.#random.next() < 0.5) call.carryOut();
    }
  }
}
