import type { CommitmentName } from "@sluice/contract/rpc";
import { type Clock, invariant } from "@sluice/lib";

interface Waiter {
  readonly slot: bigint;
  readonly wake: (reached: boolean) => void;
}

/** Calls that wait for a slot at a time; a call beyond that does not wait. */
const waitersMax = 10_000;

/** The newest slot of each commitment that any node has reported, and the calls that wait for one. */
export class SlotTracker implements Disposable {
  readonly #clock: Pick<Clock, "after">;
  readonly #onSlot: (commitment: CommitmentName, slot: bigint) => void;
  readonly #reported = new Map<CommitmentName, Map<object, bigint>>();
  readonly #newest = new Map<CommitmentName, bigint>();
  readonly #waiters = new Map<CommitmentName, Set<Waiter>>();
  #waiting = 0;

  constructor(dependencies: {
    readonly clock: Pick<Clock, "after">;
    /** Called when the newest slot of a commitment has changed. */
    readonly onSlot: (commitment: CommitmentName, slot: bigint) => void;
  }) {
    this.#clock = dependencies.clock;
    this.#onSlot = dependencies.onSlot;
  }

  newest(commitment: CommitmentName): bigint | null {
    return this.#newest.get(commitment) ?? null;
  }

  report(node: object, commitment: CommitmentName, slot: bigint): void {
    const reported = this.#reported.get(commitment) ?? new Map<object, bigint>();
    this.#reported.set(commitment, reported.set(node, slot));
    this.#update(commitment);
  }

  /** Drops what a node has reported; the newest slot may go back. */
  forget(node: object): void {
    for (const [commitment, reported] of this.#reported) {
      if (reported.delete(node)) this.#update(commitment);
    }
  }

  #update(commitment: CommitmentName): void {
    let newest: bigint | null = null;
    for (const slot of this.#reported.get(commitment)?.values() ?? []) {
      if (newest === null || slot > newest) newest = slot;
    }
    if (newest === null || newest === this.#newest.get(commitment)) return;
    this.#newest.set(commitment, newest);
    this.#onSlot(commitment, newest);
    for (const waiter of this.#waiters.get(commitment) ?? []) if (waiter.slot <= newest) waiter.wake(true);
  }

  /** Resolves with true when the slot is reported, with false after `waitMs`. */
  reached(commitment: CommitmentName, slot: bigint, waitMs: number): Promise<boolean> {
    if ((this.#newest.get(commitment) ?? 0n) >= slot) return Promise.resolve(true);
    if (this.#waiting >= waitersMax) return Promise.resolve(false);
    const waiters = this.#waiters.get(commitment) ?? new Set<Waiter>();
    this.#waiters.set(commitment, waiters);
    this.#waiting += 1;
    return new Promise((resolve) => {
      const timer = this.#clock.after(waitMs, () => waiter.wake(false), { keepsAlive: true });
      const waiter: Waiter = {
        slot,
        wake: (isReached) => {
          if (!waiters.delete(waiter)) return;
          this.#waiting -= 1;
          invariant(this.#waiting >= 0, "a call that waits for a slot is counted once");
          timer.cancel();
          resolve(isReached);
        },
      };
      waiters.add(waiter);
    });
  }

  [Symbol.dispose](): void {
    for (const waiters of this.#waiters.values()) for (const waiter of [...waiters]) waiter.wake(false);
  }
}
