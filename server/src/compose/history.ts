import { createHash } from "node:crypto";
import { createCacheEvents, SharedAnswers } from "../cache/index.ts";
import type { Config } from "../config/index.ts";
import type { SharedHistory } from "../rpc/index.ts";
import { packAnswer, unpackAnswer } from "../upstreams/index.ts";
import type { Dependencies } from "./dependencies.ts";
import type { Stores } from "./stores.ts";

interface Needs extends Dependencies {
  readonly stores: Stores;
}

/**
 * History that processes share through Redis; null where there is none to share with. A development chain begins anew
 * at each start, and what an earlier one answered would be wrong, so it shares nothing.
 */
export function wireHistory(config: Config, dependencies: Needs): SharedHistory | null {
  const { clock, stores } = dependencies;
  if (stores.hot.driver === "memory" || config.mode === "dev") return null;
  const answers = new SharedAnswers({}, { clock, store: stores.hot, events: createCacheEvents(dependencies) });
  // A digest, since parameters may be longer than a key of the store, and need not be read by whoever sees its keys.
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
