import type { ErrorCode } from "@sluice/contract/errors";
import type { Clock } from "@sluice/lib";
import type { Access } from "../access/index.ts";
import type { RequestFact } from "../ledger/index.ts";
import type { EnvelopeItem, MethodEntry, Plan, Rpc } from "../rpc/index.ts";
import type { AnswerHeaders } from "./answer.ts";
import type { GatewayEvents } from "./events.ts";
import type { BatchCall, CallResult, OpenedCall, RefusedCall, RequestContext } from "./request-context.ts";

/** What calls are answered with; created once. */
export interface CallDependencies {
  readonly clock: Clock;
  readonly access: Access;
  readonly rpc: Rpc;
  readonly headers: AnswerHeaders;
  readonly events: GatewayEvents;
  /** Receives the fact of every answered call; must not block or throw. */
  readonly served: (fact: RequestFact) => void;
}

export const refusedCall = (code: ErrorCode, message: string | null = null, upstream = ""): RefusedCall => ({
  ok: false,
  code,
  message,
  upstream,
});

/** Looks the method up; a refused envelope is handed on as it is. */
export function openCall({ rpc }: CallDependencies, item: EnvelopeItem): BatchCall {
  if (!item.ok) return item;
  return { ok: true, id: item.id, method: item.method, params: item.params, page: rpc.method(item.method) };
}

/** Credits of a call; a refused envelope costs nothing. */
export const priceOf = (call: BatchCall): number => (call.ok ? (call.page?.credits ?? 1) : 0);

/** A name that no table knows is the caller's invention; the ledger's methods are a bounded set. */
export const recordedMethod = (call: BatchCall): string => (call.ok && call.page !== null ? call.method : "unknown");

/**
 * Plans a call and answers it: from memory, by the gateway itself, or by a node. A promise only when a node is asked.
 * A client that says it is one of Solana's JavaScript clients leaves out the commitment when it means the node's own
 * default, so the platform's default is not put in its place (decisions: Platform).
 */
export function answerCall(
  dependencies: CallDependencies,
  context: RequestContext,
  { page, params }: OpenedCall,
): CallResult | Promise<CallResult> {
  const { rpc } = dependencies;
  if (page === null) return refusedCall("METHOD_NOT_FOUND");
  const planned = page.plan(params);
  const isOwnDefault =
    planned.withNodeDefault !== null && context.request.headers.get("solana-client")?.startsWith("js/") === true;
  const plan = isOwnDefault && planned.withNodeDefault !== null ? planned.withNodeDefault : planned.plan;
  if (!plan.ok) return refusedCall(plan.code, plan.message);
  const known = rpc.known(context.network, plan, context.granted.keyId, context.startedMs);
  if (known !== undefined) return { ok: true, answer: known, hit: true, upstreamMs: null };
  const own = rpc.own(context.network, plan);
  if (own !== null) return { ok: true, answer: own, hit: false, upstreamMs: 0 };
  return askNode(dependencies, context, page, plan);
}

/**
 * An internal error on the way to a node is this call's alone: the rest of its batch is answered, and it costs nothing.
 */
async function askNode(
  { rpc, events }: CallDependencies,
  context: RequestContext,
  page: MethodEntry,
  plan: Plan,
): Promise<CallResult> {
  try {
    const { outcome, shared } = await rpc.ask(context.network, page, plan, context.granted.keyId);
    if (!outcome.ok) return refusedCall(outcome.refused, null, outcome.label);
    return { ok: true, answer: outcome.answer, hit: shared, upstreamMs: shared ? null : outcome.latencyMs };
  } catch (error) {
    events.internalError("rpc", error, { requestId: context.requestId });
    return refusedCall("INTERNAL_ERROR");
  }
}
