import { type ChainValue, memberOf, parseChainJson } from "./integers.ts";

/** Where a node answers JSON-RPC over HTTP, with the headers that its operator asked for. */
export interface NodeEndpoint {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The result of a call; `refused` is an error of the node, `unreachable` everything else. */
export type NodeCallOutcome =
  | { readonly ok: true; readonly result: ChainValue }
  | { readonly ok: false; readonly reason: "refused" | "unreachable" };

/** Answers to the gateway's own questions are small; a node that sends more is not believed. */
const ownAnswerBytesMax = 256 * 1024;

/**
 * One small call of the gateway's own (a poll, a probe) to one node, with a deadline for the whole exchange. `params`
 * is JSON text. Never throws: an error answer is `refused`, everything else that is no result is `unreachable`.
 */
export async function callNode(
  endpoint: NodeEndpoint,
  call: { readonly method: string; readonly params: string; readonly timeoutMs: number },
): Promise<NodeCallOutcome> {
  try {
    const response = await fetch(endpoint.url, {
      method: "POST",
      headers: { ...endpoint.headers, "content-type": "application/json" },
      body: `{"jsonrpc":"2.0","id":"sluice","method":${JSON.stringify(call.method)},"params":${call.params}}`,
      redirect: "error",
      signal: AbortSignal.timeout(call.timeoutMs),
    });
    const text = await response.text();
    if (text.length > ownAnswerBytesMax) return { ok: false, reason: "unreachable" };
    const answer = parseChainJson(text);
    const result = memberOf(answer, "result");
    if (result !== undefined) return { ok: true, result };
    return { ok: false, reason: memberOf(answer, "error") === undefined ? "unreachable" : "refused" };
  } catch {
    return { ok: false, reason: "unreachable" };
  }
}
