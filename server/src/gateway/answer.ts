import { type ErrorCode, errorTable } from "@sluice/contract/errors";
import {
  anyOrigin,
  jsonRpcFailureBody,
  openCorsHeaders,
  writeFailureHeaders,
  writeRateLimitHeaders,
} from "../http/index.ts";
import { type RequestFact, statusStillOpen } from "../ledger/index.ts";
import type { LimitDecision } from "../limits/index.ts";
import { type AnswerBody, fieldLines, type HttpAnswer } from "../net/index.ts";
import type { RequestEvents } from "../observe/index.ts";
import type { WholeBody } from "../upstreams/index.ts";
import type { Failure, RequestContext } from "./request-context.ts";

/** An answer with what the stages found out about its request. */
export interface Answer extends HttpAnswer {
  readonly requestId: string;
  /** The value of X-Cache-Status. */
  readonly cache: "HIT" | "MISS" | "";
}

/** The value of X-RPC-Endpoint for an answer that no node gave; getHealth's has the same. */
export const ownLabel = "gateway";

/** The code's number inside JSON-RPC. */
export const rpcCodeOf = (code: ErrorCode): number => errorTable[code].rpcCode;

/** The node's answer with the caller's id in the place of the gateway's. Nothing else of it is touched. */
export function spliced(body: WholeBody, id: string): AnswerBody {
  if (body.kind === "text") return body.head + id + body.tail;
  return Buffer.concat([body.head, Buffer.from(id), body.tail]);
}

/** The length of what `spliced` returns for text, without creating it; undefined for bytes, which have a length. */
export function splicedBytes(body: WholeBody, id: string): number | undefined {
  return body.kind === "text" ? body.head.length + body.tail.length + Buffer.byteLength(id) : undefined;
}

/** The bytes of a body. */
export const bytesOf = (body: AnswerBody): number => (typeof body === "string" ? Buffer.byteLength(body) : body.length);

/** The headers of every refusal of the request. */
function refusalHeaders({ origin, decision }: RequestContext): Record<string, string> {
  const headers: Record<string, string> = { "Content-Type": "application/json" };
  Object.assign(headers, origin === null ? anyOrigin : openCorsHeaders);
  if (decision !== null) writeRateLimitHeaders(headers, decision);
  return headers;
}

/** The answer to a batch that is refused as a whole, each call in its place; the header names the first one's code. */
export function refusedBatchAnswer(context: RequestContext, code: ErrorCode, body: AnswerBody): Answer {
  const { requestId } = context;
  const headers = refusalHeaders(context);
  writeFailureHeaders(headers, code, { requestId });
  return { status: errorTable[code].status, fields: fieldLines(headers), body, requestId, cache: "" };
}

/** The answer to a refused request: JSON-RPC error body, status and X-Error-Code by contract's table. */
export function failureAnswer(context: RequestContext, failure: Failure): Answer & { readonly body: string } {
  const { code, upstream = "" } = failure;
  const { requestId, id } = context;
  const { status } = errorTable[code];
  const headers = refusalHeaders(context);
  if (upstream !== "") headers["X-RPC-Endpoint"] = upstream;
  // An answer with status 200 has the headers of every other such answer.
  if (status === 200) {
    headers["X-Cache-Status"] = "MISS";
    headers["X-RPC-Endpoint"] ??= ownLabel;
    headers["X-RPC-Latency-Ms"] = "0";
  }
  const options = {
    requestId,
    idJson: id,
    ...(failure.message === undefined ? {} : { message: failure.message }),
    ...(failure.details === undefined ? {} : { details: failure.details }),
  };
  writeFailureHeaders(headers, code, options);
  const body = jsonRpcFailureBody(code, options);
  return { status, fields: fieldLines(headers), body, requestId, cache: "" };
}

/** What a fact states about one answered call, beside what its context knows. */
type CallFact = Pick<
  RequestFact,
  "method" | "status" | "rpcCode" | "latencyMs" | "bytesIn" | "bytesOut" | "credits" | "code" | "cache" | "upstream"
>;

/** The fact of one answered call. */
export function factOf(context: RequestContext, call: CallFact): RequestFact {
  const { accountId, keyId } = context.granted;
  return {
    at: context.at,
    requestId: context.requestId,
    accountId,
    keyId,
    network: context.network,
    door: "rpc",
    method: call.method,
    status: call.status,
    rpcCode: call.rpcCode,
    latencyMs: call.latencyMs,
    bytesIn: call.bytesIn,
    bytesOut: call.bytesOut,
    credits: call.credits,
    code: call.code,
    cache: call.cache,
    upstream: call.upstream,
  };
}

/**
 * Where facts go: the metrics of all endpoints, and the ledger. A fact about a connection that goes on is counted
 * without its time.
 */
export function factRecorder(
  events: Pick<RequestEvents, "requestServed" | "connectionPassed">,
  ledger: { append(fact: RequestFact): void },
): (fact: RequestFact) => void {
  return (fact) => {
    if (fact.status === statusStillOpen) events.connectionPassed(fact.door, fact);
    else events.requestServed(fact.door, fact);
    ledger.append(fact);
  };
}

/** The header lines of one kind of answer: a part that equals the last answer's is not written anew. */
class Template {
  readonly #fixed: string;
  #limit = -1;
  #burst = -1;
  #resetAt = -1;
  #rate = "";
  #hit: boolean | null = null;
  #endpoint = "";
  #latencyMs = -1;
  #source = "";

  constructor(fixed: Readonly<Record<string, string>>) {
    this.#fixed = `${fieldLines({ "Content-Type": "application/json", ...fixed })}X-Request-Id: `;
  }

  fill({ requestId, decision }: RequestContext, hit: boolean, endpoint: string, latencyMs: number): string {
    if (hit !== this.#hit || endpoint !== this.#endpoint || latencyMs !== this.#latencyMs) {
      this.#hit = hit;
      this.#endpoint = endpoint;
      this.#latencyMs = latencyMs;
      const said = { "X-Cache-Status": hit ? "HIT" : "MISS", "X-RPC-Endpoint": endpoint };
      this.#source = `\r\n${fieldLines(said)}X-RPC-Latency-Ms: ${latencyMs}\r\n`;
    }
    const lines = this.#fixed + requestId + this.#source;
    return decision === null ? lines : `${lines}${this.#rateOf(decision)}${decision.remaining}\r\n`;
  }

  #rateOf({ limit, burst, resetAt }: LimitDecision): string {
    if (limit !== this.#limit || burst !== this.#burst || resetAt !== this.#resetAt) {
      this.#limit = limit;
      this.#burst = burst;
      this.#resetAt = resetAt;
      this.#rate = `X-RateLimit-Limit: ${limit}\r\nX-RateLimit-Burst: ${burst}\r\nX-RateLimit-Reset: ${resetAt}\r\nX-RateLimit-Remaining: `;
    }
    return this.#rate;
  }
}

/** The header lines of answered calls. */
export class AnswerHeaders {
  readonly #plain = new Template(anyOrigin);
  readonly #open = new Template(openCorsHeaders);

  /** The lines of an answer from `endpoint` (X-RPC-Endpoint), which took `latencyMs`. */
  fill(context: RequestContext, hit: boolean, endpoint: string, latencyMs: number): string {
    const template = context.origin === null ? this.#plain : this.#open;
    return template.fill(context, hit, endpoint, latencyMs < 0.5 ? 0 : Math.round(latencyMs));
  }
}
