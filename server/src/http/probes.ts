import type { HealthRecord, ReadyRecord } from "@sluice/contract/schemas";
import { problemResponse } from "./problem.ts";
import { pathOf, queryParameter } from "./request-head.ts";

/** What the probes of every port are answered from. */
export interface ProbeSource {
  /** Every role that a process may run, for who asks for one that does not exist. */
  readonly roles: readonly string[];
  health(): HealthRecord;
  /** Of one role, whether this process runs it or not; null asks whether any of its roles serves. */
  ready(role: string | null): ReadyRecord;
}

/** The probes of one port: `role` is what /ready asks for there unless the query names another; null for any. */
export interface PortProbes {
  readonly source: ProbeSource;
  readonly role: string | null;
  /** Of the refusal of another method. */
  readonly docsBase?: string | null;
}

export interface ProbedRequest {
  readonly method: string;
  /** With its query. */
  readonly target: string;
}

/**
 * The answer of GET /health, 200 while the listener is open, and of GET /ready, 503 while the role that is asked for
 * does not serve, and 400 for a role that does not exist. Null for other paths.
 */
export function probeResponse(
  { method, target }: ProbedRequest,
  { source, role, docsBase }: PortProbes,
  requestId: string,
): Response | null {
  const path = pathOf(target);
  if (path !== "/health" && path !== "/ready") return null;
  if (method !== "GET" && method !== "HEAD") {
    return problemResponse("METHOD_NOT_ALLOWED", { requestId, details: { allow: ["GET", "HEAD"] }, docsBase });
  }
  const headers = { "X-Request-Id": requestId, "Cache-Control": "no-store" };
  if (path === "/health") return Response.json(source.health(), { headers });
  const asked = queryParameter(target, "role");
  if (asked !== null && !source.roles.includes(asked)) {
    const message = `must be one of ${source.roles.join(", ")}`;
    const details = { errors: [{ path: "role", message }] };
    return problemResponse("INVALID_INPUT", { requestId, message: `role ${message}`, details, docsBase });
  }
  const record = source.ready(asked ?? role);
  if (record.status !== "down") return Response.json(record, { headers });
  return Response.json(record, { status: 503, headers: { ...headers, "Retry-After": "1" } });
}
