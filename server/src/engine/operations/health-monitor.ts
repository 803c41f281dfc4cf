import type { Clock } from "@sluice/lib";
import type { Slot } from "@sluice/wire/identifiers";
import { type Degradation, degradations } from "../model/events.ts";
import type { EngineChain } from "../model/ports.ts";

export interface HealthMonitorDependencies {
  readonly clock: Pick<Clock, "monotonic">;
  readonly chain: Pick<EngineChain, "onSlot">;
  readonly confirmedSlot: () => Slot | null;
  /** The slot up to which every confirmed block was looked at. */
  readonly settledThrough: () => Slot | null;
  /** Leaders that take bundles. */
  readonly leaders: () => number;
  /** Processes of the simulation that are up. */
  readonly simulators: () => number;
  readonly changed: (degraded: readonly Degradation[]) => void;
}

/** The block of a slot that is so long in coming says that the chain cannot be followed. */
const followedWithinSlots = 32n;
/** Twenty-five slots of a usual length without one new slot are no pause of the network. */
export const stillMs = 10_000;

/** Whether the engine can do what it is there for, and what keeps it from that. */
export class HealthMonitor implements Disposable {
  readonly #dependencies: HealthMonitorDependencies;
  readonly #following: Disposable;
  #newestSlot = -1n;
  #movedMs: number;
  #told = "";

  constructor(dependencies: HealthMonitorDependencies) {
    this.#dependencies = dependencies;
    this.#movedMs = dependencies.clock.monotonic();
    this.#following = dependencies.chain.onSlot((commitment, slot) => {
      if (commitment !== "processed" || slot <= this.#newestSlot) return;
      this.#newestSlot = slot;
      this.#movedMs = dependencies.clock.monotonic();
    });
  }

  /** None where all is well. */
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

  /** Tells what has changed since the last look. */
  check(): void {
    this.#tell(this.degraded());
  }

  #isFollowed(): boolean {
    const confirmed = this.#dependencies.confirmedSlot();
    const settled = this.#dependencies.settledThrough();
    return confirmed !== null && settled !== null && confirmed - settled <= followedWithinSlots;
  }

  #tell(degraded: readonly Degradation[]): void {
    const told = degraded.join(" ");
    if (told === this.#told) return;
    this.#told = told;
    this.#dependencies.changed(degraded);
  }

  /** An engine that ends lacks nothing any more. */
  [Symbol.dispose](): void {
    this.#following[Symbol.dispose]();
    this.#tell([]);
  }
}
