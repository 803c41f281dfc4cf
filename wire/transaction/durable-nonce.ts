import { readU32 } from "../bytes.ts";
import { programs } from "../programs.ts";
import type { Message } from "./message.ts";

const advanceNonceTag = 4;

/**
 * The index of the account whose nonce a transaction carries in place of a blockhash, where it begins as durable ones
 * do; null where it does not. The runtime advances that nonce whether the transaction succeeds or fails. What a message
 * says alone does not tell a nonce from a blockhash that is still young: then nothing is advanced by a failure.
 *
 * Source: solana-svm-transaction, `get_durable_nonce`: the first instruction is the System program's
 * AdvanceNonceAccount, and its first account is a static key that the message may write.
 */
export function durableNonceIndex(message: Message): number | null {
  const first = message.instructions[0];
  const index = first?.accountIndexes[0];
  if (first === undefined || index === undefined || index >= message.staticKeyCount) return null;
  if (first.data.length < 4 || readU32(first.data, 0) !== advanceNonceTag) return null;
  if (first.programIndex >= message.staticKeyCount || message.address(first.programIndex) !== programs.system)
    return null;
  return message.isWritable(index) ? index : null;
}
