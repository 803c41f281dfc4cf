import type { Network } from "@sluice/contract/tiers";
import { type Clock, within } from "@sluice/lib";
import { answerText, type Upstreams } from "../upstreams/index.ts";
import { answerBytesMax, type ChainNode, callTimeoutMs, member } from "./chain-node.ts";
import type { SettledCommitment } from "./chain-reader.ts";

export interface PooledNodesOptions {
  readonly network: Network;
  readonly commitment: SettledCommitment;
  /** For one call, whatever the number of nodes that it takes; 5 s unless said otherwise. */
  readonly timeoutMs?: number;
}

/**
 * The nodes of a network under the policy of all calls: one that is out, behind, or of another chain is not asked, and
 * a read that one node fails goes to another.
 */
export function pooledNodes(
  { network, commitment, timeoutMs = callTimeoutMs }: PooledNodesOptions,
  { upstreams, clock }: { readonly upstreams: Pick<Upstreams, "pool">; readonly clock: Pick<Clock, "after"> },
): ChainNode {
  return {
    shown: `the nodes of ${network}`,
    call: async (method, params) => {
      const pool = upstreams.pool(network);
      if (pool === null) return undefined;
      const read = { method, params: JSON.stringify(params), kind: "read", minimumSlot: null } as const;
      const timed = await within(clock, timeoutMs, pool.call({ ...read, commitment, largeFrom: answerBytesMax }));
      if (!timed.ok || !timed.value.ok) return undefined;
      const text = answerText(timed.value.answer);
      return text === null ? undefined : member(JSON.parse(text), "result");
    },
  };
}
