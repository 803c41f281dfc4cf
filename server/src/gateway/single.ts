import { errorTable } from "@sluice/contract/errors";
import type { Grant } from "../keys/index.ts";
import type { LimitDecision } from "../limits/index.ts";
import { CutBody, type StreamEnding } from "../net/index.ts";
import type { EnvelopeItem } from "../rpc/index.ts";
import { type Answer, spliced, splicedBytes } from "./answer.ts";
import { answerCall, type CallResult, type OpenedCall, openCall } from "./call.ts";
import { type Answered, respond, respondLarge } from "./compression.ts";
import type { Exchange } from "./exchange.ts";
import { refusalAnswer, rpcCodeOf } from "./refusal.ts";
import { factOf } from "./served.ts";
import type { Stages } from "./stages.ts";

/** One call after its envelope was read: rate limit, credits, plan, cache, node, answer. */
export function serveSingle(
  stages: Stages,
  exchange: Exchange,
  grant: Grant,
  item: EnvelopeItem,
): Answer | Promise<Answer> {
  const call = openCall(stages.rpc, item);
  const taken = stages.access.meter(grant.buckets.requests, 1);
  if (taken instanceof Promise) return taken.then((decision) => serveMetered(stages, exchange, grant, call, decision));
  return serveMetered(stages, exchange, grant, call, taken);
}

function serveMetered(
  stages: Stages,
  exchange: Exchange,
  grant: Grant,
  call: ReturnType<typeof openCall>,
  decision: LimitDecision | null,
): Answer | Promise<Answer> {
  exchange.decision = decision;
  if (decision?.allowed === false) return limited(stages, exchange, grant, call.id);
  if ("code" in call) {
    const message = call.message ?? errorTable[call.code].text;
    return refuse(stages, exchange, grant, { ok: false, code: call.code, message, upstream: "" }, call.id, "");
  }
  if (call.page?.isSend !== true) return servePriced(stages, exchange, grant, call);
  const sending = stages.access.meter(grant.buckets.send);
  if (sending instanceof Promise) return sending.then((sendable) => serveSend(stages, exchange, grant, call, sendable));
  return serveSend(stages, exchange, grant, call, sending);
}

function serveSend(
  stages: Stages,
  exchange: Exchange,
  grant: Grant,
  call: OpenedCall,
  decision: LimitDecision,
): Answer | Promise<Answer> {
  if (decision.allowed) return servePriced(stages, exchange, grant, call);
  exchange.decision = decision;
  return limited(stages, exchange, grant, call.id);
}

function servePriced(stages: Stages, exchange: Exchange, grant: Grant, call: OpenedCall): Answer | Promise<Answer> {
  const paid = stages.access.charge(grant, call.page?.credits ?? 1);
  return typeof paid === "boolean"
    ? servePaid(stages, exchange, grant, call, paid)
    : paid.then((isPaid) => servePaid(stages, exchange, grant, call, isPaid));
}

function servePaid(
  stages: Stages,
  exchange: Exchange,
  grant: Grant,
  call: OpenedCall,
  isPaid: boolean,
): Answer | Promise<Answer> {
  if (!isPaid) {
    const result: CallResult = { ok: false, code: "INSUFFICIENT_CREDITS", message: null, upstream: "" };
    return refuse(stages, exchange, grant, result, call.id, recordedMethod(call));
  }
  const result = answerCall(stages, exchange, call);
  return result instanceof Promise
    ? result.then((settled) => finish(stages, exchange, grant, call, settled))
    : finish(stages, exchange, grant, call, result);
}

function finish(
  stages: Stages,
  exchange: Exchange,
  grant: Grant,
  call: OpenedCall,
  result: CallResult,
): Answer | Promise<Answer> {
  const price = call.page?.credits ?? 1;
  if (!result.ok) {
    stages.access.refund(grant, price, exchange.at);
    return refuse(stages, exchange, grant, result, call.id, recordedMethod(call));
  }
  const { answer, hit } = result;
  const { body } = answer;
  const latencyMs = stages.clock.monotonic() - exchange.startedMs;
  const answered: Answered = {
    fields: stages.headers.fill(exchange, hit, answer.label, result.upstreamMs ?? latencyMs),
    requestId: exchange.requestId,
    cache: hit ? "HIT" : "MISS",
  };
  if (body.kind === "large") {
    const acceptEncoding = exchange.request.headers.get("accept-encoding");
    return respondLarge(acceptEncoding, body.large.read(call.id), answered, (ending) => {
      tellLarge(stages, exchange, grant, call, answer.label, ending);
    });
  }
  const bytesOut = answer.sizeBytes + call.id.length;
  const response = respond(exchange, spliced(body, call.id), answered, splicedBytes(body, call.id));
  stages.served(
    factOf(exchange, grant, {
      method: call.method,
      status: 200,
      rpcCode: answer.errorCode,
      latencyMs,
      bytesIn: exchange.bytesIn,
      bytesOut,
      credits: price,
      cache: hit ? "HIT" : "MISS",
      upstream: answer.label,
    }),
  );
  return response;
}

/**
 * The fact of an answer that was sent while it came, once it has ended. One that its node cut was no answer and costs
 * nothing; a client that leaves in the middle of a good one has had it.
 */
function tellLarge(
  stages: Stages,
  exchange: Exchange,
  grant: Grant,
  call: OpenedCall,
  upstream: string,
  { how, bytes, error }: StreamEnding,
): void {
  const price = call.page?.credits ?? 1;
  const isCut = how === "cut";
  if (isCut) stages.access.refund(grant, price, exchange.at);
  if (isCut && !(error instanceof CutBody)) {
    stages.events.internalError("large answer", error, { requestId: exchange.requestId });
  }
  stages.events.largeAnswerEnded(exchange.network, how);
  stages.served(
    factOf(exchange, grant, {
      method: call.method,
      status: 200,
      rpcCode: isCut ? rpcCodeOf("UPSTREAM_INVALID") : null,
      latencyMs: stages.clock.monotonic() - exchange.startedMs,
      bytesIn: exchange.bytesIn,
      bytesOut: bytes,
      credits: isCut ? 0 : price,
      cache: "MISS",
      upstream,
    }),
  );
}

/** A name that no table knows is the caller's invention; the ledger's methods are a bounded set. */
function recordedMethod(call: OpenedCall): string {
  return call.page === null ? "unknown" : call.method;
}

function limited(stages: Stages, exchange: Exchange, grant: Grant, id: string): Answer {
  return refuse(
    stages,
    exchange,
    grant,
    { ok: false, code: "RATE_LIMIT_EXCEEDED", message: null, upstream: "" },
    id,
    "",
  );
}

/** The answer and the fact of a call that the gateway refused itself or that nobody could answer; it cost nothing. */
export function refuse(
  stages: Stages,
  exchange: Exchange,
  grant: Grant,
  result: Extract<CallResult, { ok: false }>,
  id: string,
  method: string,
): Answer {
  const retryAfterSeconds = exchange.decision?.retryAfterSeconds ?? 0;
  const response = refusalAnswer(exchange, {
    code: result.code,
    idJson: id,
    upstream: result.upstream,
    ...(result.message === null ? {} : { message: result.message }),
    ...(retryAfterSeconds > 0 ? { details: { retryAfterSeconds } } : {}),
  });
  stages.served(
    factOf(exchange, grant, {
      method,
      status: response.status,
      rpcCode: rpcCodeOf(result.code),
      latencyMs: stages.clock.monotonic() - exchange.startedMs,
      bytesIn: exchange.bytesIn,
      bytesOut: 0,
      credits: 0,
      cache: "",
      upstream: result.upstream,
    }),
  );
  return response;
}
