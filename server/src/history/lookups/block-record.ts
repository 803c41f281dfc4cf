import { type ConfirmedBlock, type JsonObject, unpackBlock } from "@sluice/encode";
import type { BlockRow } from "../../ledger/index.ts";

/** What a block's row says of it, without its transactions. */
export const blockOf = (row: BlockRow): ConfirmedBlock => unpackBlock(row.body);

/** A block with the members of the webhook events about it and its finality. */
export function blockRecord(row: BlockRow, block: ConfirmedBlock, isFinal: boolean): JsonObject {
  return {
    slot: block.slot,
    parent_slot: block.parentSlot,
    blockhash: block.blockhash,
    previous_blockhash: block.previousBlockhash,
    block_time: block.blockTime,
    block_height: block.blockHeight,
    finality: isFinal ? "finalized" : "confirmed",
    transaction_count: row.transactions,
    successful_transactions: row.transactions - row.failed,
    failed_transactions: row.failed,
    vote_transactions: row.votes,
    rewards: block.rewards.map(({ pubkey, lamports, postBalance, rewardType }) => {
      return { pubkey, lamports, post_balance: postBalance, reward_type: rewardType };
    }),
  };
}
