/**
 * http: the parts that all HTTP endpoints share. Request ids, the presented key and the client's address, bounded
 * bodies, failures as RFC 9457 or JSON-RPC answers from contract's table, rate-limit and CORS headers, redaction of
 * addresses, and the Hono application that REST endpoints start from. Fed by requests; feeds net, gateway, admin and
 * the services' endpoints.
 */
export { type BodyLimits, readBody, requireJson } from "./body.ts";
export { clientAddress } from "./client-address.ts";
export { docsRedirect } from "./docs-redirect.ts";
export { type FailureOptions, failureOf, type InputFault, writeFailureHeaders } from "./failure.ts";
export {
  anyOrigin,
  openCorsHeaders,
  preflightResponse,
  type RateLimitState,
  retryAfter,
  writeOpenCorsHeaders,
  writeRateLimitHeaders,
} from "./headers.ts";
export { type InputSchema, parseInput, readInput } from "./input.ts";
export { type JsonRpcFailureOptions, jsonRpcFailureBody, jsonRpcFailureResponse } from "./json-rpc-failure.ts";
export { type HttpProblem, type ProblemOptions, problemOf, problemResponse } from "./problem.ts";
export { redactKeys, redactQuery, redactUrl } from "./redact.ts";
export {
  bearerToken,
  type HeaderReader,
  hasSingleHost,
  isJsonContentType,
  isUpgrade,
  pathOf,
  presentedKey,
  queryParameter,
  targetOf,
} from "./request-head.ts";
export { createRequestIds } from "./request-id.ts";
export { createRestApp, type RestAppDependencies, type RestAppOptions, type RestEnvironment } from "./rest-app.ts";
