import { addressAt, ByteReader, orNull, readU16, readU32 } from "../bytes.ts";
import type { Address } from "../identifiers.ts";

/** What an indexer and a stake pool need of a vote account; the tower itself is skipped but for its last vote. */
export interface VoteAccount {
  readonly version: "1.14.11" | "3" | "4";
  readonly node: Address;
  readonly authorizedWithdrawer: Address;
  /** Of inflation rewards, in basis points; versions before 4 store whole percents. */
  readonly commissionBasisPoints: number;
  readonly rootSlot: bigint | null;
  readonly lastVotedSlot: bigint | null;
  /** By epoch, ascending; the voter of an epoch is the entry with the greatest epoch not above it. */
  readonly authorizedVoters: readonly { readonly epoch: bigint; readonly voter: Address }[];
  readonly epochCredits: readonly {
    readonly epoch: bigint;
    readonly credits: bigint;
    readonly previousCredits: bigint;
  }[];
  /** `unixTimestamp` in seconds. */
  readonly lastTimestamp: { readonly slot: bigint; readonly unixTimestamp: bigint };
}

/** Bounds on lists; the program's own are 31 votes, 64 epochs of credits and a handful of voters. */
const maxVotes = 64;
const maxVoters = 64;
const maxEpochCredits = 128;

const priorVotersSize = 32 * 48 + 9;

/**
 * Decodes a vote account of version 1.14.11, 3 or 4, owned by the vote program. Source: solana-vote-interface,
 * `VoteStateVersions` (bincode), and SIMD-0185 for version 4.
 *
 * @returns null when the bytes are no initialised vote account of these versions
 */
export function decodeVoteAccount(data: Uint8Array): VoteAccount | null {
  if (data.length < 200) return null;
  const version = versions[readU32(data, 0)] ?? null;
  return version === null ? null : orNull(() => readVoteState(data, version));
}

/** Whose a vote account is and what it keeps of rewards: all that lies at a fixed place. */
export type VoteHead = Pick<VoteAccount, "version" | "node" | "authorizedWithdrawer" | "commissionBasisPoints">;

/** Bytes from the start of a vote account that hold its head in every version. */
export const voteHeadSize = 134;

const versions = [null, "1.14.11", "3", "4"] as const;

/**
 * Decodes the first `voteHeadSize` bytes of a vote account, as nodes give them where only a slice is asked for.
 *
 * @returns null for fewer bytes, or another version than `decodeVoteAccount` reads
 */
export function decodeVoteHead(data: Uint8Array): VoteHead | null {
  if (data.length < voteHeadSize) return null;
  const version = versions[readU32(data, 0)] ?? null;
  return version === null ? null : headOf(data, version);
}

function headOf(data: Uint8Array, version: VoteAccount["version"]): VoteHead {
  return {
    version,
    node: addressAt(data, 4),
    authorizedWithdrawer: addressAt(data, 36),
    commissionBasisPoints: version === "4" ? readU16(data, 132) : (data[68] ?? 0) * 100,
  };
}

function readVoteState(data: Uint8Array, version: VoteAccount["version"]): VoteAccount {
  const reader = new ByteReader(data, version === "4" ? 144 : 69);
  if (version === "4" && reader.flag()) reader.skip(48);
  let lastVotedSlot: bigint | null = null;
  for (let left = reader.count(maxVotes); left > 0; left--) {
    if (version !== "1.14.11") reader.u8();
    lastVotedSlot = reader.u64();
    reader.u32();
  }
  const rootSlot = reader.optional(() => reader.u64());
  const authorizedVoters: { epoch: bigint; voter: Address }[] = [];
  for (let left = reader.count(maxVoters); left > 0; left--) {
    authorizedVoters.push({ epoch: reader.u64(), voter: reader.address() });
  }
  if (version !== "4") reader.skip(priorVotersSize);
  const epochCredits: { epoch: bigint; credits: bigint; previousCredits: bigint }[] = [];
  for (let left = reader.count(maxEpochCredits); left > 0; left--) {
    epochCredits.push({ epoch: reader.u64(), credits: reader.u64(), previousCredits: reader.u64() });
  }
  return {
    ...headOf(data, version),
    rootSlot,
    lastVotedSlot,
    authorizedVoters,
    epochCredits,
    lastTimestamp: { slot: reader.u64(), unixTimestamp: reader.i64() },
  };
}
