import { errorTable } from "@sluice/contract/errors";
import { limits } from "@sluice/contract/limits";
import { invariant } from "@sluice/lib";
import { hasSingleHost, isJsonContentType, pathOf, presentedKey } from "../http/index.ts";
import type { Grant, KeyRefusal } from "../keys/index.ts";
import type { LimitDecision } from "../limits/index.ts";
import { CutBody, type ReadableBody, type StreamEnding } from "../net/index.ts";
import { readEnvelope } from "../rpc/index.ts";
import { type Answer, factOf, failureAnswer, rpcCodeOf, spliced, splicedBytes } from "./answer.ts";
import { answerBatch, finishBatch } from "./batch.ts";
import type { BodyReads } from "./body-reads.ts";
import { answerCall, type CallDependencies, openCall, priceOf, recordedMethod } from "./calls.ts";
import { type Answered, respond, respondLarge } from "./compression.ts";
import type { Overload } from "./overload.ts";
import type { CallResult, Failure, OpenedCall, RequestContext, RequestHead } from "./request-context.ts";

export interface StageDependencies extends CallDependencies {
  readonly requestId: () => string;
  readonly bodies: BodyReads;
  readonly overload: Pick<Overload, "admits">;
}

/** A request whose body can be read. */
export type Context = RequestContext<RequestHead & ReadableBody>;

/** An answer ends the request; undefined hands it on to the next stage. */
export type Step = Answer | undefined;

/**
 * One stage: what it asks, and what follows from the answer. `ask` returns a promise only when it has to wait; the
 * pipeline then waits for it before `settle`, and calls `settle` at once otherwise.
 */
export interface Stage<T = unknown> {
  ask(dependencies: StageDependencies, context: Context): T | Promise<T>;
  settle(dependencies: StageDependencies, context: Context, outcome: T): Step;
}

/** A stage of which the question is the whole. */
const check = (ask: (dependencies: StageDependencies, context: Context) => Step | Promise<Step>): Stage<Step> => ({
  ask,
  settle: (_dependencies, _context, step) => step,
});

/** A request whose account is not known: it is counted, and there is no fact of it. */
function turnAway({ events }: Pick<CallDependencies, "events">, context: RequestContext, failure: Failure): Answer {
  events.requestRefused("rpc", failure.code);
  return failureAnswer(context, failure);
}

/** The answer and the fact of a request that is refused after its key was accepted; it costs no credits. */
function refuse(
  dependencies: CallDependencies,
  context: RequestContext,
  failure: Failure & { readonly method?: string },
): Answer {
  const retryAfterSeconds = context.decision?.retryAfterSeconds ?? 0;
  const answer = failureAnswer(
    context,
    retryAfterSeconds > 0 ? { ...failure, details: { retryAfterSeconds } } : failure,
  );
  dependencies.served(
    factOf(context, {
      method: failure.method ?? "",
      status: answer.status,
      rpcCode: rpcCodeOf(failure.code),
      latencyMs: dependencies.clock.monotonic() - context.startedMs,
      bytesIn: context.bytesIn,
      bytesOut: 0,
      credits: 0,
      cache: "",
      upstream: failure.upstream ?? "",
    }),
  );
  return answer;
}

export const shed = check((dependencies, context) =>
  dependencies.overload.admits(context.startedMs) ? undefined : turnAway(dependencies, context, { code: "OVERLOADED" }),
);

/** What the head says before anything is read: host, method, type and declared length, in this order. */
function headFailure({ method, headers }: RequestHead): Failure | null {
  if (!hasSingleHost(headers)) {
    return { code: "INVALID_REQUEST", message: "The request must carry exactly one Host header" };
  }
  if (method !== "POST") return { code: "METHOD_NOT_ALLOWED", details: { allow: ["POST", "OPTIONS"] } };
  if (!isJsonContentType(headers.get("content-type"))) return { code: "UNSUPPORTED_MEDIA_TYPE" };
  const declared = headers.get("content-length");
  if (declared !== null && Number(declared) > limits.rpcBodyBytes) return { code: "BODY_TOO_LARGE" };
  return null;
}

export const admit = check((dependencies, context) => {
  const failure = headFailure(context.request);
  return failure === null ? undefined : turnAway(dependencies, context, failure);
});

export const identify: Stage<Grant | KeyRefusal> = {
  ask: ({ access }, { request }) => access.identify(presentedKey(request.headers, request.target)),
  settle: (dependencies, context, outcome) => {
    if (!outcome.ok) return turnAway(dependencies, context, { code: outcome.code });
    context.grant = outcome;
    return undefined;
  },
};

export const place = check((dependencies, context) => {
  if (context.chooseNetwork(pathOf(context.request.target))) return undefined;
  return refuse(dependencies, context, { code: "INVALID_REQUEST", message: "There is no network of that name" });
});

export const restrict = check((dependencies, context) => {
  const refusal = dependencies.access.restrict(context.granted, context);
  return refusal === null ? undefined : refuse(dependencies, context, { code: refusal.code });
});

export const read: Stage<string | Failure> = {
  ask: ({ bodies }, { request, startedMs }) => bodies.read(request, startedMs),
  settle: (_dependencies, context, body) => {
    if (typeof body !== "string") context.malformed = unreadable(context, body);
    else {
      context.body = body;
      context.bytesIn = body.length;
    }
    return undefined;
  },
};

/** A compressed body is not JSON to the gateway; the message says so instead of naming a parse error. */
function unreadable({ request }: RequestContext, failure: Failure): Failure {
  const encoding = request.headers.get("content-encoding");
  if (failure.code !== "PARSE_ERROR" || encoding === null || encoding.toLowerCase() === "identity") return failure;
  return {
    code: "UNSUPPORTED_MEDIA_TYPE",
    message: "The body must not be compressed: no Content-Encoding is understood",
  };
}

export const open = check((dependencies, context) => {
  if (context.malformed !== null) return undefined;
  const envelope = readEnvelope(context.body, limits.rpcBatchItems);
  if (envelope.kind === "refused") {
    const { code, message } = envelope;
    context.malformed = unreadable(context, message === null ? { code } : { code, message });
    return undefined;
  }
  if (envelope.kind === "single") context.id = envelope.item.id;
  if (!dependencies.rpc.hasNodes(context.network)) {
    context.malformed = { code: "NETWORK_UNAVAILABLE" };
    return undefined;
  }
  if (envelope.kind === "batch") {
    context.batch = envelope.items.map((item) => openCall(dependencies, item));
    return undefined;
  }
  const call = openCall(dependencies, envelope.item);
  if (call.ok) context.call = call;
  else context.malformed = { code: call.code, message: call.message ?? errorTable[call.code].text };
  return undefined;
});

/** A token for each call. A malformed body takes one as well, or garbage would be free of the rate limit. */
export const meter: Stage<LimitDecision> = {
  ask: ({ access }, context) => access.meter(context.granted.buckets.requests, context.batch?.length ?? 1),
  settle: (dependencies, context, decision) => {
    context.decision = decision;
    if (!decision.allowed) return refuse(dependencies, context, rateLimited(context, decision));
    return context.malformed === null ? undefined : refuse(dependencies, context, context.malformed);
  },
};

/** Waiting does not help a batch that asks for more than its bucket ever holds; the message says how many would pass. */
function rateLimited({ batch }: RequestContext, { burst }: LimitDecision): Failure {
  if (batch === null || batch.length <= burst) return { code: "RATE_LIMIT_EXCEEDED" };
  return {
    code: "RATE_LIMIT_EXCEEDED",
    message: `A batch of ${batch.length} calls is over this key's burst of ${burst}`,
  };
}

/** sendTransaction has a bucket of its own beside the ordinary one; in a batch each call takes from it by itself. */
export const meterSend: Stage<LimitDecision | null> = {
  ask: ({ access }, { call, granted }) => (call?.page?.isSend === true ? access.meter(granted.buckets.send) : null),
  settle: (dependencies, context, decision) => {
    if (decision === null || decision.allowed) return undefined;
    context.decision = decision;
    return refuse(dependencies, context, { code: "RATE_LIMIT_EXCEEDED" });
  },
};

/** The price of the call, or of all calls of a batch together. */
const priceOfAll = ({ call, batch }: RequestContext): number => {
  if (call !== null) return priceOf(call);
  return batch?.reduce((sum, one) => sum + priceOf(one), 0) ?? 0;
};

export const charge: Stage<boolean> = {
  ask: ({ access }, context) => access.charge(context.granted, priceOfAll(context)),
  settle: (dependencies, context, isPaid) => {
    if (isPaid) return undefined;
    const method = context.call === null ? "" : recordedMethod(context.call);
    return refuse(dependencies, context, { code: "INSUFFICIENT_CREDITS", method });
  },
};

export const answer: Stage<CallResult | null> = {
  ask: (dependencies, context) =>
    context.call === null ? answerBatch(dependencies, context) : answerCall(dependencies, context, context.call),
  settle: (_dependencies, context, result) => {
    context.result = result;
    return undefined;
  },
};

export const finish = check((dependencies, context) => {
  const { call, result } = context;
  if (call === null) return finishBatch(dependencies, context);
  invariant(result !== null, "a call that is finished has a result");
  return finishCall(dependencies, context, { call, result });
});

function finishCall(
  dependencies: CallDependencies,
  context: RequestContext,
  { call, result }: { readonly call: OpenedCall; readonly result: CallResult },
): Answer | Promise<Answer> {
  const price = priceOf(call);
  if (!result.ok) {
    dependencies.access.refund(context.granted, price, context.at);
    const { code, message, upstream } = result;
    const failure = { code, upstream, method: recordedMethod(call) };
    return refuse(dependencies, context, message === null ? failure : { ...failure, message });
  }
  const { hit } = result;
  const { body, label, sizeBytes, errorCode } = result.answer;
  const latencyMs = dependencies.clock.monotonic() - context.startedMs;
  const answered: Answered = {
    fields: dependencies.headers.fill(context, hit, label, result.upstreamMs ?? latencyMs),
    requestId: context.requestId,
    cache: hit ? "HIT" : "MISS",
  };
  if (body.kind === "large") {
    const acceptEncoding = context.request.headers.get("accept-encoding");
    return respondLarge(acceptEncoding, body.large.read(call.id), answered, (ending) => {
      recordLarge(dependencies, context, { call, upstream: label, ending });
    });
  }
  const response = respond(context, spliced(body, call.id), answered, splicedBytes(body, call.id));
  dependencies.served(
    factOf(context, {
      method: call.method,
      status: 200,
      rpcCode: errorCode,
      latencyMs,
      bytesIn: context.bytesIn,
      bytesOut: sizeBytes + call.id.length,
      credits: price,
      cache: answered.cache,
      upstream: label,
    }),
  );
  return response;
}

/**
 * The fact of an answer that was sent while it arrived, once it has ended. An answer that its node cut costs nothing; a
 * client that leaves in the middle of a good one has had it.
 */
function recordLarge(
  dependencies: CallDependencies,
  context: RequestContext,
  answered: { readonly call: OpenedCall; readonly upstream: string; readonly ending: StreamEnding },
): void {
  const { call, upstream, ending } = answered;
  const { how, bytes, error } = ending;
  const price = priceOf(call);
  const isCut = how === "cut";
  if (isCut) dependencies.access.refund(context.granted, price, context.at);
  if (isCut && !(error instanceof CutBody)) {
    dependencies.events.internalError("large answer", error, { requestId: context.requestId });
  }
  dependencies.events.largeAnswerEnded(context.network, how);
  dependencies.served(
    factOf(context, {
      method: call.method,
      status: 200,
      rpcCode: isCut ? rpcCodeOf("UPSTREAM_INVALID") : null,
      latencyMs: dependencies.clock.monotonic() - context.startedMs,
      bytesIn: context.bytesIn,
      bytesOut: bytes,
      credits: isCut ? 0 : price,
      cache: "MISS",
      upstream,
    }),
  );
}
