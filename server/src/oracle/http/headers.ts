import { oracleDeprecatedSince } from "@sluice/contract/oracle";
import { openCorsHeaders, type RateLimitState } from "../../http/index.ts";
import type { MonthState } from "./month-usage.ts";
import type { OracleError } from "./oracle-error.ts";

export interface Deprecation {
  /** The end of the product (Unix ms), and the address of its successor; null while undecided. */
  readonly sunsetMs: number | null;
  readonly successorUrl: string | null;
}

const ownHeaders = ["X-Quota-Limit", "X-Quota-Used", "X-Quota-Reset", "Deprecation", "Sunset", "Link"];

/** The headers of every answer: Deprecation by RFC 9745, Sunset by RFC 8594, the successor by RFC 5829. */
export function sharedHeaders({ sunsetMs, successorUrl }: Deprecation): Record<string, string> {
  return {
    ...openCorsHeaders,
    // A browser shows a page only the headers that are named here.
    "Access-Control-Expose-Headers": [openCorsHeaders["Access-Control-Expose-Headers"], ...ownHeaders].join(", "),
    "Content-Type": "application/json",
    "Cache-Control": "no-store",
    Deprecation: `@${Date.parse(oracleDeprecatedSince) / 1_000}`,
    ...(sunsetMs === null ? {} : { Sunset: new Date(sunsetMs).toUTCString() }),
    ...(successorUrl === null ? {} : { Link: `<${successorUrl}>; rel="successor-version"` }),
  };
}

export function writeRate(headers: Record<string, string>, rate: RateLimitState): void {
  headers["X-RateLimit-Limit"] = String(rate.limit);
  headers["X-RateLimit-Remaining"] = String(rate.remaining);
  headers["X-RateLimit-Reset"] = String(rate.resetAt);
  headers["X-RateLimit-Burst"] = String(rate.burst);
}

/** The month's requests: how many there are, how many are used, and when the next month begins. */
export function writeQuota(headers: Record<string, string>, limit: number | null, { used, resetAt }: MonthState): void {
  headers["X-Quota-Limit"] = limit === null ? "unlimited" : String(limit);
  headers["X-Quota-Used"] = String(used);
  headers["X-Quota-Reset"] = String(resetAt);
}

/** The headers of an error, as its status requires. */
export function writeError(headers: Record<string, string>, error: OracleError): void {
  headers["X-Error-Code"] = error.code;
  if (error.retryAfterSeconds !== null) headers["Retry-After"] = String(error.retryAfterSeconds);
  if (error.allow.length > 0) headers["Allow"] = error.allow.join(", ");
  if (error.status === 426) headers["Upgrade"] = "websocket";
  if (error.status === 401) headers["WWW-Authenticate"] = 'Bearer realm="sluice"';
}
