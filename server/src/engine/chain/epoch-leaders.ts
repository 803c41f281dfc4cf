import type { Address, Slot } from "@sluice/wire/identifiers";
import { wrong } from "./answers.ts";

/** Slots of one epoch; Solana's have 432,000. */
const slotsMax = 2_000_000;

/** Who leads each slot of one epoch. */
export class EpochLeaders {
  readonly firstSlot: bigint;
  readonly slotCount: number;
  readonly #identities: readonly Address[];
  /** The place in `#identities` of each slot's leader, and each identity's slots from the epoch's first, rising. */
  readonly #leaders: Int32Array;
  readonly #slots = new Map<Address, Int32Array>();

  /** Throws EngineChainError where slots are missing, or two identities have the same. */
  constructor(firstSlot: bigint, schedule: ReadonlyMap<Address, readonly number[]>) {
    this.firstSlot = firstSlot;
    this.slotCount = [...schedule.values()].reduce((sum, slots) => sum + slots.length, 0);
    if (this.slotCount === 0 || this.slotCount > slotsMax) throw wrong("the length of the leader schedule");
    this.#identities = [...schedule.keys()];
    this.#leaders = new Int32Array(this.slotCount).fill(-1);
    for (const [place, [identity, slots]] of [...schedule].entries()) {
      for (const slot of slots) {
        if (this.#leaders[slot] !== -1) throw wrong("the leader schedule");
        this.#leaders[slot] = place;
      }
      this.#slots.set(identity, Int32Array.from(slots).sort());
    }
  }

  get endSlot(): bigint {
    return this.firstSlot + BigInt(this.slotCount);
  }

  has(identity: Address): boolean {
    return (this.#slots.get(identity)?.length ?? 0) > 0;
  }

  leaderAt(slot: bigint): Address | null {
    if (slot < this.firstSlot || slot >= this.endSlot) return null;
    return this.#identities[this.#leaders[Number(slot - this.firstSlot)] ?? -1] ?? null;
  }

  /** Slots of an identity from `from` on, at most `count`, rising. */
  slotsOf(identity: Address, from: bigint, count: number): Slot[] {
    const slots = this.#slots.get(identity);
    if (slots === undefined) return [];
    const first = from > this.firstSlot ? Number(from - this.firstSlot) : 0;
    let low = 0;
    let high = slots.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((slots[middle] ?? 0) < first) low = middle + 1;
      else high = middle;
    }
    return Array.from(slots.subarray(low, low + count), (slot) => (this.firstSlot + BigInt(slot)) as Slot);
  }
}
