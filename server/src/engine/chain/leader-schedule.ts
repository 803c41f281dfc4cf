import type { Address, Slot } from "@sluice/wire/identifiers";
import type { EngineChain } from "../model/chain-port.ts";
import type { UpcomingLeader } from "../model/service.ts";
import { readEpoch, readSchedule, wrong } from "./node-answers.ts";

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

/** After a failure the schedule is requested again so many slots later, twice as many each time, up to the second. */
const retrySlots = { first: 1n, most: 64n } as const;

export interface LeaderScheduleEvents {
  /** The schedule could not be read; it is requested again some slots later. */
  scheduleFailed(error: unknown): void;
}

export interface LeaderScheduleDependencies {
  readonly chain: EngineChain;
  readonly events: LeaderScheduleEvents;
}

/**
 * Who leads which slot, of the epoch that the chain is in and of the next one. It follows the chain's slots: what is
 * missing is requested when a slot begins, one call at a time, so that it needs no timer.
 */
export class LeaderSchedule implements Disposable {
  readonly #dependencies: LeaderScheduleDependencies;
  readonly #following: Disposable;
  /** The epoch before: blocks of its last slots are confirmed when the next one has begun. */
  #previous: EpochLeaders | null = null;
  #current: EpochLeaders | null = null;
  #next: EpochLeaders | null = null;
  #reading: Promise<void> | null = null;
  /** Nothing is requested before this slot. */
  #notBefore = 0n;
  #wait: bigint = retrySlots.first;

  constructor(dependencies: LeaderScheduleDependencies) {
    this.#dependencies = dependencies;
    this.#following = dependencies.chain.onSlot((commitment, slot) => {
      if (commitment === "processed") this.#reach(slot);
    });
    const slot = dependencies.chain.newestSlot("processed");
    if (slot !== null) this.#reach(slot);
  }

  /**
   * Null for slots that are neither in the chain's epoch nor in the one before or after, and while these are not known.
   */
  leaderAt(slot: bigint): Address | null {
    return this.#current?.leaderAt(slot) ?? this.#next?.leaderAt(slot) ?? this.#previous?.leaderAt(slot) ?? null;
  }

  /** The first and the last slot of the epoch that a slot is in; null where neither this epoch nor the next has it. */
  epochOf(slot: bigint): { readonly first: bigint; readonly last: bigint } | null {
    const epoch = [this.#current, this.#next].find((each) => {
      return each !== null && slot >= each.firstSlot && slot < each.endSlot;
    });
    return epoch == null ? null : { first: epoch.firstSlot, last: epoch.endSlot - 1n };
  }

  /** Whether an identity has slots in this epoch or in the next. */
  isScheduled(identity: Address): boolean {
    return this.#current?.has(identity) === true || this.#next?.has(identity) === true;
  }

  /** The next slots of an identity from `from` on, rising, at most `count` and none beyond the next epoch. */
  slotsOf(identity: Address, from: bigint, count: number): Slot[] {
    const slots = this.#current?.slotsOf(identity, from, count) ?? [];
    if (slots.length < count) slots.push(...(this.#next?.slotsOf(identity, from, count - slots.length) ?? []));
    return slots;
  }

  /** The first slot from `from` on that one of these identities leads. */
  nextOf(identities: Iterable<Address>, from: bigint): UpcomingLeader | null {
    let soonest: UpcomingLeader | null = null;
    for (const identity of identities) {
      const [slot] = this.slotsOf(identity, from, 1);
      if (slot !== undefined && (soonest === null || slot < soonest.slot)) soonest = { slot, identity };
    }
    return soonest;
  }

  /** Resolves when nothing is being read. */
  async settled(): Promise<void> {
    await this.#reading;
  }

  #reach(slot: Slot): void {
    if (this.#current !== null && slot >= this.#current.endSlot) {
      this.#previous = this.#current;
      this.#current = this.#next !== null && slot < this.#next.endSlot ? this.#next : null;
      this.#next = null;
      this.#notBefore = 0n;
      this.#wait = retrySlots.first;
    }
    // A chain that was begun anew is at slots long before those that are known.
    if (this.#current !== null && slot < this.#current.firstSlot) this.#forget();
    if (this.#next !== null || this.#reading !== null || slot < this.#notBefore) return;
    this.#reading = this.#read(slot)
      .then((isWhole) => {
        if (isWhole) this.#wait = retrySlots.first;
        else this.#later(slot);
      })
      .catch((error: unknown) => {
        this.#later(slot);
        this.#dependencies.events.scheduleFailed(error);
      })
      .finally(() => {
        this.#reading = null;
      });
  }

  #forget(): void {
    this.#previous = null;
    this.#current = null;
    this.#next = null;
    this.#notBefore = 0n;
  }

  #later(slot: bigint): void {
    this.#notBefore = slot + this.#wait;
    this.#wait = this.#wait * 2n < retrySlots.most ? this.#wait * 2n : retrySlots.most;
  }

  /** Whether both epochs are known then. */
  async #read(slot: Slot): Promise<boolean> {
    this.#current ??= await this.#epochOf(slot);
    if (this.#current === null) return false;
    const { endSlot } = this.#current;
    const next = await this.#leaders(endSlot);
    // The chain may have gone into the next epoch while it was read.
    if (this.#current?.endSlot !== endSlot) return false;
    this.#next = next;
    return next !== null;
  }

  async #epochOf(slot: Slot): Promise<EpochLeaders | null> {
    const info = await this.#dependencies.chain.read("getEpochInfo", [{ commitment: "processed" }], {
      minimumSlot: slot,
    });
    return await this.#leaders(readEpoch(info).firstSlot);
  }

  async #leaders(firstSlot: bigint): Promise<EpochLeaders | null> {
    const schedule = readSchedule(await this.#dependencies.chain.read("getLeaderSchedule", [firstSlot]));
    return schedule === null || schedule.size === 0 ? null : new EpochLeaders(firstSlot, schedule);
  }

  [Symbol.dispose](): void {
    this.#following[Symbol.dispose]();
  }
}
