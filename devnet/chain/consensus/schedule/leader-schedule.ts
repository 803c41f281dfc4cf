import { createHash } from "node:crypto";
import type { EpochSchedule } from "../epochs.ts";
import { EPOCHS_KEPT, type EpochStake, type EpochStakes, type VoterStake } from "./epoch-stakes.ts";

/** A leader has this many slots in a row. Source: NUM_CONSECUTIVE_LEADER_SLOTS. */
export const CONSECUTIVE_SLOTS = 4n;
const SCHEDULES_KEPT = EPOCHS_KEPT + 1;
const DIGEST_BYTES = 32;
const DRAW_BYTES = 16;

export interface Leader {
  readonly identity: string;
  readonly vote: string;
}

/** Numbers below a bound, drawn from a text; 16 bytes each, so that what the bound leaves over cannot be seen. */
class Draws {
  readonly #seed: string;
  #block = 0;
  #digest = Buffer.alloc(0);
  #at = 0;

  constructor(seed: string) {
    this.#seed = seed;
  }

  below(bound: bigint): bigint {
    if (this.#at + DRAW_BYTES > this.#digest.length) {
      this.#digest = createHash("sha256").update(`${this.#seed}/${this.#block}`).digest();
      this.#block += 1;
      this.#at = 0;
    }
    const high = this.#digest.readBigUInt64LE(this.#at);
    const low = this.#digest.readBigUInt64LE(this.#at + DIGEST_BYTES / 4);
    this.#at += DRAW_BYTES;
    return ((high << 64n) | low) % bound;
  }
}

/** Draws the leaders of `groups` times four slots, each with a chance in proportion to its stake. */
export function drawLeaders(voters: readonly VoterStake[], groups: number, seed: string): readonly Leader[] {
  const sorted = [...voters].sort((one, other) => {
    if (one.stake !== other.stake) return one.stake > other.stake ? -1 : 1;
    return one.vote < other.vote ? -1 : 1;
  });
  let total = 0n;
  const ends = sorted.map((voter) => {
    total += voter.stake;
    return { voter, end: total };
  });
  const draws = new Draws(seed);
  return Array.from({ length: groups }, () => {
    const drawn = draws.below(total);
    const found = ends.find(({ end }) => drawn < end)?.voter;
    if (found === undefined) throw new Error("a draw is below the total stake");
    return { identity: found.identity, vote: found.vote };
  });
}

export interface LeaderScheduleOptions {
  /** Any text; the same text, epoch and stakes give the same schedule. */
  readonly seed: string;
  readonly epochs: EpochSchedule;
  readonly stakes: EpochStakes;
  /** The validators that exist: only they produce blocks, so only they are scheduled. */
  readonly validators: readonly Leader[];
}

/**
 * Who leads which slot. An epoch's leaders are drawn from the stakes as the epoch before it began, so they are known an
 * epoch ahead and stay as they are.
 */
export class LeaderSchedule {
  readonly #options: LeaderScheduleOptions;
  readonly #drawn = new Map<bigint, { readonly from: EpochStake; readonly leaders: readonly Leader[] }>();

  constructor(options: LeaderScheduleOptions) {
    this.#options = options;
  }

  /** The leaders of an epoch, one for each four slots; null when its stakes are no longer known. */
  ofEpoch(epoch: bigint): readonly Leader[] | null {
    const { seed, epochs, stakes, validators } = this.#options;
    const from = stakes.at(epoch === 0n ? 0n : epoch - 1n);
    if (from === null) return null;
    const known = this.#drawn.get(epoch);
    if (known?.from === from) return known.leaders;
    const identities = new Set(validators.map(({ identity }) => identity));
    const staked = from.voters.filter(({ identity, stake }) => stake > 0n && identities.has(identity));
    // Without any stake they take turns by lot.
    const voters = staked.length > 0 ? staked : validators.map((validator) => ({ ...validator, stake: 1n }));
    const groups = Number((epochs.slotsPerEpoch + CONSECUTIVE_SLOTS - 1n) / CONSECUTIVE_SLOTS);
    const leaders = drawLeaders(voters, groups, `${seed}/leaders/${epoch}`);
    this.#drawn.delete(epoch);
    this.#drawn.set(epoch, { from, leaders });
    const oldest = this.#drawn.keys().next();
    if (this.#drawn.size > SCHEDULES_KEPT && !oldest.done) this.#drawn.delete(oldest.value);
    return leaders;
  }

  /** The first slot whose leader is known. */
  get oldestSlot(): bigint {
    const { epochs, stakes } = this.#options;
    return stakes.oldestEpoch === 0n ? 0n : epochs.firstSlot(stakes.oldestEpoch + 1n);
  }

  /** How many slots of a range each identity leads, both ends included; four slots at a time, since ranges may be long. */
  slotCounts(first: bigint, last: bigint): Map<string, bigint> {
    const { epochs } = this.#options;
    const counts = new Map<string, bigint>();
    for (let slot = first; slot <= last; ) {
      const epoch = epochs.epochOf(slot);
      const leaders = this.ofEpoch(epoch);
      const end = epochs.firstSlot(epoch + 1n) - 1n;
      for (const until = end < last ? end : last; slot <= until; ) {
        const index = epochs.slotIndex(slot);
        const next = slot + CONSECUTIVE_SLOTS - (index % CONSECUTIVE_SLOTS);
        const after = next > until ? until + 1n : next;
        const leader = leaders?.[Number(index / CONSECUTIVE_SLOTS)]?.identity;
        if (leader !== undefined) counts.set(leader, (counts.get(leader) ?? 0n) + after - slot);
        slot = after;
      }
    }
    return counts;
  }

  /** Who leads a slot; null when that is not known any more. */
  at(slot: bigint): Leader | null {
    const { epochs } = this.#options;
    return this.ofEpoch(epochs.epochOf(slot))?.[Number(epochs.slotIndex(slot) / CONSECUTIVE_SLOTS)] ?? null;
  }
}
