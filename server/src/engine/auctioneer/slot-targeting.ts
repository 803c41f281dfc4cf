import { engineLimits } from "@sluice/contract/engine";
import type { Clock } from "@sluice/lib";
import type { Address, Slot } from "@sluice/wire/identifiers";

/** A slot that winners can be delivered for, and whose it is. */
export interface BuildTarget {
  readonly slot: Slot;
  readonly leader: Address;
  /** Whether the slot is the one that is open, so that what arrives now lands in no earlier one. */
  readonly isOpen: boolean;
}

export interface SlotTargetingDependencies {
  readonly clock: Pick<Clock, "monotonic">;
  readonly leaderAt: (slot: bigint) => Address | null;
  readonly isConnected: (identity: Address) => boolean;
}

/** A slot's length before any was measured, and what measured ones are believed within. Milliseconds. */
const slotMs = { initial: 400, least: 20, most: 2_000 } as const;
/** How much the newest interval counts in the average. */
const newestShare = 0.1;
/** After this share of a slot what is sent would reach its leader when the slot is over. */
const lateShare = 0.75;

/** Which slot a tick builds for: the open one while there is time, else the nearest of a leader that takes bundles. */
export class SlotTargeting {
  readonly #dependencies: SlotTargetingDependencies;
  #slot: bigint | null = null;
  #openedMs = 0;
  #slotMs: number = slotMs.initial;

  constructor(dependencies: SlotTargetingDependencies) {
    this.#dependencies = dependencies;
  }

  /** A slot has opened. */
  slotOpened(slot: bigint): void {
    const nowMs = this.#dependencies.clock.monotonic();
    if (this.#slot !== null && slot === this.#slot + 1n) {
      const lasted = Math.min(slotMs.most, Math.max(slotMs.least, nowMs - this.#openedMs));
      this.#slotMs += (lasted - this.#slotMs) * newestShare;
    }
    this.#slot = slot;
    this.#openedMs = nowMs;
  }

  /**
   * Null while no leader that is connected has a slot near enough. A slot lasts as long as others did, whether or not
   * its successor is known: a node that lags must not make bundles go to leaders whose slots are over.
   */
  target(): BuildTarget | null {
    const open = this.#slot;
    if (open === null) return null;
    const elapsedSlots = this.#elapsedSlots();
    const first = Math.max(0, Math.ceil(elapsedSlots - lateShare));
    if (first > Number(engineLimits.deliverySlotsAhead)) return null;
    for (let ahead = BigInt(first); ahead <= engineLimits.deliverySlotsAhead; ahead += 1n) {
      const slot = open + ahead;
      const leader = this.#dependencies.leaderAt(slot);
      if (leader !== null && this.#dependencies.isConnected(leader))
        return { slot: slot as Slot, leader, isOpen: ahead === 0n };
    }
    return null;
  }
  /** Whether a slot has gone by, by notice or by its length. One that is late is not over yet. */
  isOver(slot: bigint): boolean {
    const open = this.#slot;
    return open === null || slot < open || this.#elapsedSlots() > Number(slot - open) + 1;
  }

  #elapsedSlots(): number {
    return (this.#dependencies.clock.monotonic() - this.#openedMs) / this.#slotMs;
  }
}
