import { type JsonObject, parseVotes } from "@sluice/encode";
import { parseTransaction } from "@sluice/wire/transaction";
import type { ChainEvent, Topic } from "./subscription.ts";
import { isReached } from "./topics.ts";

export function slotTopic(): Topic {
  return {
    notification: "slotNotification",
    key: "slot",
    *notices(event, node) {
      if (event.kind !== "opened") return;
      yield { result: { slot: event.slot, parent: event.parent, root: node.chain.at("finalized").slot } };
    },
  };
}

export function rootTopic(): Topic {
  return {
    notification: "rootNotification",
    key: "root",
    *notices(event) {
      if (isReached(event, "finalized")) yield { result: event.bank.slot };
    },
  };
}

function frozenStats(event: ChainEvent & { readonly kind: "reached" }): JsonObject {
  const { transactions } = event.block;
  const failed = transactions.filter(({ error }) => error !== null).length;
  return {
    numTransactionEntries: transactions.length,
    numSuccessfulTransactions: transactions.length - failed,
    numFailedTransactions: failed,
    maxTransactionsPerEntry: transactions.length === 0 ? 0 : 1,
  };
}

export function slotsUpdatesTopic(): Topic {
  return {
    notification: "slotsUpdatesNotification",
    key: "slotsUpdates",
    *notices(event, node) {
      const timestamp = BigInt(Math.floor(node.now()));
      if (event.kind === "opened") {
        yield { result: { type: "firstShredReceived", slot: event.slot, timestamp } };
        yield { result: { type: "createdBank", slot: event.slot, parent: event.parent, timestamp } };
      }
      if (event.kind === "abandoned") {
        for (const slot of event.slots) yield { result: { type: "dead", slot, timestamp, err: "abandoned fork" } };
      }
      if (event.kind !== "reached") return;
      const { slot } = event.bank;
      if (event.commitment === "processed") {
        yield { result: { type: "completed", slot, timestamp } };
        yield { result: { type: "frozen", slot, timestamp, stats: frozenStats(event) } };
      } else if (event.commitment === "confirmed") {
        yield { result: { type: "optimisticConfirmation", slot, timestamp } };
      } else yield { result: { type: "root", slot, timestamp } };
    },
  };
}

/** Every vote that landed, when its block is frozen; a real node reports votes as it receives them. */
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
