import type { ChainAccount } from "@sluice/svm";
import { encodeBase58 } from "@sluice/wire/base58";
import { ByteReader, MalformedBytes } from "@sluice/wire/bytes";
import type { JsonObject, JsonValue } from "../json.ts";

const priorVotersBytes = 32 * 48 + 8 + 1;
const blsKeyBytes = 48;
/** All block revenue goes to the node where the account does not say otherwise. */
const wholeBasisPoints = 10_000;

/** Votes: slot and confirmations, before them the latency in versions that record it. */
function votes(cursor: ByteReader, latencies: boolean): JsonValue {
  return cursor.list(cursor.u64(), latencies ? 13 : 12, () => {
    const latency = latencies ? cursor.u8() : 0;
    return { latency, slot: cursor.u64(), confirmationCount: cursor.u32() };
  });
}

/** The end that all versions share. */
function credits(cursor: ByteReader): JsonObject {
  const epochCredits = cursor.list(cursor.u64(), 24, () => ({
    epoch: cursor.u64(),
    credits: cursor.u64().toString(),
    previousCredits: cursor.u64().toString(),
  }));
  return { epochCredits, lastTimestamp: { slot: cursor.u64(), timestamp: cursor.i64() } };
}

function authorizedVoters(cursor: ByteReader): JsonValue {
  return cursor.list(cursor.u64(), 40, () => ({ epoch: cursor.u64(), authorizedVoter: cursor.address() }));
}

/** Versions before the fourth have one commission, in percent, and pay it to the vote account itself. */
function older(address: string, cursor: ByteReader, latencies: boolean): JsonObject {
  const nodePubkey = cursor.address();
  const authorizedWithdrawer = cursor.address();
  const commission = cursor.u8();
  const tower = { votes: votes(cursor, latencies), rootSlot: cursor.optional(() => cursor.u64()) };
  const voters = authorizedVoters(cursor);
  cursor.bytes(priorVotersBytes);
  return {
    nodePubkey,
    authorizedWithdrawer,
    commission,
    ...tower,
    authorizedVoters: voters,
    priorVoters: [],
    ...credits(cursor),
    inflationRewardsCommissionBps: commission * 100,
    inflationRewardsCollector: address,
    blockRevenueCollector: nodePubkey,
    blockRevenueCommissionBps: wholeBasisPoints,
    pendingDelegatorRewards: "0",
    blsPubkeyCompressed: null,
  };
}

function fourth(cursor: ByteReader): JsonObject {
  const nodePubkey = cursor.address();
  const authorizedWithdrawer = cursor.address();
  const inflationRewardsCollector = cursor.address();
  const blockRevenueCollector = cursor.address();
  const inflationRewardsCommissionBps = cursor.u16();
  const blockRevenueCommissionBps = cursor.u16();
  const pendingDelegatorRewards = cursor.u64().toString();
  const blsPubkeyCompressed = cursor.optional(() => encodeBase58(cursor.bytes(blsKeyBytes)));
  const tower = { votes: votes(cursor, true), rootSlot: cursor.optional(() => cursor.u64()) };
  const voters = authorizedVoters(cursor);
  return {
    nodePubkey,
    authorizedWithdrawer,
    commission: Math.floor(inflationRewardsCommissionBps / 100) & 0xff,
    ...tower,
    authorizedVoters: voters,
    priorVoters: [],
    ...credits(cursor),
    inflationRewardsCommissionBps,
    inflationRewardsCollector,
    blockRevenueCollector,
    blockRevenueCommissionBps,
    pendingDelegatorRewards,
    blsPubkeyCompressed,
  };
}

/**
 * Presents a vote account of any version but the first (obsolete before the clusters that are kept) in the members of
 * the fourth, which the node converts them to; it has no prior voters.
 */
export function parseVoteAccount(address: string, account: ChainAccount): JsonObject {
  const cursor = new ByteReader(account.data);
  switch (cursor.u32()) {
    case 1:
      return { type: "vote", info: older(address, cursor, false) };
    case 2:
      return { type: "vote", info: older(address, cursor, true) };
    case 3:
      return { type: "vote", info: fourth(cursor) };
    default:
      throw new MalformedBytes("The vote state's version is unknown.");
  }
}
