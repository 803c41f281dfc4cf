import type { CommitmentName } from "@sluice/contract/rpc";
import type { Network } from "@sluice/contract/tiers";
import type { Slot } from "@sluice/wire/identifiers";
import { type JsonValue, stringifyJsonExact } from "@sluice/wire/json";
import { memberOf, parseChainJson } from "../../chain/index.ts";
import { answerText, discard, type SlotNotices, type UpstreamCall, type Upstreams } from "../../upstreams/index.ts";
import { type EngineChain, EngineChainError } from "../model/chain-port.ts";

/** The engine's calls to the nodes of one network, under the policy of all calls. */
export function upstreamChain(network: Network, upstreams: Upstreams, notices: SlotNotices): EngineChain {
  const call = async (requested: Omit<UpstreamCall, "params"> & { readonly params: readonly JsonValue[] }) => {
    const pool = upstreams.pool(network);
    if (pool === null) throw new EngineChainError("the network has no node", null);
    const outcome = await pool.call({ ...requested, params: stringifyJsonExact(requested.params) });
    if (!outcome.ok) throw new EngineChainError(`no node answered: ${outcome.refused}`, null);
    return outcome.answer;
  };
  return {
    read: async (method, params, options = {}) => {
      const { commitment = "confirmed", minimumSlot = null, archive = false } = options;
      const kind = archive ? "archive" : "read";
      const answer = await call({ method, params, kind, commitment, minimumSlot });
      const text = answerText(answer);
      if (text === null) throw new EngineChainError("the answer is too large", null);
      const body = parseChainJson(text);
      const result = memberOf(body, "result");
      if (result !== undefined) return result;
      const message = memberOf(memberOf(body, "error"), "message");
      throw new EngineChainError(typeof message === "string" ? message : "the node refused", answer.errorCode);
    },
    send: async (transaction) => {
      const params = [
        Buffer.from(transaction).toString("base64"),
        { encoding: "base64", skipPreflight: true, maxRetries: 0 },
      ];
      try {
        const answer = await call({
          method: "sendTransaction",
          params,
          kind: "send",
          commitment: "processed",
          minimumSlot: null,
        });
        discard(answer);
        return answer.errorCode === null;
      } catch (error) {
        if (error instanceof EngineChainError) return false;
        throw error;
      }
    },
    onSlot: (listener) =>
      notices.subscribe((of, commitment, slot) => {
        if (of === network) listener(commitment, slot as Slot);
      }),
    newestSlot: (commitment: CommitmentName) =>
      (upstreams.pool(network)?.slotOf(commitment) as Slot | undefined) ?? null,
    genesis: () => upstreams.pool(network)?.chain?.genesis ?? null,
  };
}
