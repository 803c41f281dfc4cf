import type { ErrorCode } from "@sluice/contract/errors";
import type { EnvelopeItem, MethodPage, Plan, Rpc } from "../rpc/index.ts";
import type { NodeAnswer } from "../upstreams/index.ts";
import type { Exchange } from "./exchange.ts";
import type { Stages } from "./stages.ts";

/** What became of one call: an answer to be passed on, or the code that stands in its place. */
export type CallResult =
  | { readonly ok: true; readonly answer: NodeAnswer; readonly hit: boolean; readonly upstreamMs: number | null }
  | RefusedCall;

export interface RefusedCall {
  readonly ok: false;
  readonly code: ErrorCode;
  readonly message: string | null;
  readonly upstream: string;
}

export const refusedCall = (code: ErrorCode, message: string | null = null, upstream = ""): RefusedCall => ({
  ok: false,
  code,
  message,
  upstream,
});

type CallStages = Pick<Stages, "rpc" | "events">;

/** A call that passed the envelope, with its method's page; null for a method that may not pass. */
export interface OpenedCall {
  readonly id: string;
  readonly method: string;
  readonly params: string | null;
  readonly page: MethodPage | null;
}

/** Looks the method up; a refused envelope is handed on as it is. */
export function openCall(rpc: Rpc, item: EnvelopeItem): OpenedCall | Extract<EnvelopeItem, { ok: false }> {
  if (!item.ok) return item;
  return { id: item.id, method: item.method, params: item.params, page: rpc.method(item.method) };
}

/**
 * Plans a call and answers it: from memory, by the gateway itself, or by a node. A promise only when a node is asked.
 * A client that says it is one of Solana's JavaScript clients leaves out the commitment when it means the node's own
 * default, so the platform's default is not put in its place (decisions: Platform).
 */
export function answerCall(stages: CallStages, exchange: Exchange, call: OpenedCall): CallResult | Promise<CallResult> {
  const { rpc } = stages;
  if (call.page === null) return refusedCall("METHOD_NOT_FOUND");
  const planned = call.page.plan(call.params);
  const isOwnDefault =
    planned.withNodeDefault !== null && exchange.request.headers.get("solana-client")?.startsWith("js/") === true;
  const plan = isOwnDefault && planned.withNodeDefault !== null ? planned.withNodeDefault : planned.plan;
  if (!plan.ok) return refusedCall(plan.code, plan.message);
  const keyId = exchange.grant?.keyId ?? "";
  const known = rpc.known(exchange.network, plan, keyId, exchange.startedMs);
  if (known !== undefined) return { ok: true, answer: known, hit: true, upstreamMs: null };
  const own = rpc.own(exchange.network, plan);
  if (own !== null) return { ok: true, answer: own, hit: false, upstreamMs: 0 };
  return askNode(stages, exchange, call.page, plan);
}

/** A fault of ours on the way to a node is this call's alone: the rest of its batch is answered, and it costs nothing. */
async function askNode(stages: CallStages, exchange: Exchange, page: MethodPage, plan: Plan): Promise<CallResult> {
  try {
    const { outcome, shared } = await stages.rpc.ask(exchange.network, page, plan, exchange.grant?.keyId ?? "");
    if (!outcome.ok) return refusedCall(outcome.refused, null, outcome.label);
    return { ok: true, answer: outcome.answer, hit: shared, upstreamMs: shared ? null : outcome.latencyMs };
  } catch (fault) {
    stages.events.internalError("rpc", fault, { requestId: exchange.requestId });
    return refusedCall("INTERNAL_ERROR");
  }
}
