import { type ErrorCode, errorTable } from "@sluice/contract/errors";
import type { Clock } from "@sluice/lib";
import { type Access, methodRefusalText } from "../access/index.ts";
import type { RequestFact } from "../ledger/index.ts";
import { type EnvelopeItem, type MethodEntry, type Plan, type Rpc, unknownMethod } from "../rpc/index.ts";
import type { FailedCall } from "../upstreams/index.ts";
import type { AnswerHeaders } from "./answer.ts";
import type { GatewayEvents } from "./events.ts";
import type {
  BatchCall,
  CallResult,
  ForbiddenCall,
  OpenedCall,
  RefusedCall,
  RequestContext,
} from "./request-context.ts";

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

/** The outcome of a call that no node answered. */
function refusedBy({ refused, message, label, retryAfterMs }: FailedCall): RefusedCall {
  const call = refusedCall(refused, message ?? null, label);
  return retryAfterMs === undefined ? call : { ...call, retryAfterSeconds: retryAfterMs / 1_000 };
}

/** Looks the method up; a refused envelope is handed on as it is. */
export function openCall({ rpc }: CallDependencies, item: EnvelopeItem): BatchCall {
  if (!item.ok) return item;
  const { id, method, params } = item;
  const page = rpc.method(method);
  return { ok: true, id, method, params, page, price: page?.price(params) ?? 1 };
}

/** The call, or the refusal of a call that the context's key may not make. */
export function permitted<Call extends BatchCall>(
  { access }: CallDependencies,
  { granted }: RequestContext,
  call: Call,
): Call | ForbiddenCall {
  if (!call.ok) return call;
  const refusal = access.permitMethod(granted, call.method);
  if (refusal === null) return withoutEnhanced(granted, call) ?? call;
  const { id, method } = call;
  const message = methodRefusalText(refusal, method);
  return { ok: false, id, code: refusal.code, message, recorded: recordedMethod(call) };
}

/** The refusal of a call of the enhanced API, where the key may not use that. */
function withoutEnhanced({ enhanced }: RequestContext["granted"], call: OpenedCall): ForbiddenCall | null {
  if (!isEnhanced(call) || enhanced.isAllowed) return null;
  const code = "ENHANCED_API_DISABLED";
  return { ok: false, id: call.id, code, message: errorTable[code].text, recorded: recordedMethod(call) };
}

/** Whether a call is one of the enhanced API, which has access and a rate of its own. */
const isEnhanced = ({ page }: OpenedCall): boolean => page?.spec?.route === "assets";

/** The buckets that a call takes a token from beside the ordinary one; null for most. */
export function ownBuckets(
  { granted }: RequestContext,
  call: OpenedCall,
): RequestContext["granted"]["buckets"]["requests"] | null {
  if (call.page?.isSend === true) return granted.buckets.send;
  return isEnhanced(call) ? granted.enhanced.buckets : null;
}

/** Credits of a call; a refused envelope costs nothing. */
export const priceOf = (call: BatchCall): number => (call.ok ? call.price : 0);

/** The method as facts have it: one of a bounded set, whatever names callers invent. */
export function recordedMethod(call: BatchCall): string {
  if (call.ok) return call.page?.recordedName ?? unknownMethod;
  return "recorded" in call ? call.recorded : unknownMethod;
}

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
    if (page.spec?.route === "assets") return await answerAssets(rpc, context, { page, plan });
    const indexing = rpc.indexed(context.network, page, { plan, tier: context.granted.tier });
    const indexed = indexing === null ? null : await indexing;
    if (indexed !== null) {
      return indexed.ok
        ? { ok: true, answer: indexed.answer, hit: false, upstreamMs: null }
        : refusedCall(indexed.code, indexed.message);
    }
    const { outcome, shared } = await rpc.ask(context.network, page, plan, context.granted.keyId);
    if (!outcome.ok) return refusedBy(outcome);
    return { ok: true, answer: outcome.answer, hit: shared, upstreamMs: shared ? null : outcome.latencyMs };
  } catch (error) {
    events.internalError("rpc", error, { requestId: context.requestId });
    return refusedCall("INTERNAL_ERROR");
  }
}

async function answerAssets(
  rpc: Rpc,
  { network, granted, startedMs }: RequestContext,
  { page: { name: method }, plan: { params } }: { readonly page: MethodEntry; readonly plan: Plan },
): Promise<CallResult> {
  const answered = await rpc.assets({ network, method, params, keyId: granted.keyId, nowMs: startedMs });
  if (answered === null) return refusedCall("METHOD_NOT_FOUND");
  return answered.ok
    ? { ok: true, answer: answered.answer, hit: false, upstreamMs: null }
    : refusedCall(answered.code, answered.message);
}
