import { createHash } from "node:crypto";
import type { Network } from "@sluice/contract/tiers";
import type { SharedAnswers } from "../cache/index.ts";
import { type NodeAnswer, packAnswer, unpackAnswer } from "../upstreams/index.ts";

/** Answers of history that processes share. Neither call rejects nor throws, and `find` answers within milliseconds. */
export interface SharedHistory {
  find(network: Network, key: string): Promise<NodeAnswer | null>;
  keep(network: Network, key: string, answer: NodeAnswer): void;
}

/** History in a shared store. Answers that have no packed form are not kept. */
export function createSharedHistory(answers: Pick<SharedAnswers, "find" | "keep">): SharedHistory {
  // A digest: parameters may be longer than a key of the store, and the store's keys should not show them.
  const nameOf = (network: string, key: string): string =>
    `answer:${network}:${createHash("sha256").update(key).digest("hex")}`;
  return {
    find: async (network, key) => {
      const packed = await answers.find(nameOf(network, key));
      return packed === null ? null : unpackAnswer(packed);
    },
    keep: (network, key, answer) => {
      const packed = packAnswer(answer);
      if (packed !== null) answers.keep(nameOf(network, key), packed);
    },
  };
}
