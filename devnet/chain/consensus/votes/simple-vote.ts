import { programs } from "@sluice/wire/programs";
import type { Message } from "@sluice/wire/transaction";

/**
 * Whether a transaction counts as a vote: a legacy message with one instruction, to the vote program, and at most two
 * signatures. `keys` are the transaction's, by the indexes that instructions use. Source: agave, is_simple_vote_transaction.
 */
export function isSimpleVote(message: Message, keys: readonly string[]): boolean {
  if (message.version !== "legacy" || message.numRequiredSignatures > 2 || message.instructions.length !== 1) {
    return false;
  }
  const program = message.instructions[0]?.programIndex;
  return program !== undefined && keys[program] === programs.vote;
}
