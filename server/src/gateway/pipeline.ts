import { errorTable } from "@sluice/contract/errors";
import { limits } from "@sluice/contract/limits";
import { invariant } from "@sluice/lib";
import { failureOf, mediaFault, pathOf, presentedKey } from "../http/index.ts";
import type { Grant, KeyRefusal } from "../keys/index.ts";
import type { LimitDecision } from "../limits/index.ts";
import { CutBody, type ReadableBody, type StreamEnding } from "../net/index.ts";
import { readEnvelope } from "../rpc/index.ts";
import { type Answer, bytesOf, factOf, failureAnswer, rpcCodeOf, spliced, splicedBytes } from "./answer.ts";
import { answerBatch, finishBatch, refuseBatch } from "./batch.ts";
import type { BodyReads } from "./body-reads.ts";
import {
  answerCall,
  type CallDependencies,
  openCall,
  ownBuckets,
  permitted,
  priceOf,
  recordedMethod,
} from "./calls.ts";
import { type Answered, respond, respondLarge } from "./compression.ts";
import type { Overload } from "./overload.ts";
import {
  type CallResult,
  type ContextOptions,
  type Failure,
  type OpenedCall,
  RequestContext,
  type RequestHead,
} from "./request-context.ts";

interface StageDependencies extends CallDependencies {
  readonly requestId: () => string;
  readonly bodies: BodyReads;
  readonly overload: Pick<Overload, "admits">;
}

/** A request whose body can be read. */
type Context = RequestContext<RequestHead & ReadableBody>;

/** An answer ends the request; undefined hands it on to the next stage. */
type Step = Answer | undefined;

/**
 * One stage: what it asks, and what follows from the answer. `ask` returns a promise only when it has to wait; the
 * pipeline then waits for it before `settle`, and calls `settle` at once otherwise.
 */
interface Stage<T = unknown> {
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
  const { retryAfterSeconds = 0 } = context.decision ?? {};
  const answer = failureAnswer(context, { ...failure, details: { retryAfterSeconds, ...failure.details } });
  dependencies.served(
    factOf(context, {
      method: failure.method ?? "",
      status: answer.status,
      rpcCode: rpcCodeOf(failure.code),
      latencyMs: dependencies.clock.monotonic() - context.startedMs,
      bytesIn: context.bytesIn,
      bytesOut: bytesOf(answer.body),
      credits: 0,
      code: failure.code,
      cache: "",
      upstream: failure.upstream ?? "",
    }),
  );
  return answer;
}

const shed = check((dependencies, context) =>
  dependencies.overload.admits(context.startedMs) ? undefined : turnAway(dependencies, context, { code: "OVERLOADED" }),
);

/** What the head says before anything is read: method, type, coding and declared length, in this order. */
function headFailure({ method, headers }: RequestHead): Failure | null {
  if (method !== "POST") return { code: "METHOD_NOT_ALLOWED", details: { allow: ["POST", "OPTIONS"] } };
  const fault = mediaFault(headers);
  if (fault !== null) return fault;
  const declared = headers.get("content-length");
  if (declared !== null && Number(declared) > limits.rpcBodyBytes) return { code: "BODY_TOO_LARGE" };
  return null;
}

const admit = check((dependencies, context) => {
  const failure = headFailure(context.request);
  return failure === null ? undefined : turnAway(dependencies, context, failure);
});

const identify: Stage<Grant | KeyRefusal> = {
  ask: ({ access }, { request }) => access.identify(presentedKey(request.headers, request.target)),
  settle: (dependencies, context, outcome) => {
    if (!outcome.ok) return turnAway(dependencies, context, { code: outcome.code });
    context.grant = outcome;
    return undefined;
  },
};

const place = check((dependencies, context) => {
  if (context.chooseNetwork(pathOf(context.request.target))) return undefined;
  return refuse(dependencies, context, { code: "INVALID_REQUEST", message: "There is no network of that name" });
});

const restrict = check((dependencies, context) => {
  const refusal = dependencies.access.restrict(context.granted, context);
  return refusal === null ? undefined : refuse(dependencies, context, { code: refusal.code });
});

const read: Stage<string | Failure> = {
  ask: ({ bodies }, { request, startedMs }) => bodies.read(request, startedMs),
  settle: (_dependencies, context, body) => {
    if (typeof body !== "string") context.malformed = body;
    else {
      context.body = body;
      context.bytesIn = body.length;
    }
    return undefined;
  },
};

const open = check((dependencies, context) => {
  if (context.malformed !== null) return undefined;
  const envelope = readEnvelope(context.body, limits.rpcBatchItems);
  if (envelope.kind === "refused") {
    const { code, message } = envelope;
    context.malformed = message === null ? { code } : { code, message };
    return undefined;
  }
  if (envelope.kind === "single") context.id = envelope.item.id;
  if (!dependencies.rpc.hasNodes(context.network)) {
    context.malformed = { code: "NETWORK_UNAVAILABLE" };
    return undefined;
  }
  if (envelope.kind === "batch") {
    const { items } = envelope;
    context.malformed = overBurst(context, items.length);
    if (context.malformed === null) context.batch = items.map((item) => openCall(dependencies, item));
    return undefined;
  }
  const call = openCall(dependencies, envelope.item);
  if (call.ok) context.call = call;
  else context.malformed = { code: call.code, message: call.message ?? errorTable[call.code].text };
  return undefined;
});

/** Waiting does not help a batch that asks for more tokens than the narrowest of its buckets ever holds. */
function overBurst({ granted }: RequestContext, calls: number): Failure | null {
  const burst = Math.min(...granted.buckets.requests.map((bucket) => bucket.burst));
  if (calls <= burst) return null;
  const message = `A batch of ${calls} calls is over this key's burst: send at most ${burst} calls together`;
  return { code: "BATCH_TOO_LARGE_FOR_RATE", message };
}

/** What the key may call. A call of a batch that it may not make is answered in its place, beside one that it may. */
const permit = check((dependencies, context) => {
  const { call, batch } = context;
  if (batch !== null) {
    const checked = batch.map((one) => permitted(dependencies, context, one));
    context.batch = checked;
    return refuseBatch(dependencies, context, checked) ?? undefined;
  }
  if (call === null) return undefined;
  const outcome = permitted(dependencies, context, call);
  if (outcome.ok) return undefined;
  const { code, message, recorded } = outcome;
  return refuse(dependencies, context, { code, message, method: recorded });
});

/** A token for each call. A malformed body takes one as well, or garbage would be free of the rate limit. */
const meter: Stage<LimitDecision> = {
  ask: ({ access }, context) => access.meter(context.granted.buckets.requests, context.batch?.length ?? 1),
  settle: (dependencies, context, decision) => {
    context.decision = decision;
    if (!decision.allowed) return refuse(dependencies, context, { code: "RATE_LIMIT_EXCEEDED" });
    return context.malformed === null ? undefined : refuse(dependencies, context, context.malformed);
  },
};

/**
 * sendTransaction and methods over digital assets have buckets of their own beside the ordinary one; in a batch each
 * call takes from them by itself.
 */
const meterOwn: Stage<LimitDecision | null> = {
  ask: ({ access }, context) => {
    const buckets = context.call === null ? null : ownBuckets(context, context.call);
    return buckets === null ? null : access.meter(buckets);
  },
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

const charge: Stage<boolean> = {
  ask: ({ access }, context) => access.charge(context.granted, priceOfAll(context)),
  settle: (dependencies, context, isPaid) => {
    if (isPaid) return undefined;
    const method = context.call === null ? "" : recordedMethod(context.call);
    const subject = context.call === null ? "batch" : "call";
    const shortage = dependencies.access.shortage(context.granted, priceOfAll(context), subject);
    return refuse(dependencies, context, { code: "INSUFFICIENT_CREDITS", ...shortage, method });
  },
};

const answer: Stage<CallResult | null> = {
  ask: (dependencies, context) =>
    context.call === null ? answerBatch(dependencies, context) : answerCall(dependencies, context, context.call),
  settle: (_dependencies, context, result) => {
    context.result = result;
    return undefined;
  },
};

const finish = check((dependencies, context) => {
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
    const { code, message, upstream, retryAfterSeconds } = result;
    return refuse(dependencies, context, {
      code,
      upstream,
      method: recordedMethod(call),
      ...(message === null ? {} : { message }),
      ...(retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } }),
    });
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
      method: recordedMethod(call),
      status: 200,
      rpcCode: errorCode,
      latencyMs,
      bytesIn: context.bytesIn,
      bytesOut: sizeBytes + call.id.length,
      credits: price,
      code: "",
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
      method: recordedMethod(call),
      status: 200,
      rpcCode: isCut ? rpcCodeOf("UPSTREAM_INVALID") : null,
      latencyMs: dependencies.clock.monotonic() - context.startedMs,
      bytesIn: context.bytesIn,
      bytesOut: bytes,
      credits: isCut ? 0 : price,
      code: isCut ? "UPSTREAM_INVALID" : "",
      cache: "MISS",
      upstream,
    }),
  );
}

/**
 * A JSON-RPC request's way. Each stage ends the request or hands it on; the order is the specification's (node
 * platform, Authentication 3), with what the gateway can see before it: no body is read before its key is known.
 *
 *   shed        beyond what can be answered in time              overload.ts
 *   admit       POST, JSON as it is, declared length
 *   identify    key exists, key active                          access
 *   place       which network                                   request-context.ts
 *   restrict    network, domain, address                        access
 *   read        the body, in time and within its bound          body-reads.ts
 *   open        envelope: one call or a batch                   rpc
 *   permit      permission, list of methods                     access, calls.ts
 *   meter       rate limit; a malformed body pays it too        access
 *   meterOwn    rate limits of sendTransaction and of assets    access, calls.ts
 *   charge      credits                                         access
 *   answer      defaults, validation, cache, node               calls.ts, batch.ts
 *   finish      id in its place, headers, the fact              answer.ts, batch.ts
 */
const order: readonly Stage[] = Object.freeze([
  shed,
  admit,
  identify,
  place,
  restrict,
  read,
  open,
  permit,
  meter,
  meterOwn,
  charge,
  answer,
  finish,
]);

/**
 * Runs requests through the  While everything that is asked for is in memory and the body has come with its head,
 * nothing here waits, and the answer is written in the turn in which the request was read.
 */
export class Pipeline {
  readonly #options: ContextOptions;
  readonly #dependencies: StageDependencies;

  constructor(options: ContextOptions, dependencies: StageDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** Answers one request; never throws and never rejects. */
  handle(request: RequestHead & ReadableBody): Answer | Promise<Answer> {
    return this.#run(new RequestContext(request, this.#options, this.#dependencies), 0);
  }

  #run(context: Context, from: number): Answer | Promise<Answer> {
    const dependencies = this.#dependencies;
    try {
      for (let index = from; ; index += 1) {
        const stage = order[index];
        if (stage === undefined) break;
        const outcome = stage.ask(dependencies, context);
        if (outcome instanceof Promise) return this.#wait(outcome, context, index);
        const answer = stage.settle(dependencies, context, outcome);
        if (answer !== undefined) return answer;
      }
    } catch (error) {
      return this.#fail(context, error);
    }
    return this.#fail(context, new Error("the last stage answers every request"));
  }

  /** Goes on from a stage that waits. */
  #wait(pending: Promise<unknown>, context: Context, index: number): Promise<Answer> {
    return pending.then(
      (outcome) => {
        try {
          const answer = order[index]?.settle(this.#dependencies, context, outcome);
          return answer ?? this.#run(context, index + 1);
        } catch (error) {
          return this.#fail(context, error);
        }
      },
      (error) => this.#fail(context, error),
    );
  }

  /**
   * An error with a code of contract's table is answered by it; any other is an internal error of this system. A
   * request whose key was accepted has its fact.
   */
  #fail(context: Context, error: unknown): Answer {
    const dependencies = this.#dependencies;
    context.id = "null";
    const { code, message } = failureOf(error);
    const isInternal = code === "INTERNAL_ERROR";
    if (isInternal) dependencies.events.internalError("rpc", error, { requestId: context.requestId });
    const failure = isInternal ? { code } : { code, message };
    if (context.grant === null) return turnAway(dependencies, context, failure);
    const method = context.call === null ? "" : recordedMethod(context.call);
    return refuse(dependencies, context, { ...failure, method });
  }
}
