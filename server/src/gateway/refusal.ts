import { type ErrorCode, errorTable } from "@sluice/contract/errors";
import {
  anyOrigin,
  jsonRpcFailureBody,
  openCorsHeaders,
  writeFailureHeaders,
  writeRateLimitHeaders,
} from "../http/index.ts";
import { fieldLines } from "../net/index.ts";
import type { Answer } from "./answer.ts";
import type { Exchange } from "./exchange.ts";

/** What X-RPC-Endpoint says of an answer that no node gave; getHealth's says the same. */
export const ownLabel = "gateway";

/** Why a stage ends a request. */
export interface Refusal {
  readonly code: ErrorCode;
  readonly message?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  /** The call's id as JSON text, where it was read. */
  readonly idJson?: string;
  readonly upstream?: string;
}

/** The answer to a refused request: JSON-RPC error body, status and X-Error-Code by the table. */
export function refusalAnswer(exchange: Exchange, refusal: Refusal): Answer {
  const { status } = errorTable[refusal.code];
  const headers: Record<string, string> = { "Content-Type": "application/json" };
  Object.assign(headers, exchange.origin === null ? anyOrigin : openCorsHeaders);
  if (exchange.decision !== null) writeRateLimitHeaders(headers, exchange.decision);
  if (refusal.upstream !== undefined && refusal.upstream !== "") headers["X-RPC-Endpoint"] = refusal.upstream;
  // An answer with status 200 reads as any other one, whoever gave it.
  if (status === 200) {
    headers["X-Cache-Status"] = "MISS";
    headers["X-RPC-Endpoint"] ??= ownLabel;
    headers["X-RPC-Latency-Ms"] = "0";
  }
  const options = {
    requestId: exchange.requestId,
    ...(refusal.message === undefined ? {} : { message: refusal.message }),
    ...(refusal.details === undefined ? {} : { details: refusal.details }),
    ...(refusal.idJson === undefined ? {} : { idJson: refusal.idJson }),
  };
  writeFailureHeaders(headers, refusal.code, options);
  const body = jsonRpcFailureBody(refusal.code, options);
  return { status, fields: fieldLines(headers), body, requestId: exchange.requestId, cache: "" };
}

/** The code's number inside JSON-RPC. */
export function rpcCodeOf(code: ErrorCode): number {
  return errorTable[code].rpcCode;
}
