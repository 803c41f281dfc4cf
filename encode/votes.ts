import { MalformedBytes } from "@sluice/wire/bytes";
import type { Instruction, Message } from "@sluice/wire/transaction";
import { parseVoteInstruction } from "./instructions/vote.ts";
import type { JsonObject, JsonValue } from "./json.ts";

/** Members under which an instruction that votes keeps its vote. */
const votes = ["towerSync", "voteStateUpdate", "vote"] as const;

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The slots that a vote names; those of a tower stand in its lockouts. */
function slotsOf(vote: JsonObject): JsonValue[] {
  const { slots, lockouts } = vote;
  if (Array.isArray(slots)) return [...slots];
  return Array.isArray(lockouts)
    ? lockouts.flatMap((lockout) => (isObject(lockout) ? (lockout["slot"] ?? []) : []))
    : [];
}

/**
 * The notification of voteSubscribe for an instruction of the vote program, without the signature; null when it is not
 * a vote.
 */
export function parseVotes(message: Message, instruction: Instruction): JsonObject | null {
  const accounts = Array.from(instruction.accountIndexes, (index) => message.address(index));
  const programId = message.address(instruction.programIndex);
  try {
    const parsed = parseVoteInstruction({ programId, accounts, data: instruction.data });
    if (typeof parsed === "string" || parsed.info === undefined) return null;
    const { info } = parsed;
    const vote = votes.map((name) => info[name]).find(isObject);
    const votePubkey = info["voteAccount"];
    if (vote === undefined || typeof votePubkey !== "string") return null;
    return { votePubkey, slots: slotsOf(vote), hash: vote["hash"] ?? null, timestamp: vote["timestamp"] ?? null };
  } catch (error) {
    if (error instanceof MalformedBytes) return null;
    throw error;
  }
}
