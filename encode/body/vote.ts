import { addressBytes } from "@sluice/wire/base58";
import { programs } from "@sluice/wire/programs";
import type { Transaction } from "@sluice/wire/transaction";

let voteProgram: Uint8Array | undefined;

/**
 * Whether a node counts a transaction as a vote: legacy, fewer than three signatures, and one instruction, which is the
 * vote program's. Source: Agave's is_simple_vote_transaction.
 */
export function isVote({ message }: Pick<Transaction, "message">): boolean {
  if (message.version !== "legacy" || message.numRequiredSignatures > 2 || message.instructionCount !== 1) return false;
  const [instruction] = message.instructions;
  if (instruction === undefined) return false;
  voteProgram ??= addressBytes(programs.vote);
  const program = message.keyBytes(instruction.programIndex);
  return voteProgram.every((byte, index) => program[index] === byte);
}
