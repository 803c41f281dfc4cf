import { parseTransaction } from "@sluice/wire";
import { parseVotes } from "../encode/index.ts";
import type { Topic } from "./subscription.ts";
import { isReached } from "./topics.ts";

/** Every vote that landed, told when its block is frozen; a real node tells them as it hears of them. */
export function voteTopic(): Topic {
  return {
    notification: "voteNotification",
    key: "vote",
    *notices(event, node) {
      if (!isReached(event, "processed")) return;
      for (const { signature, bytes, error } of event.block.transactions) {
        const isVote = error === null && node.chain.history.transaction(signature)?.isVote === true;
        const parsed = isVote ? parseTransaction(bytes) : null;
        if (parsed?.ok !== true) continue;
        const { message } = parsed.transaction;
        const vote = message.instructions[0] === undefined ? null : parseVotes(message, message.instructions[0]);
        if (vote !== null) yield { result: { ...vote, signature } };
      }
    },
  };
}
