import { type CommitmentName, commitments } from "@sluice/contract/rpc";
import { type Clock, invariant } from "@sluice/lib";
import { type RestartReason, SlotBelief, type SlotClaim } from "./slot-belief.ts";

interface Waiter {
  readonly slot: bigint;
  readonly wake: (reached: boolean) => void;
}

/** The newest slot of a chain that goes on changes about every 400 ms. */
const stillMsMax = 800;
/** Calls that wait for a slot at a time; a call beyond that does not wait. */
const waitersMax = 10_000;

export interface SlotTrackerDependencies {
  readonly clock: Pick<Clock, "after" | "monotonic">;
  /** What each reading node of the network shows of a commitment. */
  readonly claims: (commitment: CommitmentName) => readonly SlotClaim[];
  /**
   * Called when the newest believed slot of a commitment has changed. Where that stands still, since the node that
   * claimed it goes on no more, also when the slot changes that two nodes show: the chain has moved, not beyond it.
   */
  readonly onSlot: (commitment: CommitmentName, slot: bigint) => void;
  /** Called when belief in the slots of a commitment has started anew. */
  readonly onRestart: (commitment: CommitmentName, reason: RestartReason) => void;
}

/** The newest believed slot of each commitment, and the calls that wait for one. */
export class SlotTracker implements Disposable {
  readonly #dependencies: SlotTrackerDependencies;
  readonly #beliefs: Readonly<Record<CommitmentName, SlotBelief>> = {
    processed: new SlotBelief(),
    confirmed: new SlotBelief(),
    finalized: new SlotBelief(),
  };
  /** When the newest slot last changed, monotonic. */
  readonly #movedAtMs = new Map<CommitmentName, number>();
  readonly #waiters = new Map<CommitmentName, Set<Waiter>>();
  #waiting = 0;

  constructor(dependencies: SlotTrackerDependencies) {
    this.#dependencies = dependencies;
  }

  newest(commitment: CommitmentName): bigint | null {
    return this.#beliefs[commitment].best;
  }

  /** The newest slot of a commitment that a second reading node confirms; of a single reading node, its own. */
  confirmedByTwo(commitment: CommitmentName): bigint | null {
    return this.#beliefs[commitment].confirmed;
  }

  /** The slot against which lag is measured; see SlotBelief.standard. */
  standard(isMoving: boolean): bigint | null {
    return this.#beliefs.processed.standard(isMoving);
  }

  /** Whether a node may be at this slot, as far as the others show. */
  isPlausible(commitment: CommitmentName, slot: bigint): boolean {
    const ceiling = this.#beliefs[commitment].ceiling(this.#dependencies.clock.monotonic());
    return ceiling === null || slot <= ceiling;
  }

  /** Whether two nodes contradict each other, and there is no third. */
  get isDisputed(): boolean {
    return this.#beliefs.processed.isDisputed;
  }

  /** Takes what the nodes show of a commitment now. */
  update(commitment: CommitmentName): void {
    const { clock, claims, onSlot, onRestart } = this.#dependencies;
    const belief = this.#beliefs[commitment];
    const { best: before, confirmed: confirmedBefore } = belief;
    const nowMs = clock.monotonic();
    const restarted = belief.update(claims(commitment), nowMs);
    if (restarted !== null) onRestart(commitment, restarted);
    const newest = belief.best;
    if (newest === null) return;
    if (newest === before) {
      const isStill = nowMs - (this.#movedAtMs.get(commitment) ?? nowMs) >= stillMsMax;
      if (isStill && belief.confirmed !== confirmedBefore) onSlot(commitment, newest);
      return;
    }
    this.#movedAtMs.set(commitment, nowMs);
    onSlot(commitment, newest);
    for (const waiter of this.#waiters.get(commitment) ?? []) if (waiter.slot <= newest) waiter.wake(true);
  }

  updateAll(): void {
    for (const commitment of commitments) this.update(commitment);
  }

  /** The chain is another one: what was believed says nothing of it. */
  restart(): void {
    for (const commitment of commitments) {
      this.#beliefs[commitment].restart();
      this.#dependencies.onRestart(commitment, "chain");
    }
    this.updateAll();
  }

  /** Resolves with true when the slot is believed, with false after `waitMs`. */
  reached(commitment: CommitmentName, slot: bigint, waitMs: number): Promise<boolean> {
    if ((this.newest(commitment) ?? 0n) >= slot) return Promise.resolve(true);
    if (this.#waiting >= waitersMax) return Promise.resolve(false);
    const waiters = this.#waiters.get(commitment) ?? new Set<Waiter>();
    this.#waiters.set(commitment, waiters);
    this.#waiting += 1;
    return new Promise((resolve) => {
      const timer = this.#dependencies.clock.after(waitMs, () => waiter.wake(false), { keepsAlive: true });
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
