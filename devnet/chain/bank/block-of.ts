import type { RecordedTransaction } from "../history/index.ts";
import type { BankSlot, Block } from "../model/index.ts";

/** The block of a frozen slot. */
export function blockOf(
  bank: BankSlot,
  previousBlockhash: string,
  recorded: readonly RecordedTransaction[],
  rewards: Block["rewards"],
): Block {
  return {
    slot: bank.slot,
    parentSlot: bank.parent,
    blockhash: bank.blockhash,
    previousBlockhash,
    blockTime: bank.time,
    blockHeight: bank.blockHeight,
    transactions: recorded.map(({ executed }) => executed),
    rewards,
  };
}
