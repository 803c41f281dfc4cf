import { oracleDeprecatedSince } from "@sluice/contract/oracle";
import { openCorsHeaders } from "../../http/index.ts";
import type { RateState } from "./admission.ts";
import type { OracleFailure } from "./failure.ts";

export interface Deprecation {
  /** When the product ends (Unix ms), and where its successor is described; null while that is not decided. */
  readonly sunsetMs: number | null;
  readonly successorUrl: string | null;
}

/** Deprecation as RFC 9745 has it, Sunset as RFC 8594, the successor as RFC 5829. */
export function sharedHeaders({ sunsetMs, successorUrl }: Deprecation): Record<string, string> {
  return {
    ...openCorsHeaders,
    // A page in a browser sees of an answer's headers what is named here.
    "Access-Control-Expose-Headers": `${openCorsHeaders["Access-Control-Expose-Headers"]}, Deprecation, Sunset, Link`,
    "Content-Type": "application/json",
    "Cache-Control": "no-store",
    Deprecation: `@${Date.parse(oracleDeprecatedSince) / 1_000}`,
    ...(sunsetMs === null ? {} : { Sunset: new Date(sunsetMs).toUTCString() }),
    ...(successorUrl === null ? {} : { Link: `<${successorUrl}>; rel="successor-version"` }),
  };
}

export function writeRate(headers: Record<string, string>, rate: RateState): void {
  headers["X-RateLimit-Limit"] = String(rate.limit);
  headers["X-RateLimit-Remaining"] = String(rate.remaining);
  headers["X-RateLimit-Reset"] = String(rate.resetAt);
  headers["X-RateLimit-Burst"] = String(rate.burst);
}

export function writeFailure(headers: Record<string, string>, failure: OracleFailure): void {
  headers["X-Error-Code"] = failure.code;
  if (failure.retryAfterSeconds !== null) headers["Retry-After"] = String(failure.retryAfterSeconds);
  if (failure.allow.length > 0) headers["Allow"] = failure.allow.join(", ");
  if (failure.status === 426) headers["Upgrade"] = "websocket";
  if (failure.status === 401) headers["WWW-Authenticate"] = 'Bearer realm="sluice"';
}
