import type { JsonObject, JsonValue } from "./json.ts";
import { rewardJson } from "./meta.ts";
import type { ConfirmedBlock } from "./model.ts";
import { encodeTransaction, type TransactionEncodingName } from "./transaction.ts";

export interface BlockOptions {
  readonly encoding: TransactionEncodingName;
  readonly transactionDetails: "full" | "accounts" | "signatures" | "none";
  readonly rewards: boolean;
  readonly maxSupportedTransactionVersion?: number | undefined;
}

/** `version` in a fault is that of the first transaction that the caller does not support: the node answers -32015. */
export type EncodedBlock =
  | { readonly ok: true; readonly value: JsonObject }
  | { readonly ok: false; readonly version: number };

/**
 * Presents a block as getBlock and blockSubscribe do: `transactions` in detail full and accounts, `signatures` in
 * detail signatures, `rewards` when asked for. Source: Solana JSON-RPC, block and transaction shapes.
 */
export function encodeBlock(block: ConfirmedBlock, options: BlockOptions): EncodedBlock {
  const details = options.transactionDetails;
  let content: JsonObject = {};
  if (details === "signatures") {
    content = { signatures: block.transactions.map(({ signature }) => signature) };
  } else if (details !== "none") {
    const transactions: JsonValue[] = [];
    for (const transaction of block.transactions) {
      const encoded = encodeTransaction(transaction, {
        encoding: options.encoding,
        transactionDetails: details,
        maxSupportedTransactionVersion: options.maxSupportedTransactionVersion,
        showRewards: options.rewards,
      });
      if (!encoded.ok) return encoded;
      transactions.push(encoded.value);
    }
    content = { transactions };
  }
  const value = {
    previousBlockhash: block.previousBlockhash,
    blockhash: block.blockhash,
    parentSlot: block.parentSlot,
    ...content,
    ...(options.rewards && { rewards: block.rewards.map(rewardJson) }),
    ...(options.rewards && block.rewardPartitions !== undefined && { numRewardPartitions: block.rewardPartitions }),
    blockTime: block.blockTime,
    blockHeight: block.blockHeight,
  };
  return { ok: true, value };
}
