import type { NodeAnswer, UpstreamHealth } from "../upstreams/index.ts";

/**
 * getHealth from the gateway's own view (decisions: Platform): `ok` while a node that may be called is near the newest
 * believed slot, else Solana's -32005 with how far behind the best of them is. The answer has the form of a node's,
 * with our name for it.
 */
export function healthAnswer(nodes: readonly UpstreamHealth[]): NodeAnswer {
  if (nodes.some((node) => node.healthy)) return ownAnswer('{"jsonrpc":"2.0","result":"ok","id":', null);
  let least: bigint | null = null;
  for (const { slotLag, speaks, mayServe } of nodes) {
    const isBehind = mayServe && speaks && slotLag !== null && slotLag > 0n;
    if (isBehind && (least === null || slotLag < least)) least = slotLag;
  }
  const behind = least === null ? "null" : least.toString();
  const message = behind === "null" ? "Node is unhealthy" : `Node is behind by ${behind} slots`;
  return ownAnswer(
    `{"jsonrpc":"2.0","error":{"code":-32005,"message":"${message}","data":{"numSlotsBehind":${behind}}},"id":`,
    -32005,
  );
}

function ownAnswer(head: string, errorCode: number | null): NodeAnswer {
  return {
    label: "gateway",
    body: { kind: "text", head, tail: "}" },
    sizeBytes: head.length + 1,
    errorCode,
    isNull: false,
    contextSlot: null,
    number: null,
  };
}
