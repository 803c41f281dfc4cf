import type { EpochCredits, LandedVote, VoteTower } from "./vote-account.ts";

/** Votes that a tower holds; one more makes the oldest the root. Source: solana-vote-interface, MAX_LOCKOUT_HISTORY. */
const VOTES_MAX = 31;
const EPOCH_CREDITS_MAX = 64;
const LATENCY_MAX = 255;
/** Most credits of one vote, and the latency up to which it earns them. Source: SIMD-0033, timely vote credits. */
export const CREDITS_MAX = 16n;
const LATENCY_GRACE = 2;

export interface Lockouts {
  /** Oldest first. */
  readonly votes: readonly { readonly slot: bigint; readonly confirmations: number }[];
  readonly rootSlot: bigint | null;
}

/**
 * The lockouts after a vote for `slot`: those that have expired go, the vote doubles those that it confirms, and the
 * oldest of more than 31 becomes the root. Null when the tower has already voted for this slot or a later one.
 */
export function voteFor(tower: Lockouts, slot: bigint): Lockouts | null {
  const last = tower.votes.at(-1);
  if (last !== undefined ? last.slot >= slot : (tower.rootSlot ?? -1n) >= slot) return null;
  const held = [...tower.votes];
  for (let top = held.at(-1); top !== undefined; top = held.at(-1)) {
    if (top.slot + (1n << BigInt(top.confirmations)) >= slot) break;
    held.pop();
  }
  const root = held.length === VOTES_MAX ? held.shift() : undefined;
  const depth = held.length + 1;
  const votes = held.map(({ slot: earlier, confirmations }, position) => {
    const deepened = depth > position + confirmations;
    return { slot: earlier, confirmations: deepened ? confirmations + 1 : confirmations };
  });
  votes.push({ slot, confirmations: 1 });
  return { votes, rootSlot: root?.slot ?? tower.rootSlot };
}

/** What a vote earns when it is rooted: 16 when it landed within two slots, one less for each slot more, never none. */
function creditsFor({ latency }: LandedVote): bigint {
  if (latency === 0) return 1n;
  const late = BigInt(Math.max(0, latency - LATENCY_GRACE));
  return late >= CREDITS_MAX ? 1n : CREDITS_MAX - late;
}

/** Credits with so many more in an epoch, which is not before the last one that has any. */
export function withCredits(entries: readonly EpochCredits[], epoch: bigint, earned: bigint): EpochCredits[] {
  const last = entries.at(-1);
  if (last === undefined) return [{ epoch, credits: earned, previousCredits: 0n }];
  const before = entries.slice(0, -1);
  if (last.epoch === epoch) return [...before, { ...last, credits: last.credits + earned }];
  const next = { epoch, credits: last.credits + earned, previousCredits: last.credits };
  // An epoch in which nothing was earned leaves no entry.
  const kept = last.credits === last.previousCredits ? before : entries;
  return [...kept, next].slice(-EPOCH_CREDITS_MAX);
}

/**
 * A tower after a vote that landed in `slot` of `epoch`: the effect of the vote program's TowerSync. Credits are earned
 * by the votes that become rooted.
 */
export function landVote(
  tower: VoteTower,
  vote: Lockouts,
  landed: { readonly slot: bigint; readonly epoch: bigint; readonly unixTimestamp: bigint },
): VoteTower {
  const latencies = new Map(tower.votes.map(({ slot, latency }) => [slot, latency]));
  const votes = vote.votes.map(({ slot, confirmations }): LandedVote => {
    const latency = latencies.get(slot) ?? Math.min(LATENCY_MAX, Number(landed.slot - slot));
    return { latency, slot, confirmations };
  });
  const { rootSlot } = vote;
  const rooted = tower.votes.filter(({ slot }) => rootSlot !== null && slot <= rootSlot);
  const earned = rooted.reduce((sum, past) => sum + creditsFor(past), 0n);
  const voted = vote.votes.at(-1)?.slot ?? tower.timestamp.slot;
  return {
    votes,
    rootSlot,
    voters: votersIn(tower.voters, landed.epoch),
    epochCredits:
      rootSlot === tower.rootSlot ? tower.epochCredits : withCredits(tower.epochCredits, landed.epoch, earned),
    timestamp: { slot: voted, unixTimestamp: landed.unixTimestamp },
  };
}

/** The voter of an epoch is noted under it; those of epochs before the last one are forgotten. */
function votersIn(voters: VoteTower["voters"], epoch: bigint): VoteTower["voters"] {
  const current = voters.findLast((entry) => entry.epoch <= epoch);
  if (current === undefined) return voters;
  const known = voters.some((entry) => entry.epoch === epoch);
  const noted = known ? voters : [...voters, { epoch, voter: current.voter }].sort((a, b) => Number(a.epoch - b.epoch));
  return noted.filter((entry) => entry.epoch + 1n >= epoch);
}
