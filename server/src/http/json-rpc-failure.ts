import { type ErrorCode, errorTable } from "@sluice/contract/errors";
import { extensionMembers, type FailureOptions, retryAfterOf, stringify, writeFailureHeaders } from "./failure.ts";

export interface JsonRpcFailureOptions extends FailureOptions {
  /** The request's id as JSON text exactly as it was sent ("1", "\"a\""); "null" where no id could be read. */
  readonly idJson?: string;
}

/**
 * The JSON-RPC error answer of a refusal by the gateway itself: {code, message, data: {code, retry_after, request_id}}
 * (decisions: Platform, HTTP status for JSON-RPC). Errors of a node do not pass here: they are forwarded unchanged.
 */
export function jsonRpcFailureBody(code: ErrorCode, options: JsonRpcFailureOptions): string {
  const wait = retryAfterOf(code, options.details);
  const error = {
    code: errorTable[code].rpcCode,
    message: options.message ?? errorTable[code].text,
    data: {
      ...extensionMembers(options.details),
      code,
      ...(wait === null ? {} : { retry_after: wait }),
      request_id: options.requestId,
    },
  };
  return `{"jsonrpc":"2.0","id":${options.idJson ?? "null"},"error":${stringify(error)}}`;
}

/** The whole answer when one refusal is all there is to say: status and headers of the code around its body. */
export function jsonRpcFailureResponse(
  code: ErrorCode,
  options: JsonRpcFailureOptions,
  headers: Record<string, string> = {},
): Response {
  headers["Content-Type"] = "application/json";
  writeFailureHeaders(headers, code, options);
  return new Response(jsonRpcFailureBody(code, options), { status: errorTable[code].status, headers });
}
