import type { CommitmentName } from "@sluice/contract/rpc";

interface Waiter {
  readonly slot: bigint;
  readonly wake: (reached: boolean) => void;
}

/** Calls that wait for a slot at a time; who comes beyond does not wait. */
const waitersMax = 10_000;

/** The newest slot of each commitment that any node has shown, and those who wait for one. */
export class SlotBoard implements Disposable {
  readonly #onSlot: (commitment: CommitmentName, slot: bigint) => void;
  readonly #shown = new Map<CommitmentName, Map<object, bigint>>();
  readonly #newest = new Map<CommitmentName, bigint>();
  readonly #waiters = new Map<CommitmentName, Set<Waiter>>();
  #waiting = 0;

  constructor(options: { readonly onSlot: (commitment: CommitmentName, slot: bigint) => void }) {
    this.#onSlot = options.onSlot;
  }

  newest(commitment: CommitmentName): bigint | null {
    return this.#newest.get(commitment) ?? null;
  }

  heard(node: object, commitment: CommitmentName, slot: bigint): void {
    const shown = this.#shown.get(commitment) ?? new Map<object, bigint>();
    this.#shown.set(commitment, shown.set(node, slot));
    this.#settle(commitment);
  }

  /** A node is gone, and what it alone has shown with it. */
  forget(node: object): void {
    for (const [commitment, shown] of this.#shown) {
      if (shown.delete(node)) this.#settle(commitment);
    }
  }

  #settle(commitment: CommitmentName): void {
    let newest: bigint | null = null;
    for (const slot of this.#shown.get(commitment)?.values() ?? []) if (newest === null || slot > newest) newest = slot;
    if (newest === null || newest === this.#newest.get(commitment)) return;
    this.#newest.set(commitment, newest);
    this.#onSlot(commitment, newest);
    for (const waiter of this.#waiters.get(commitment) ?? []) if (waiter.slot <= newest) waiter.wake(true);
  }

  /** Resolves with true when the slot is shown, with false after `waitMs`. */
  reached(commitment: CommitmentName, slot: bigint, waitMs: number): Promise<boolean> {
    if ((this.#newest.get(commitment) ?? 0n) >= slot) return Promise.resolve(true);
    if (this.#waiting >= waitersMax) return Promise.resolve(false);
    const among = this.#waiters.get(commitment) ?? new Set<Waiter>();
    this.#waiters.set(commitment, among);
    this.#waiting += 1;
    return new Promise((resolve) => {
      const timer = setTimeout(() => waiter.wake(false), waitMs);
      const waiter: Waiter = {
        slot,
        wake: (isReached) => {
          if (!among.delete(waiter)) return;
          this.#waiting -= 1;
          clearTimeout(timer);
          resolve(isReached);
        },
      };
      among.add(waiter);
    });
  }

  [Symbol.dispose](): void {
    for (const waiters of this.#waiters.values()) for (const waiter of [...waiters]) waiter.wake(false);
  }
}
