import { type Clock, type Log, type MonotonicMs, monotonicMs, sleep, type Timer } from "@sluice/lib";
import type { Chain } from "../bank/index.ts";

const nominalSlotMs = 400;
/** Slots closed at a stretch before others get their turn. */
const stretch = 16;

interface SlotClockOptions {
  readonly slotMs: number;
  readonly finalizedAfter: number;
  /** Slots of `start`. */
  readonly startSlots: number;
}

/** How far `advance` goes: so many slots with a block each, or to an epoch, or by a time. */
export type Advance = { readonly slots: bigint } | { readonly epochs: bigint } | { readonly seconds: bigint };

/** The chain's time: what it reads as now, and what becomes of each tick of its slots. */
export class SlotClock {
  readonly #options: SlotClockOptions;
  readonly #clock: Pick<Clock, "now" | "after">;
  readonly #isStopped: () => boolean;
  #aheadMs: number;
  /** What the clock read when slots began to be closed at once: while that lasts, only their own time passes. */
  #standsAtMs: number | null;
  /** Slots to leave out after the one that is open. */
  #skip = 0n;
  /** Ticks until the open slot begins, after slots that were left out. */
  #waits = 0n;
  #advancing = false;
  #lastAdvance: Promise<void> = Promise.resolve();

  constructor(
    options: SlotClockOptions,
    dependencies: { readonly clock: Pick<Clock, "now" | "after">; readonly isStopped: () => boolean },
  ) {
    this.#options = options;
    this.#clock = dependencies.clock;
    this.#isStopped = dependencies.isStopped;
    this.#aheadMs = -this.#startSlots * this.#slotMs;
    this.#standsAtMs = this.#startSlots === 0 ? null : this.#clock.now();
  }

  /** An owner who closes the slots begins at genesis. */
  get #startSlots(): number {
    return this.#options.slotMs === 0 ? 0 : this.#options.startSlots;
  }

  get #slotMs(): number {
    return this.#options.slotMs === 0 ? nominalSlotMs : this.#options.slotMs;
  }

  /** Closes the slots that lie in the time before the start; the chain's time is the clock's after it. */
  start(chain: Chain): Promise<void> {
    return this.advance({ slots: BigInt(this.#startSlots) }, chain);
  }

  /** Unix milliseconds. */
  readonly now = (): number => (this.#standsAtMs ?? this.#clock.now()) + this.#aheadMs;

  get skipping(): bigint {
    return this.#skip + this.#waits;
  }

  /** The next slots after the open one have no block. */
  skip(slots: bigint): void {
    this.#skip += slots;
  }

  /** A slot's time is over. */
  async tick(chain: Chain): Promise<void> {
    if (this.#advancing || this.#isStopped()) return;
    if (this.#waits > 0n) {
      this.#waits -= 1n;
      if (this.#waits === 0n) chain.announceOpen();
      return;
    }
    const skip = this.#skip;
    this.#skip = 0n;
    this.#waits = skip;
    await chain.closeSlot(skip, { silent: skip > 0n });
  }

  /** Slots are left out no longer; one that waited for its turn begins now. */
  clear(chain: Chain): void {
    this.#skip = 0n;
    if (this.#waits > 0n) chain.announceOpen();
    this.#waits = 0n;
  }

  /** The open slot was abandoned, and another one has begun. */
  forked(): void {
    this.#waits = 0n;
  }

  /**
   * Moves time and slots on at once, each slot by its own length however long closing it takes. Toward an epoch or by a
   * time, slots are left out but for the first one of each epoch and as many at the end as it takes that all of this is
   * finalized.
   */
  advance(by: Advance, chain: Chain): Promise<void> {
    const done = this.#lastAdvance.then(() => this.#advance(by, chain));
    this.#lastAdvance = done.catch(() => undefined);
    return done;
  }

  async #advance(by: Advance, chain: Chain): Promise<void> {
    this.clear(chain);
    this.#advancing = true;
    this.#standsAtMs ??= this.#clock.now();
    try {
      const slotMs = this.#slotMs;
      const target = this.#target(by, chain, slotMs);
      const blocks = BigInt(this.#options.finalizedAfter) + 1n;
      const lastBlocks = "slots" in by ? 0n : target - blocks;
      for (let closed = 1; chain.openSlot < target; closed += 1) {
        const open = chain.openSlot;
        const next = open < lastBlocks ? lower(this.#nextEpoch(chain), lastBlocks) : open + 1n;
        this.#aheadMs += Number(next - open) * slotMs;
        await chain.closeSlot(next - open - 1n, { voted: true });
        if (closed % stretch === 0) await sleep(this.#clock, 0);
      }
    } finally {
      this.#advancing = false;
      this.#standsAtMs = null;
    }
  }

  #target(by: Advance, chain: Chain, slotMs: number): bigint {
    if ("slots" in by) return chain.openSlot + by.slots;
    if ("seconds" in by) return chain.openSlot + (by.seconds * 1_000n) / BigInt(slotMs);
    const epoch = chain.epochs.epochOf(chain.openSlot) + by.epochs;
    return chain.epochs.firstSlot(epoch) + BigInt(this.#options.finalizedAfter) + 1n;
  }

  #nextEpoch(chain: Chain): bigint {
    return chain.epochs.firstSlot(chain.epochs.epochOf(chain.openSlot) + 1n);
  }
}

function lower(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}

interface SlotTimerDependencies {
  readonly clock: Pick<Clock, "monotonic" | "after">;
  readonly log: Log;
  readonly close: () => Promise<void>;
}

/**
 * Closes a slot every `slotMs`, on a grid that does not drift. When closing takes longer than a slot, the missed ticks
 * are left out instead of being made up in a burst.
 */
export class SlotTimer {
  readonly #slotMs: number;
  readonly #dependencies: SlotTimerDependencies;
  #next: MonotonicMs;
  #timer: Timer | null = null;

  constructor(options: { readonly slotMs: number }, dependencies: SlotTimerDependencies) {
    this.#slotMs = options.slotMs;
    this.#dependencies = dependencies;
    this.#next = monotonicMs(dependencies.clock.monotonic() + options.slotMs);
    this.#schedule();
  }

  #schedule(): void {
    const { clock } = this.#dependencies;
    const wait = Math.max(0, this.#next - clock.monotonic());
    this.#timer = clock.after(wait, () => void this.#tick(), { keepsAlive: true });
  }

  async #tick(): Promise<void> {
    const { clock, log, close } = this.#dependencies;
    try {
      await close();
    } catch (error) {
      log.error({ error }, "a slot is not closed");
    }
    if (this.#timer === null) return;
    const now = clock.monotonic();
    this.#next = monotonicMs(Math.max(now, this.#next + this.#slotMs));
    this.#schedule();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }
}
