import { errorTable } from "@sluice/contract/errors";
import type { Network } from "@sluice/contract/tiers";
import { type JsonValue, stringifyJsonExact } from "@sluice/wire/json";
import { queryParameter } from "../../http/index.ts";
import { type Admit, type Incoming, searcherOf } from "./admit.ts";
import { headersOf, type ShownFailure, shownFailure } from "./failure.ts";
import { type JitoAnswer, type JitoRpc, submittingMethods } from "./jito-rpc.ts";
import { MeteredCall, type MeteringDependencies, priceOf } from "./metered-call.ts";

interface JitoRequest {
  readonly id: JsonValue;
  readonly method: string;
  readonly params: readonly JsonValue[];
}

/** A request on its way: its id, and its meter once it is known to have a price. */
interface Asked {
  readonly requestId: string;
  metered: MeteredCall | null;
}

/** An answer, and what a fact says of it. */
interface Written {
  readonly response: Response;
  /** The public code of a refusal; "" without one. */
  readonly code: string;
  readonly rpcCode: number | null;
  readonly bytesOut: number;
}

interface JitoEndpointDependencies {
  readonly rpc: JitoRpc;
  readonly admit: Admit;
  readonly metering: MeteringDependencies;
}

type JsonObject = { readonly [name: string]: JsonValue | undefined };

const isObject = (value: JsonValue): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Whether a body is meant for JSON-RPC; REST submissions have neither of these members. */
export const isJitoCall = (body: JsonValue): boolean =>
  Array.isArray(body) || (isObject(body) && ("jsonrpc" in body || "method" in body));

/** What JSON-RPC clients of a block engine know of HTTP: a status, a header for the bundle, a body. */
export class JitoEndpoint {
  readonly #options: { readonly network: Network };
  readonly #dependencies: JitoEndpointDependencies;

  constructor(options: { readonly network: Network }, dependencies: JitoEndpointDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  async answer(body: JsonValue, incoming: Incoming, requestId: string): Promise<Response> {
    const request = readRequest(body);
    const { headers } = incoming;
    if ("answer" in request) return write(headers, requestId, request.id, request.answer).response;
    const asked: Asked = { requestId, metered: null };
    try {
      const { response, ...fact } = await this.#written(request, incoming, asked);
      asked.metered?.served({ ...fact, status: response.status });
      return response;
    } catch (error) {
      asked.metered?.served({ status: 500, code: "INTERNAL_ERROR", rpcCode: internalErrorCode, bytesOut: 0 });
      throw error;
    }
  }

  async #written(request: JitoRequest, incoming: Incoming, asked: Asked): Promise<Written> {
    const { requestId } = asked;
    const { headers } = incoming;
    try {
      return write(headers, requestId, request.id, await this.#ask(request, incoming, asked));
    } catch (error) {
      const shown = shownFailure(error);
      if (shown === null) throw error;
      return writeFailure(shown, requestId, { headers, id: request.id });
    }
  }

  /** A body that is no JSON, on a path that has no other protocol. */
  refuseUnparsed({ headers }: Incoming, requestId: string): Response {
    return write(headers, requestId, null, unparsed).response;
  }

  async #ask({ method, params }: JitoRequest, incoming: Incoming, asked: Asked): Promise<JitoAnswer> {
    const { rpc, admit, metering } = this.#dependencies;
    const grant = await admit.method(incoming, method);
    if (submittingMethods.has(method)) await admit.submission(grant, incoming);
    const bundleOnly = isBundleOnly(incoming.request.url);
    const call = { method, params, bundleOnly, searcher: searcherOf(grant) };
    if (priceOf(call) === 0) return rpc.answer(call);
    const { network } = this.#options;
    const { requestId } = asked;
    const bytesIn = Number(incoming.request.headers.get("content-length") ?? 0) || 0;
    incoming.isRecorded = true;
    asked.metered = new MeteredCall({ requestId, network, grant, call, bytesIn }, metering);
    return asked.metered.answer(incoming.headers, () => rpc.answer(call));
  }
}

/** A refusal in the form of JSON-RPC. */
export function rpcFailureResponse(
  failure: ShownFailure,
  requestId: string,
  { headers }: { readonly headers: Record<string, string> },
): Response {
  return writeFailure(failure, requestId, { headers, id: null }).response;
}

function writeFailure(
  failure: ShownFailure,
  requestId: string,
  { headers, id }: { readonly headers: Record<string, string>; readonly id: JsonValue },
): Written {
  const { code, status, detail, retryAfterSeconds } = failure;
  // Jito's own answer to too many requests has no id, and its clients know it by this code.
  const isRate = status === 429;
  const message = isRate ? `Rate limit exceeded. Retry after ${(retryAfterSeconds ?? 1) * 1_000} ms` : detail;
  const answer: JitoAnswer = { ok: false, status, code: rpcCodes[code] ?? internalErrorCode, message, reason: code };
  return write({ ...headers, ...headersOf(failure) }, requestId, isRate ? null : id, answer);
}

function write(headers: Record<string, string>, requestId: string, id: JsonValue, answer: JitoAnswer): Written {
  const isBusy = !answer.ok && (answer.status === 429 || answer.status === 503);
  const waiting: Record<string, string> = { ...(isBusy ? { "Retry-After": "1" } : {}), ...headers };
  const wait = isBusy ? Number(waiting["Retry-After"]) : null;
  const body = answer.ok
    ? { jsonrpc: "2.0", result: answer.result, id }
    : {
        jsonrpc: "2.0",
        error: { code: answer.code, message: answer.message, data: dataOf(answer, requestId, wait) },
        id,
      };
  const bundle = answer.ok && answer.bundleId !== undefined ? { "x-bundle-id": answer.bundleId } : {};
  const text = stringifyJsonExact(body);
  const response = new Response(text, {
    status: answer.ok ? 200 : answer.status,
    headers: {
      ...waiting,
      ...bundle,
      ...(answer.ok || answer.reason === null ? {} : { "X-Error-Code": answer.reason }),
      "Content-Type": "application/json",
      "X-Request-Id": requestId,
    },
  });
  const code = answer.ok || answer.reason === null ? "" : answer.reason;
  return { response, code, rpcCode: answer.ok ? null : answer.code, bytesOut: Buffer.byteLength(text) };
}

/** As at the gateway for a refusal of ours; a node's own has none, as with Jito's servers. */
function dataOf({ reason }: Extract<JitoAnswer, { ok: false }>, requestId: string, wait: number | null): JsonValue {
  if (reason === null) return null;
  return { code: reason, ...(wait === null ? {} : { retry_after: wait }), request_id: requestId };
}

const unparsed: JitoAnswer = { ok: false, status: 400, code: -32_700, message: "Parse error", reason: "PARSE_ERROR" };
const invalidRequest: JitoAnswer = {
  ok: false,
  status: 400,
  code: -32_600,
  message: "Invalid request",
  reason: "INVALID_REQUEST",
};
const internalErrorCode = -32_603;
const invalidParams: JitoAnswer = {
  ok: false,
  status: 400,
  code: -32_602,
  message: "params must be an array",
  reason: "INVALID_PARAMS",
};

/** Jito's codes where clients know them, else those of this server's other JSON-RPC. */
const rpcCodes: Readonly<Partial<Record<ShownFailure["code"], number>>> = {
  BODY_TOO_LARGE: errorTable.BODY_TOO_LARGE.rpcCode,
  UNSUPPORTED_MEDIA_TYPE: errorTable.UNSUPPORTED_MEDIA_TYPE.rpcCode,
  MISSING_API_KEY: errorTable.INVALID_API_KEY.rpcCode,
  INVALID_API_KEY: errorTable.INVALID_API_KEY.rpcCode,
  PERMISSION_DENIED: errorTable.PERMISSION_DENIED.rpcCode,
  METHOD_NOT_PERMITTED: errorTable.METHOD_NOT_PERMITTED.rpcCode,
  INSUFFICIENT_CREDITS: errorTable.INSUFFICIENT_CREDITS.rpcCode,
  RATE_LIMIT_EXCEEDED: -32_097,
};

/** Who asks for protection in a spelling of their own is not sent without it: only a plain no is one. */
function isBundleOnly(url: string): boolean {
  const value = queryParameter(url, "bundleOnly");
  return value !== null && !/^(false|0|no)$/i.test(value);
}

/** One call; a batch is not valid, as at the servers that these clients come from. */
function readRequest(body: JsonValue): JitoRequest | { readonly answer: JitoAnswer; readonly id: JsonValue } {
  if (!isObject(body)) return { answer: invalidRequest, id: null };
  const { id = null, method, params } = body;
  const isId = id === null || typeof id === "string" || typeof id === "number" || typeof id === "bigint";
  if (typeof method !== "string" || !isId) return { answer: invalidRequest, id: null };
  if (params === undefined || params === null) return { id, method, params: [] };
  return Array.isArray(params) ? { id, method, params } : { answer: invalidParams, id };
}
