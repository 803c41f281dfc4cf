/** The outcome of a rate limit as its headers state it: the decision of limits. */
export interface RateLimitState {
  /** Requests a second. */
  readonly limit: number;
  readonly burst: number;
  readonly remaining: number;
  /** Unix seconds at which the whole burst is there again. */
  readonly resetAt: number;
}

/** Writes X-RateLimit-Limit, -Remaining, -Reset and -Burst (spec: node platform, Limits) into a plain header record. */
export function writeRateLimitHeaders(target: Record<string, string>, state: RateLimitState): void {
  target["X-RateLimit-Limit"] = String(state.limit);
  target["X-RateLimit-Remaining"] = String(state.remaining);
  target["X-RateLimit-Reset"] = String(state.resetAt);
  target["X-RateLimit-Burst"] = String(state.burst);
}

/** The value of Retry-After: whole seconds, at least 1. */
export function retryAfter(seconds: number): number {
  return Number.isFinite(seconds) ? Math.max(1, Math.ceil(seconds)) : 1;
}

/** The response headers that a page of another origin may read. */
const exposedHeaders = [
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "X-RateLimit-Burst",
  "Retry-After",
  "X-Error-Code",
  "X-Cache-Status",
  "X-RPC-Endpoint",
  "X-RPC-Latency-Ms",
  "X-Request-Id",
  "X-Data-Since",
  "X-Next-Signature",
].join(", ");

/** How long a browser may keep the answer of a preflight, in seconds; browsers cut it to two hours or less. */
const preflightSeconds = 7_200;

/** What an answer carries whose request names no origin: enough for a proxy that keeps it to hand it to a page. */
export const anyOrigin = { "Access-Control-Allow-Origin": "*" } as const;

/** The CORS headers of every response on an open path. Without credentials: keys have separate headers. */
export const openCorsHeaders = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers": exposedHeaders,
} as const;

/** Writes the CORS headers of an open path into a plain header record. Administration and console write none. */
export function writeOpenCorsHeaders(target: Record<string, string>): void {
  target["Access-Control-Allow-Origin"] = openCorsHeaders["Access-Control-Allow-Origin"];
  target["Access-Control-Expose-Headers"] = exposedHeaders;
}

/**
 * Answers OPTIONS on an open path, without a key: any origin, the methods given, the requested headers echoed.
 * A list of requested headers that is longer than 4 KiB or holds other characters than header names do is not echoed.
 */
export function preflightResponse(
  requestedHeaders: string | null,
  methods: readonly string[],
  requestId: string,
): Response {
  const headers: Record<string, string> = {
    ...openCorsHeaders,
    "Access-Control-Allow-Methods": methods.join(", "),
    "Access-Control-Max-Age": String(preflightSeconds),
    "X-Request-Id": requestId,
    Vary: "Access-Control-Request-Headers",
  };
  if (
    requestedHeaders !== null &&
    requestedHeaders.length <= 4_096 &&
    /^[\w!#$%&'*+.^`|~, -]*$/.test(requestedHeaders)
  ) {
    headers["Access-Control-Allow-Headers"] = requestedHeaders;
  }
  return new Response(null, { status: 204, headers });
}
