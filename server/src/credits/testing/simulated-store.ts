import type { Random } from "@sluice/lib";
import type { CreditsStore } from "../interfaces.ts";
import { MeterInMemory } from "./meter-in-memory.ts";

/** One call of the store: carried out at some step, answered at a later one, so that a kill can fall in between. */
interface StoreCall {
  readonly caller: string;
  readonly carryOut: () => void;
  readonly answer: () => void;
  readonly fail: (error: Error) => void;
  /** What is lost when the call is never carried out: a refund, which is said once. */
  readonly refund: { readonly accountId: string; readonly credits: number } | null;
  isDone: boolean;
  /** Nothing waits for it any more. */
  isOrphan: boolean;
}

export interface StoreFaults {
  /** Of each step of a call: before its work or after it. */
  readonly failureChance: number;
  /** Whether the database may carry out a call long after its caller has died or was informed that it failed. */
  readonly isLate: boolean;
}

/** Credits as state keeps them, every call delayed, and failing where the course wants it, before or after its work. */
export class SimulatedStore {
  readonly meter = new MeterInMemory();
  /** Refunds that were never carried out, by account. */
  readonly lostRefunds = new Map<string, number>();
  /** While it is, no call is answered but by its failure. */
  isAway = false;
  readonly #calls: StoreCall[] = [];
  readonly #faults: StoreFaults;
  readonly #random: Random;

  constructor(faults: StoreFaults, random: Random) {
    this.#faults = faults;
    this.#random = random;
  }

  facet(caller: string): CreditsStore {
    const enqueue = <T>(work: () => Promise<T>, refund: StoreCall["refund"] = null): Promise<T> => {
      const { promise, resolve, reject } = Promise.withResolvers<T>();
      let result: Promise<T> | null = null;
      this.#calls.push({
        caller,
        carryOut: () => {
          result = work();
        },
        answer: () => {
          if (result !== null) resolve(result);
        },
        fail: reject,
        refund,
        isDone: false,
        isOrphan: false,
      });
      return promise;
    };
    const { meter } = this;
    return {
      used: (accountId, month) => enqueue(() => meter.used(accountId, month)),
      lease: (...lease) => enqueue(() => meter.lease(...lease)),
      giveBack: (accountId, month, unspent) =>
        enqueue(() => meter.giveBack(accountId, month, unspent), { accountId, credits: Number(unspent) }),
      settle: (...settlement) => enqueue(() => meter.settle(...settlement)),
      bookAdvance: (advance) => enqueue(() => meter.bookAdvance(advance)),
      openBooks: (holder, limit) => enqueue(() => meter.openBooks(holder, limit)),
    };
  }

  /** Moves one random call one step on. */
  step(isFailing = true): void {
    const call = this.#calls[Math.floor(this.#random.next() * this.#calls.length)];
    if (call === undefined) return;
    const chance = this.isAway ? 1 : this.#faults.failureChance;
    const fails = isFailing && !call.isOrphan && this.#random.next() < chance;
    if (fails) {
      call.fail(new Error("store failed"));
      this.#abandon(call);
    } else if (!call.isDone) {
      call.carryOut();
      call.isDone = true;
      if (call.isOrphan) this.#drop(call);
    } else {
      call.answer();
      this.#drop(call);
    }
  }

  /**
   * The caller is dead: its calls are carried out, now or later, or lost on their way, and none is ever answered.
   */
  orphan(caller: string): void {
    for (const call of this.#calls.filter((each) => each.caller === caller)) this.#abandon(call);
  }

  /** Carries out all that is still under way without a caller. */
  finishLate(): void {
    for (const call of this.#calls.filter((each) => each.isOrphan)) {
      call.carryOut();
      this.#drop(call);
    }
  }

  #abandon(call: StoreCall): void {
    if (!call.isDone) {
      const chance = this.#random.next();
      if (this.#faults.isLate && chance < 0.4) {
        call.isOrphan = true;
        return;
      }
      if (chance < 0.7) call.carryOut();
      else this.#lose(call.refund);
    }
    this.#drop(call);
  }

  #lose(refund: StoreCall["refund"]): void {
    if (refund === null) return;
    this.lostRefunds.set(refund.accountId, (this.lostRefunds.get(refund.accountId) ?? 0) + refund.credits);
  }

  #drop(call: StoreCall): void {
    this.#calls.splice(this.#calls.indexOf(call), 1);
  }
}
