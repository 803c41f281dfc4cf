import { jsonRpcFailureBody } from "../http/index.ts";
import type { Grant } from "../keys/index.ts";
import type { LimitDecision } from "../limits/index.ts";
import { type AnswerBody, CutBody } from "../net/index.ts";
import type { EnvelopeItem } from "../rpc/index.ts";
import type { WholeBody } from "../upstreams/index.ts";
import { type Answer, joinedBatch, spliced } from "./answer.ts";
import { answerCall, type CallResult, type OpenedCall, openCall, type RefusedCall, refusedCall } from "./call.ts";
import { respond } from "./compression.ts";
import type { Exchange } from "./exchange.ts";
import { ownLabel, rpcCodeOf } from "./refusal.ts";
import { factOf } from "./served.ts";
import { refuse } from "./single.ts";
import type { Stages } from "./stages.ts";

/** Answers of one batch together; what comes beyond is answered OVERLOADED in its place. */
const batchAnswerBytesMax = 256 * 1024 * 1024;

type BatchCall = OpenedCall | Extract<EnvelopeItem, { ok: false }>;

type WholeResult = (Extract<CallResult, { ok: true }> & { readonly body: WholeBody }) | RefusedCall;

const priceOf = (call: BatchCall): number => ("code" in call ? 0 : (call.page?.credits ?? 1));

/**
 * A batch: one token and one price for each of its calls, each answered in its place and at once beside the others. It
 * is refused as a whole only when its tokens or its credits are not all there. sendTransaction's own bucket refuses the
 * single call.
 */
export async function serveBatch(
  stages: Stages,
  exchange: Exchange,
  grant: Grant,
  items: readonly EnvelopeItem[],
): Promise<Answer> {
  exchange.decision = await stages.access.meter(grant.buckets.requests, items.length);
  if (exchange.decision?.allowed === false) {
    const { burst } = exchange.decision;
    // Waiting does not help who asks for more at once than the bucket ever holds; it is said how many would pass.
    const message =
      items.length > burst ? `A batch of ${items.length} calls is over this key's burst of ${burst}` : null;
    return refuse(stages, exchange, grant, wholeRefused("RATE_LIMIT_EXCEEDED", message), "null", "");
  }
  const calls = items.map((item) => openCall(stages.rpc, item));
  const price = calls.reduce((sum, call) => sum + priceOf(call), 0);
  if (!(await stages.access.charge(grant, price))) {
    return refuse(stages, exchange, grant, wholeRefused("INSUFFICIENT_CREDITS"), "null", "");
  }
  const room = new AnswerRoom(batchAnswerBytesMax);
  const results = await Promise.all(
    calls.map(async (call) => await wholeIn(room, await answerOne(stages, exchange, grant, call))),
  );
  return finish(stages, exchange, grant, calls, results);
}

const wholeRefused = (code: "RATE_LIMIT_EXCEEDED" | "INSUFFICIENT_CREDITS", message: string | null = null) =>
  ({ ok: false, code, message, upstream: "" }) as const;

function answerOne(
  stages: Stages,
  exchange: Exchange,
  grant: Grant,
  call: BatchCall,
): CallResult | Promise<CallResult> {
  if ("code" in call) return refusedCall(call.code, call.message);
  if (call.page?.isSend !== true) return answerCall(stages, exchange, call);
  const taken = stages.access.meter(grant.buckets.send);
  return taken instanceof Promise
    ? taken.then((decision) => answerSend(stages, exchange, call, decision))
    : answerSend(stages, exchange, call, taken);
}

function answerSend(
  stages: Stages,
  exchange: Exchange,
  call: OpenedCall,
  decision: LimitDecision,
): CallResult | Promise<CallResult> {
  return decision.allowed ? answerCall(stages, exchange, call) : refusedCall("RATE_LIMIT_EXCEEDED");
}

/** What a batch's answers may take up together; each takes its part as it comes, whichever is first. */
class AnswerRoom {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  take(bytes: number): boolean {
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }
}

/** A batch is one text, so its answers are whole: what is still coming is gathered while there is room. */
async function wholeIn(room: AnswerRoom, result: CallResult): Promise<WholeResult> {
  if (!result.ok) return result;
  const { answer } = result;
  const { body } = answer;
  if (body.kind !== "large") {
    return room.take(answer.sizeBytes) ? { ...result, body } : refusedCall("OVERLOADED");
  }
  try {
    const gathered = await body.large.gather((bytes) => room.take(bytes));
    if (gathered === null) return refusedCall("OVERLOADED", null, answer.label);
    return { ...result, body: { kind: "bytes", ...gathered } };
  } catch (fault) {
    if (fault instanceof CutBody) return refusedCall("UPSTREAM_INVALID", null, answer.label);
    throw fault;
  }
}

function finish(
  stages: Stages,
  exchange: Exchange,
  grant: Grant,
  calls: readonly BatchCall[],
  results: readonly WholeResult[],
): Answer | Promise<Answer> {
  const latencyMs = stages.clock.monotonic() - exchange.startedMs;
  const parts: AnswerBody[] = [];
  const labels = new Set<string>();
  let isHit = true;
  let upstreamMs = 0;
  let refunded = 0;
  for (const [index, call] of calls.entries()) {
    const result = results[index] ?? refusedCall("INTERNAL_ERROR");
    const part = bodyOf(exchange, call.id, result);
    parts.push(part);
    const price = priceOf(call);
    if (!result.ok) refunded += price;
    isHit &&= result.ok && result.hit;
    if (result.ok) {
      labels.add(result.answer.label);
      upstreamMs = Math.max(upstreamMs, result.upstreamMs ?? 0);
    }
    stages.served(
      factOf(exchange, grant, {
        method: "code" in call || call.page === null ? "unknown" : call.method,
        status: 200,
        rpcCode: result.ok ? result.answer.errorCode : rpcCodeOf(result.code),
        latencyMs,
        bytesIn: index === 0 ? exchange.bytesIn : 0,
        bytesOut: part.length,
        credits: result.ok ? price : 0,
        cache: result.ok ? (result.hit ? "HIT" : "MISS") : "",
        upstream: result.ok ? result.answer.label : result.upstream,
      }),
    );
  }
  if (refunded > 0) stages.access.refund(grant, refunded, exchange.at);
  const endpoint = labels.size === 0 ? ownLabel : [...labels].join(", ");
  const fields = stages.headers.fill(exchange, isHit, endpoint, isHit ? latencyMs : upstreamMs);
  const answered = { fields, requestId: exchange.requestId, cache: isHit ? "HIT" : "MISS" } as const;
  return respond(exchange, joinedBatch(parts), answered);
}

function bodyOf(exchange: Exchange, id: string, result: WholeResult): AnswerBody {
  if (result.ok) return spliced(result.body, id);
  const { requestId } = exchange;
  const options =
    result.message === null ? { requestId, idJson: id } : { requestId, idJson: id, message: result.message };
  return jsonRpcFailureBody(result.code, options);
}
