import { decodeAddress } from "@sluice/wire/base58";
import { ByteWriter } from "@sluice/wire/bytes";
import { type Address, addressOfBytes } from "@sluice/wire/identifiers";
import { programs } from "@sluice/wire/programs";
import { type ChainAccount, ownedAccount } from "../../model/index.ts";

const versionV4 = 3;
const voteAccountBytes = 3_762;
const blsTag = 144;
const blsKeyBytes = 48;
const wholeBps = 10_000;
/** The program keeps 31 votes, 64 epochs of credits and a handful of voters. */
const listMax = 64;

interface LandedVote {
  /** Slots between the one voted for and the one in which the vote landed. */
  readonly latency: number;
  readonly slot: bigint;
  readonly confirmations: number;
}

interface EpochCredits {
  readonly epoch: bigint;
  readonly credits: bigint;
  readonly previousCredits: bigint;
}

/** The part of a vote account that votes change. */
export interface VoteTower {
  /** Oldest first, at most 31. */
  readonly votes: readonly LandedVote[];
  readonly rootSlot: bigint | null;
  /** By epoch, ascending. */
  readonly voters: readonly { readonly epoch: bigint; readonly voter: Address }[];
  /** Oldest first, at most 64. */
  readonly epochCredits: readonly EpochCredits[];
  /** Unix seconds. */
  readonly timestamp: { readonly slot: bigint; readonly unixTimestamp: bigint };
}

interface VoteAccountKeys {
  readonly identity: Address;
  readonly withdrawer: Address;
  readonly vote: Address;
  readonly commissionBps: number;
}

function bytesOf(address: Address): Uint8Array {
  const bytes = decodeAddress(address);
  if (bytes === null) throw new RangeError(`${address} is no address`);
  return bytes;
}

function towerStart(data: Uint8Array): number {
  return data[blsTag] === 1 ? blsTag + 1 + blsKeyBytes : blsTag + 1;
}

function towerBytes(tower: VoteTower): Uint8Array {
  const writer = new ByteWriter().u64(BigInt(tower.votes.length));
  for (const { latency, slot, confirmations } of tower.votes) writer.u8(latency).u64(slot).u32(confirmations);
  if (tower.rootSlot === null) writer.u8(0);
  else writer.u8(1).u64(tower.rootSlot);
  writer.u64(BigInt(tower.voters.length));
  for (const { epoch, voter } of tower.voters) writer.u64(epoch).bytes(bytesOf(voter));
  writer.u64(BigInt(tower.epochCredits.length));
  for (const entry of tower.epochCredits) writer.u64(entry.epoch).u64(entry.credits).u64(entry.previousCredits);
  return writer.u64(tower.timestamp.slot).i64(tower.timestamp.unixTimestamp).finish();
}

/** The same account with another tower. Throws RangeError where it has no room for it. */
export function withTower(account: ChainAccount, tower: VoteTower): ChainAccount {
  const data = new Uint8Array(account.data.length);
  const start = towerStart(account.data);
  data.set(account.data.subarray(0, start));
  data.set(towerBytes(tower), start);
  return { ...account, data };
}

/** The tower of a vote account of version 4, or null when it is none. */
export function readTower(account: ChainAccount): VoteTower | null {
  const { data } = account;
  if (account.owner !== programs.vote || data.length < voteAccountBytes) return null;
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  if (view.getUint32(0, true) !== versionV4) return null;
  let at = towerStart(data);
  const u64 = () => {
    at += 8;
    return view.getBigUint64(at - 8, true);
  };
  const list = <T>(read: () => T): T[] => {
    const count = u64();
    return Array.from({ length: count > listMax ? 0 : Number(count) }, read);
  };
  const votes = list(() => {
    at += 13;
    return {
      latency: view.getUint8(at - 13),
      slot: view.getBigUint64(at - 12, true),
      confirmations: view.getUint32(at - 4, true),
    };
  });
  at += 1;
  const rootSlot = view.getUint8(at - 1) === 1 ? u64() : null;
  const voters = list(() => {
    const epoch = u64();
    at += 32;
    return { epoch, voter: addressOfBytes(data.subarray(at - 32, at)) };
  });
  const epochCredits = list(() => ({ epoch: u64(), credits: u64(), previousCredits: u64() }));
  const timestamp = { slot: u64(), unixTimestamp: BigInt.asIntN(64, u64()) };
  return { votes, rootSlot, voters, epochCredits, timestamp };
}

/** A vote account that has not voted yet (layout V4, SIMD-0185); its identity votes for it. */
export function newVoteAccount(keys: VoteAccountKeys): ChainAccount {
  const data = new ByteWriter()
    .u32(versionV4)
    .bytes(bytesOf(keys.identity))
    .bytes(bytesOf(keys.withdrawer))
    .bytes(bytesOf(keys.vote))
    .bytes(bytesOf(keys.identity))
    .u16(keys.commissionBps)
    .u16(wholeBps)
    .u64(0n)
    .u8(0)
    .finish(voteAccountBytes);
  return withTower(ownedAccount(programs.vote, data), {
    votes: [],
    rootSlot: null,
    voters: [{ epoch: 0n, voter: keys.identity }],
    epochCredits: [],
    timestamp: { slot: 0n, unixTimestamp: 0n },
  });
}

/** Votes that a tower holds; one more makes the oldest the root. Source: solana-vote-interface, MAX_LOCKOUT_HISTORY. */
const votesMax = 31;
const epochCreditsMax = 64;
const latencyMax = 255;
/** Most credits of one vote, and the latency up to which it earns them. Source: SIMD-0033, timely vote credits. */
export const creditsMax = 16n;
const latencyGrace = 2;

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
  const root = held.length === votesMax ? held.shift() : undefined;
  const depth = held.length + 1;
  const votes = held.map(({ slot: earlier, confirmations }, position) => {
    const deepened = depth > position + confirmations;
    return { slot: earlier, confirmations: deepened ? confirmations + 1 : confirmations };
  });
  votes.push({ slot, confirmations: 1 });
  return { votes, rootSlot: root?.slot ?? tower.rootSlot };
}

/**
 * The credits of a vote when it is rooted: 16 when it landed within two slots, one less for each further slot, at least
 * 1.
 */
function creditsFor({ latency }: LandedVote): bigint {
  if (latency === 0) return 1n;
  const late = BigInt(Math.max(0, latency - latencyGrace));
  return late >= creditsMax ? 1n : creditsMax - late;
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
  return [...kept, next].slice(-epochCreditsMax);
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
    const latency = latencies.get(slot) ?? Math.min(latencyMax, Number(landed.slot - slot));
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
