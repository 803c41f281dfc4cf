import { createHash } from "node:crypto";
import { decodeVoteAccount } from "@sluice/wire/accounts/vote";
import { programs } from "@sluice/wire/programs";
import type { AccountOverlay } from "./account-overlay.ts";

/** Epochs of one length from slot 0 on, without warm-up. */
export class EpochSchedule {
  readonly slotsPerEpoch: bigint;

  constructor(slotsPerEpoch: bigint) {
    this.slotsPerEpoch = slotsPerEpoch;
  }

  epochOf(slot: bigint): bigint {
    return slot / this.slotsPerEpoch;
  }

  slotIndex(slot: bigint): bigint {
    return slot % this.slotsPerEpoch;
  }

  firstSlot(epoch: bigint): bigint {
    return epoch * this.slotsPerEpoch;
  }

  /** The last epoch whose leader schedule is known at a slot: that of the next epoch. */
  lastScheduledEpoch(slot: bigint): bigint {
    return this.epochOf(slot) + 1n;
  }
}

/** Epochs whose stakes are kept: more than a node can lag behind, which is 512 slots of epochs of 32. */
const epochsKept = 20;

export interface VoterStake {
  readonly vote: string;
  readonly identity: string;
  /** Lamports that are delegated to the vote account and active in the epoch. */
  readonly stake: bigint;
}

interface EpochStake {
  readonly epoch: bigint;
  /** The slot at whose opening this was counted. */
  readonly slot: bigint;
  readonly voters: readonly VoterStake[];
  readonly total: bigint;
}

/** The stake of every vote account as each epoch began. A fork takes back what was counted on the abandoned slots. */
export class EpochStakes {
  /** Oldest first. */
  #kept: EpochStake[] = [];

  record(epoch: bigint, slot: bigint, voters: readonly VoterStake[]): void {
    const total = voters.reduce((sum, { stake }) => sum + stake, 0n);
    this.#kept.push({ epoch, slot, voters, total });
    if (this.#kept.length > epochsKept) this.#kept.shift();
  }

  /** Takes back what was counted in slots after `slot`. */
  rollback(slot: bigint): void {
    this.#kept = this.#kept.filter((entry) => entry.slot <= slot);
  }

  /** The oldest epoch whose stakes are kept. */
  get oldestEpoch(): bigint {
    return this.#kept[0]?.epoch ?? 0n;
  }

  /** The stakes of an epoch, or of the newest one before it whose first slot had a block; null when long gone. */
  at(epoch: bigint): EpochStake | null {
    return this.#kept.findLast((entry) => entry.epoch <= epoch) ?? null;
  }
}

/** Every vote account with what is delegated to it. Linear in the accounts of the vote program. */
export function voterStakes(
  addresses: Iterable<string>,
  active: ReadonlyMap<string, readonly { readonly stake: bigint }[]>,
  accounts: AccountOverlay,
): VoterStake[] {
  const voters: VoterStake[] = [];
  for (const vote of addresses) {
    const account = accounts.read(vote);
    const state = account?.owner === programs.vote ? decodeVoteAccount(account.data) : null;
    if (state === null) continue;
    const stake = (active.get(vote) ?? []).reduce((sum, delegation) => sum + delegation.stake, 0n);
    voters.push({ vote, identity: state.node, stake });
  }
  return voters;
}

/** A leader has this many slots in a row. Source: NUM_CONSECUTIVE_LEADER_SLOTS. */
export const consecutiveSlots = 4n;
const schedulesKept = epochsKept + 1;
const digestBytes = 32;
const drawBytes = 16;

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
    if (this.#at + drawBytes > this.#digest.length) {
      this.#digest = createHash("sha256").update(`${this.#seed}/${this.#block}`).digest();
      this.#block += 1;
      this.#at = 0;
    }
    const high = this.#digest.readBigUInt64LE(this.#at);
    const low = this.#digest.readBigUInt64LE(this.#at + digestBytes / 4);
    this.#at += drawBytes;
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

interface LeaderScheduleOptions {
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
    const groups = Number((epochs.slotsPerEpoch + consecutiveSlots - 1n) / consecutiveSlots);
    const leaders = drawLeaders(voters, groups, `${seed}/leaders/${epoch}`);
    this.#drawn.delete(epoch);
    this.#drawn.set(epoch, { from, leaders });
    const oldest = this.#drawn.keys().next();
    if (this.#drawn.size > schedulesKept && !oldest.done) this.#drawn.delete(oldest.value);
    return leaders;
  }

  /** The first slot whose leader is known. */
  get oldestSlot(): bigint {
    const { epochs, stakes } = this.#options;
    return stakes.oldestEpoch === 0n ? 0n : epochs.firstSlot(stakes.oldestEpoch + 1n);
  }

  /**
   * How many slots of a range each identity leads, both ends included; four slots at a time, since ranges may be long.
   */
  slotCounts(first: bigint, last: bigint): Map<string, bigint> {
    const { epochs } = this.#options;
    const counts = new Map<string, bigint>();
    for (let slot = first; slot <= last; ) {
      const epoch = epochs.epochOf(slot);
      const leaders = this.ofEpoch(epoch);
      const end = epochs.firstSlot(epoch + 1n) - 1n;
      for (const until = end < last ? end : last; slot <= until; ) {
        const index = epochs.slotIndex(slot);
        const next = slot + consecutiveSlots - (index % consecutiveSlots);
        const after = next > until ? until + 1n : next;
        const leader = leaders?.[Number(index / consecutiveSlots)]?.identity;
        if (leader !== undefined) counts.set(leader, (counts.get(leader) ?? 0n) + after - slot);
        slot = after;
      }
    }
    return counts;
  }

  /** The leader of a slot; null when it is no longer known. */
  at(slot: bigint): Leader | null {
    const { epochs } = this.#options;
    return this.ofEpoch(epochs.epochOf(slot))?.[Number(epochs.slotIndex(slot) / consecutiveSlots)] ?? null;
  }
}
