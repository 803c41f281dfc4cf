/**
 * http: the parts that all HTTP endpoints share. Request ids, the presented key and the client's address, bounded
 * bodies, failures as RFC 9457 or JSON-RPC answers from contract's table, rate-limit and CORS headers, redaction of
 * addresses, and the Hono application that REST endpoints start from. Fed by requests; feeds net, gateway, admin and
 * the services' endpoints.
 */
export { readBody, requireJson } from "./body.ts";
export { clientAddress } from "./client-address.ts";
export { dataSinceHeaders } from "./data-since.ts";
export { docsRedirect, type GatewayPlace } from "./docs-redirect.ts";
export { failureOf, type InputFault, writeFailureHeaders } from "./failure.ts";
export { isForwardedTls } from "./forwarded-scheme.ts";
export { crawlerPage, type FrontPage, frontPage } from "./front-page.ts";
export {
  anyOrigin,
  openCorsHeaders,
  preflightResponse,
  type RateLimitState,
  retryAfter,
  writeRateLimitHeaders,
} from "./headers.ts";
export { isHost } from "./host.ts";
export { parseInput, readInput } from "./input.ts";
export { jsonRpcFailureBody } from "./json-rpc-failure.ts";
export { mediaFault } from "./media-type.ts";
export { networkAsked, networkNamed } from "./network-choice.ts";
export { type ProbeSource, probeResponse } from "./probes.ts";
export { type ProblemOptions, problemOf, problemResponse } from "./problem.ts";
export { redactUrl } from "./redact.ts";
export {
  bearerToken,
  type HeaderReader,
  isUpgrade,
  pathOf,
  presentedKey,
  queryParameter,
  targetOf,
} from "./request-head.ts";
export { createRequestIds } from "./request-id.ts";
export { createRestApp, docsBaseOf, type RestEnvironment } from "./rest-app.ts";
export { isRpcPath } from "./rpc-path.ts";
