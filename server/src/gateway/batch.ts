import { jsonRpcFailureBody } from "../http/index.ts";
import { type AnswerBody, CutBody } from "../net/index.ts";
import { type Answer, bytesOf, factOf, ownLabel, refusedBatchAnswer, rpcCodeOf, spliced } from "./answer.ts";
import { answerCall, type CallDependencies, ownBuckets, priceOf, recordedMethod, refusedCall } from "./calls.ts";
import { respond } from "./compression.ts";
import type { BatchCall, CallResult, RequestContext, WholeResult } from "./request-context.ts";

/** Answers of one batch together; what comes beyond is answered OVERLOADED in its place. */
const batchAnswerBytesMax = 256 * 1024 * 1024;

/**
 * Answers the calls of a batch beside each other, each in its place. A batch is refused as a whole only when its key
 * may make none of its calls, or when its tokens or its credits are not all there, which is decided before;
 * buckets of their own, of sendTransaction and of methods over assets, refuse the single call.
 */
export async function answerBatch(dependencies: CallDependencies, context: RequestContext): Promise<null> {
  const room = new AnswerRoom(batchAnswerBytesMax);
  const answers = (context.batch ?? []).map(
    async (call) => await wholeIn(room, await answerOne(dependencies, context, call)),
  );
  context.results = await Promise.all(answers);
  return null;
}

async function answerOne(
  dependencies: CallDependencies,
  context: RequestContext,
  call: BatchCall,
): Promise<CallResult> {
  if (!call.ok) return refusedCall(call.code, call.message);
  const buckets = ownBuckets(context, call);
  if (buckets !== null) {
    const taken = dependencies.access.meter(buckets);
    const { allowed } = taken instanceof Promise ? await taken : taken;
    if (!allowed) return refusedCall("RATE_LIMIT_EXCEEDED");
  }
  return await answerCall(dependencies, context, call);
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
  } catch (error) {
    if (error instanceof CutBody) return refusedCall("UPSTREAM_INVALID", null, answer.label);
    throw error;
  }
}

/**
 * The answer to a batch of which the key may make no call at all: refused as a whole, as the single call is, and each
 * call in its place. Null for any other batch.
 */
export function refuseBatch(
  { served, clock }: CallDependencies,
  context: RequestContext,
  batch: readonly BatchCall[],
): Answer | null {
  const forbidden = batch.flatMap((call) => (!call.ok && "recorded" in call ? [call] : []));
  const [first] = forbidden;
  if (first === undefined || forbidden.length < batch.length) return null;
  const latencyMs = clock.monotonic() - context.startedMs;
  const parts = forbidden.map((call) => bodyOf(context, call.id, refusedCall(call.code, call.message)));
  const answer = refusedBatchAnswer(context, first.code, joinedBatch(parts));
  for (const [index, { code, recorded }] of forbidden.entries()) {
    served(
      factOf(context, {
        method: recorded,
        status: answer.status,
        rpcCode: rpcCodeOf(code),
        latencyMs,
        bytesIn: index === 0 ? context.bytesIn : 0,
        bytesOut: bytesOf(parts[index] ?? ""),
        credits: 0,
        code,
        cache: "",
        upstream: "",
      }),
    );
  }
  return answer;
}

/** The answers of a batch in the order of its calls, and a fact for each; calls that failed are refunded. */
export function finishBatch(dependencies: CallDependencies, context: RequestContext): Answer | Promise<Answer> {
  const latencyMs = dependencies.clock.monotonic() - context.startedMs;
  const parts: AnswerBody[] = [];
  const labels = new Set<string>();
  let isHit = true;
  let upstreamMs = 0;
  let refunded = 0;
  for (const [index, call] of (context.batch ?? []).entries()) {
    const result = context.results[index] ?? refusedCall("INTERNAL_ERROR");
    const part = bodyOf(context, call.id, result);
    parts.push(part);
    const price = priceOf(call);
    if (!result.ok) refunded += price;
    isHit &&= result.ok && result.hit;
    if (result.ok) {
      labels.add(result.answer.label);
      upstreamMs = Math.max(upstreamMs, result.upstreamMs ?? 0);
    }
    dependencies.served(
      factOf(context, {
        method: recordedMethod(call),
        status: 200,
        rpcCode: result.ok ? result.answer.errorCode : rpcCodeOf(result.code),
        latencyMs,
        bytesIn: index === 0 ? context.bytesIn : 0,
        bytesOut: bytesOf(part),
        credits: result.ok ? price : 0,
        code: result.ok ? "" : result.code,
        cache: result.ok ? (result.hit ? "HIT" : "MISS") : "",
        upstream: result.ok ? result.answer.label : result.upstream,
      }),
    );
  }
  if (refunded > 0) dependencies.access.refund(context.granted, refunded, context.at);
  const endpoint = labels.size === 0 ? ownLabel : [...labels].join(", ");
  const fields = dependencies.headers.fill(context, isHit, endpoint, isHit ? latencyMs : upstreamMs);
  const answered = { fields, requestId: context.requestId, cache: isHit ? "HIT" : "MISS" } as const;
  return respond(context, joinedBatch(parts), answered);
}

function bodyOf({ requestId }: RequestContext, id: string, result: WholeResult): AnswerBody {
  if (result.ok) return spliced(result.body, id);
  const { code, message, retryAfterSeconds } = result;
  return jsonRpcFailureBody(code, {
    requestId,
    idJson: id,
    ...(message === null ? {} : { message }),
    ...(retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } }),
  });
}

/** One JSON array of the answers; text unless some are bytes. */
function joinedBatch(parts: readonly AnswerBody[]): AnswerBody {
  if (parts.every((part) => typeof part === "string")) return `[${parts.join(",")}]`;
  const pieces: Uint8Array[] = [];
  for (const [index, part] of parts.entries()) {
    pieces.push(Buffer.from(index === 0 ? "[" : ","), typeof part === "string" ? Buffer.from(part) : part);
  }
  pieces.push(Buffer.from("]"));
  return Buffer.concat(pieces);
}
