import { parseTransaction } from "@sluice/wire/transaction";
import { parseVotes } from "../encode/index.ts";
import type { Topic } from "./subscription.ts";
import { isReached } from "./topics.ts";

/** Every vote that landed, told when its block is frozen; a real node tells them as it hears of them. */
export function voteTopic(): Topic {
  return {
    notification: "voteNotification",
    key: "vote",
    *notices(event) {
      if (!isReached(event, "processed")) return;
      for (const { signature, bytes, error, isVote } of event.block.transactions) {
        const parsed = isVote && error === null ? parseTransaction(bytes) : null;
        if (parsed?.ok !== true) continue;
        const { message } = parsed.transaction;
        const vote = message.instructions[0] === undefined ? null : parseVotes(message, message.instructions[0]);
        if (vote !== null) yield { result: { ...vote, signature } };
      }
    },
  };
}
