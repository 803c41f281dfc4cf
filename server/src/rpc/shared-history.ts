import { createHash } from "node:crypto";
import type { Network } from "@sluice/contract/tiers";
import type { SharedAnswers } from "../cache/index.ts";
import type { ChainRecord } from "../state/index.ts";
import { type NodeAnswer, packAnswer, unpackAnswer } from "../upstreams/index.ts";

/** Answers of history that processes share. Neither call rejects nor throws, and `find` answers within milliseconds. */
export interface SharedHistory {
  find(network: Network, key: string): Promise<NodeAnswer | null>;
  keep(network: Network, key: string, answer: NodeAnswer): void;
}

/**
 * History in a shared store. Answers that have no packed form are not kept. `chainOf` says which chain a network is:
 * what was kept of another one, as before a chain began anew, is not found. Where no node tells it, the network's name
 * has to do.
 */
export function createSharedHistory(
  answers: Pick<SharedAnswers, "find" | "keep">,
  chainOf: (network: Network) => ChainRecord | null,
): SharedHistory {
  // A digest: parameters may be longer than a key of the store, and the store's keys should not show them.
  const nameOf = (network: Network, key: string): string => {
    const { genesis = "", first = null } = chainOf(network) ?? {};
    const digest = createHash("sha256").update(JSON.stringify([genesis, first?.blockhash ?? "", key]));
    return `answer:${network}:${digest.digest("hex")}`;
  };
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
