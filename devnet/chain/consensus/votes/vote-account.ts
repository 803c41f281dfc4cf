import { decodeAddress } from "@sluice/wire/base58";
import { type Address, addressOfBytes } from "@sluice/wire/identifiers";
import { programs } from "@sluice/wire/programs";
import { ByteWriter, type ChainAccount, ownedAccount } from "../../model/index.ts";

const VERSION_V4 = 3;
const VOTE_ACCOUNT_BYTES = 3_762;
const BLS_TAG = 144;
const BLS_KEY_BYTES = 48;
const WHOLE_BPS = 10_000;
/** The program keeps 31 votes, 64 epochs of credits and a handful of voters. */
const LIST_MAX = 64;

export interface LandedVote {
  /** Slots between the one voted for and the one in which the vote landed. */
  readonly latency: number;
  readonly slot: bigint;
  readonly confirmations: number;
}

export interface EpochCredits {
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

export interface VoteAccountKeys {
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
  return data[BLS_TAG] === 1 ? BLS_TAG + 1 + BLS_KEY_BYTES : BLS_TAG + 1;
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
  if (account.owner !== programs.vote || data.length < VOTE_ACCOUNT_BYTES) return null;
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  if (view.getUint32(0, true) !== VERSION_V4) return null;
  let at = towerStart(data);
  const u64 = () => {
    at += 8;
    return view.getBigUint64(at - 8, true);
  };
  const list = <T>(read: () => T): T[] => {
    const count = u64();
    return Array.from({ length: count > LIST_MAX ? 0 : Number(count) }, read);
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
    .u32(VERSION_V4)
    .bytes(bytesOf(keys.identity))
    .bytes(bytesOf(keys.withdrawer))
    .bytes(bytesOf(keys.vote))
    .bytes(bytesOf(keys.identity))
    .u16(keys.commissionBps)
    .u16(WHOLE_BPS)
    .u64(0n)
    .u8(0)
    .finish(VOTE_ACCOUNT_BYTES);
  return withTower(ownedAccount(programs.vote, data), {
    votes: [],
    rootSlot: null,
    voters: [{ epoch: 0n, voter: keys.identity }],
    epochCredits: [],
    timestamp: { slot: 0n, unixTimestamp: 0n },
  });
}
