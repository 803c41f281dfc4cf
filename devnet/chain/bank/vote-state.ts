import { programs } from "@sluice/wire";
import type { ChainAccount } from "../model.ts";
import { ByteWriter } from "./bytes.ts";
import { rentExemptLamports } from "./sysvars.ts";

const NEVER = 0xffff_ffff_ffff_ffffn;
const VOTE_ACCOUNT_BYTES = 3_762;
const STAKE_ACCOUNT_BYTES = 200;
const VERSION_V3 = 2;
const LOCKOUTS_MAX = 31;
const PRIOR_VOTERS_BYTES = 1_545;

/** Credits for one vote that lands in the next slot. Source: SIMD-0033, timely vote credits. */
export const CREDITS_PER_SLOT = 16n;

export interface EpochCredits {
  readonly epoch: bigint;
  readonly credits: bigint;
  readonly previousCredits: bigint;
}

export interface Validator {
  readonly identity: string;
  readonly identityBytes: Uint8Array;
  readonly vote: string;
  readonly voteBytes: Uint8Array;
  readonly stake: string;
  readonly stakeLamports: bigint;
  /** Percent. */
  readonly commission: number;
}

export interface VoteStanding {
  readonly lastVote: bigint;
  readonly rootSlot: bigint | null;
  readonly epoch: bigint;
  /** Oldest first, at most 64. */
  readonly epochCredits: readonly EpochCredits[];
  /** Unix seconds. */
  readonly timestamp: bigint;
}

/** A vote account (layout V3) that has voted for each of the last 31 slots. Source: solana-vote-interface, VoteStateV3. */
export function voteAccount(validator: Validator, standing: VoteStanding, lamports: bigint): ChainAccount {
  const writer = new ByteWriter()
    .u32(VERSION_V3)
    .bytes(validator.identityBytes)
    .bytes(validator.identityBytes)
    .u8(validator.commission);
  const oldest = standing.lastVote >= BigInt(LOCKOUTS_MAX) ? standing.lastVote - BigInt(LOCKOUTS_MAX) + 1n : 0n;
  const votes: bigint[] = [];
  for (let slot = oldest; slot <= standing.lastVote; slot += 1n) votes.push(slot);
  writer.u64(BigInt(votes.length));
  votes.forEach((slot, position) => {
    writer
      .u8(1)
      .u64(slot)
      .u32(votes.length - position);
  });
  if (standing.rootSlot === null) writer.u8(0);
  else writer.u8(1).u64(standing.rootSlot);
  writer.u64(1n).u64(standing.epoch).bytes(validator.identityBytes);
  writer
    .bytes(new Uint8Array(PRIOR_VOTERS_BYTES - 9))
    .u64(31n)
    .u8(1);
  writer.u64(BigInt(standing.epochCredits.length));
  for (const entry of standing.epochCredits) writer.u64(entry.epoch).u64(entry.credits).u64(entry.previousCredits);
  writer.u64(standing.lastVote).i64(standing.timestamp);
  return {
    lamports,
    data: writer.finish(VOTE_ACCOUNT_BYTES),
    owner: programs.vote,
    executable: false,
    rentEpoch: NEVER,
  };
}

export function voteAccountRent(): bigint {
  return rentExemptLamports(VOTE_ACCOUNT_BYTES);
}

/** A stake account whose delegation was active from the chain's first epoch on. Source: solana-stake-interface. */
export function stakeAccount(validator: Validator): ChainAccount {
  const rent = rentExemptLamports(STAKE_ACCOUNT_BYTES);
  const data = new ByteWriter()
    .u32(2)
    .u64(rent)
    .bytes(validator.identityBytes)
    .bytes(validator.identityBytes)
    .i64(0n)
    .u64(0n)
    .bytes(new Uint8Array(32))
    .bytes(validator.voteBytes)
    .u64(validator.stakeLamports)
    .u64(NEVER)
    .u64(NEVER)
    .f64(0.25)
    .u64(0n)
    .u8(0)
    .finish(STAKE_ACCOUNT_BYTES);
  return { lamports: validator.stakeLamports + rent, data, owner: programs.stake, executable: false, rentEpoch: NEVER };
}
