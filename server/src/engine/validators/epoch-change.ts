import type { Slot } from "@sluice/wire/identifiers";

/** The schedule of the epoch after is read when an epoch begins; who is only in that one is not judged before. */
const settledSlots = 16n;

export interface EpochChangeDependencies {
  /** Null while the chain has not told. */
  readonly epochOf: (slot: Slot) => { readonly first: bigint } | null;
  /** An epoch has begun, and its schedule and the next one's had time to be read. */
  readonly changed: () => void;
}

/** Tells when an epoch has begun, by the chain's slots. */
export class EpochChange {
  readonly #dependencies: EpochChangeDependencies;
  #told: bigint | null = null;

  constructor(dependencies: EpochChangeDependencies) {
    this.#dependencies = dependencies;
  }

  reached(slot: Slot): void {
    const epoch = this.#dependencies.epochOf(slot);
    if (epoch === null || epoch.first === this.#told || slot < epoch.first + settledSlots) return;
    this.#told = epoch.first;
    this.#dependencies.changed();
  }
}
