import { decodeAddress } from "@sluice/wire/base58";
import { programs } from "@sluice/wire/programs";
import { encodeMessage, encodeTransaction } from "@sluice/wire/transaction";
import { ByteWriter, type GenesisKeypair } from "../../model/index.ts";
import type { Lockouts } from "./tower.ts";

const TOWER_SYNC = 14;
const NO_ROOT = 0xffff_ffff_ffff_ffffn;
const VOTE_PROGRAM = decodeAddress(programs.vote) ?? new Uint8Array(32);

export interface Vote {
  readonly lockouts: Lockouts;
  /** Of the block that is voted for: its bank hash, which on this chain is its blockhash. */
  readonly hash: Uint8Array;
  /** Unix seconds of that block. */
  readonly time: bigint;
}

/** Seven bits to the byte, least first. */
function varint(writer: ByteWriter, value: bigint): void {
  let left = value;
  for (; left > 0x7fn; left >>= 7n) writer.u8(Number(left & 0x7fn) | 0x80);
  writer.u8(Number(left));
}

/** The data of a TowerSync instruction; lockouts are written as steps from the root. Source: solana-vote-interface. */
export function towerSync(vote: Vote): Uint8Array {
  const { votes, rootSlot } = vote.lockouts;
  const writer = new ByteWriter().u32(TOWER_SYNC).u64(rootSlot ?? NO_ROOT);
  varint(writer, BigInt(votes.length));
  let from = rootSlot ?? 0n;
  for (const { slot, confirmations } of votes) {
    varint(writer, slot - from);
    writer.u8(confirmations);
    from = slot;
  }
  // The block's id is the root of its shreds, of which there are none here: its hash stands for it.
  return writer.bytes(vote.hash).u8(1).i64(vote.time).bytes(vote.hash).finish();
}

/** The wire bytes of a vote by `identity`, who pays for it and is the voter of the vote account. */
export function voteTransaction(
  identity: GenesisKeypair,
  voteAccount: Uint8Array,
  vote: Vote,
  blockhash: Uint8Array,
): Uint8Array {
  const message = encodeMessage({
    version: "legacy",
    numRequiredSignatures: 1,
    numReadonlySignedAccounts: 0,
    numReadonlyUnsignedAccounts: 1,
    staticKeys: [identity.publicKey, voteAccount, VOTE_PROGRAM],
    blockhash,
    instructions: [{ programIndex: 2, accountIndexes: [1, 0], data: towerSync(vote) }],
  });
  return encodeTransaction({ signatures: [identity.sign(message)], message });
}
