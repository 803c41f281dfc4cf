import {
  type ConfirmedBlock,
  encodeTransactionError,
  instructionName,
  isVote,
  type JsonObject,
  type TransactionMeta,
} from "@sluice/encode";
import { movementsOf, TransactionView } from "@sluice/parser";
import { encodeBase58 } from "@sluice/wire/base58";

/** The data of a transaction as a plain object, built member by member from the specification's table. */
export function referenceTransaction(block: ConfirmedBlock, index: number): JsonObject {
  const transaction = block.transactions[index];
  if (transaction === undefined) throw new RangeError(`no transaction ${index}`);
  const view = new TransactionView(transaction);
  const { meta, keys, calls } = view;
  const error = meta === null ? null : meta.error;
  return {
    signature: transaction.signature,
    slot: block.slot,
    block_time: block.blockTime,
    fee: meta === null ? null : meta.fee,
    success: error === null,
    error: error === null ? null : referenceError(error),
    accounts: keys,
    program_ids: [...new Set(calls.map(({ programId }) => programId))],
    instructions: calls.map(({ programId, accounts, data }) => {
      const named = Array.from(accounts, (place) => keys[place] ?? "");
      const instruction = instructionName({ programId, accounts: named, data });
      return { program_id: programId, instruction, accounts: named, data: encodeBase58(data) };
    }),
    token_transfers: movementsOf(view).tokens.map((moved) => ({
      from: moved.fromOwner ?? moved.fromAccount,
      to: moved.toOwner ?? moved.toAccount,
      mint: moved.mint,
      amount: String(moved.amount),
      decimals: moved.decimals,
    })),
    log_messages: meta === null ? null : meta.logs,
  };
}

function referenceError(error: NonNullable<TransactionMeta["error"]>): JsonObject {
  if (typeof error === "string") return { type: error, index: null, message: encodeTransactionError(error) };
  const [type = ""] = Object.keys(error);
  const failed = error["InstructionError"];
  const index = Array.isArray(failed) ? failed[0] : null;
  return { type, index, message: encodeTransactionError(error) };
}

/** The data of a block, likewise. */
export function referenceBlock(block: ConfirmedBlock): JsonObject {
  const views = block.transactions.map((transaction) => new TransactionView(transaction));
  const failed = views.filter(({ meta }) => meta !== null && meta.error !== null).length;
  return {
    slot: block.slot,
    parent_slot: block.parentSlot,
    blockhash: block.blockhash,
    previous_blockhash: block.previousBlockhash,
    block_time: block.blockTime,
    block_height: block.blockHeight,
    transaction_count: views.length,
    successful_transactions: views.length - failed,
    failed_transactions: failed,
    vote_transactions: views.filter(({ parsed }) => isVote(parsed)).length,
    rewards: block.rewards.map(({ pubkey, lamports, postBalance, rewardType }) => ({
      pubkey,
      lamports,
      post_balance: postBalance,
      reward_type: rewardType,
    })),
  };
}
