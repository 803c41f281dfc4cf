import type { Clock } from "@sluice/lib";
import type { Slot } from "@sluice/wire/identifiers";
import type { EngineChain } from "../model/chain-port.ts";
import { type Degradation, degradations } from "../model/events.ts";

export interface HealthMonitorDependencies {
  readonly clock: Pick<Clock, "monotonic">;
  readonly chain: Pick<EngineChain, "onSlot">;
  readonly confirmedSlot: () => Slot | null;
  /** The slot up to which every confirmed block was read. */
  readonly settledThrough: () => Slot | null;
  /** Leaders that take bundles. */
  readonly leaders: () => number;
  /** Processes of the simulation that are up. */
  readonly simulators: () => number;
  readonly changed: (degraded: readonly Degradation[]) => void;
}

/** Confirmed slots without a block that was read, beyond which the chain counts as unread. */
const followedWithinSlots = 32n;
/** Without a new slot for 25 slots of the usual length the chain counts as still. */
export const stillMs = 10_000;

/** Reports why the engine is degraded, whenever that changes. */
export class HealthMonitor implements Disposable {
  readonly #dependencies: HealthMonitorDependencies;
  readonly #following: Disposable;
  #newestSlot = -1n;
  #movedMs: number;
  #reported = "";

  constructor(dependencies: HealthMonitorDependencies) {
    this.#dependencies = dependencies;
    this.#movedMs = dependencies.clock.monotonic();
    this.#following = dependencies.chain.onSlot((commitment, slot) => {
      if (commitment !== "processed" || slot <= this.#newestSlot) return;
      this.#newestSlot = slot;
      this.#movedMs = dependencies.clock.monotonic();
    });
  }

  /** Present degradations; empty when all is well. */
  degraded(): readonly Degradation[] {
    const { leaders, simulators } = this.#dependencies;
    const found: Readonly<Record<Degradation, boolean>> = {
      chain_unread: !this.#isFollowed(),
      chain_still: this.#dependencies.clock.monotonic() - this.#movedMs >= stillMs,
      no_leader: leaders() === 0,
      no_simulation: simulators() === 0,
    };
    return degradations.filter((each) => found[each]);
  }

  /** Reports a change since the last check. */
  check(): void {
    this.#report(this.degraded());
  }

  #isFollowed(): boolean {
    const confirmed = this.#dependencies.confirmedSlot();
    const settled = this.#dependencies.settledThrough();
    return confirmed !== null && settled !== null && confirmed - settled <= followedWithinSlots;
  }

  #report(degraded: readonly Degradation[]): void {
    const text = degraded.join(" ");
    if (text === this.#reported) return;
    this.#reported = text;
    this.#dependencies.changed(degraded);
  }

  /** An engine that has ended is not degraded. */
  [Symbol.dispose](): void {
    this.#following[Symbol.dispose]();
    this.#report([]);
  }
}
