import { type ErrorCode, errorDocsPath, errorTable } from "@sluice/contract/errors";
import { extensionMembers, type FailureOptions, stringify, writeFailureHeaders } from "./failure.ts";

/** A code that JSON-RPC answers with 200 is a plain bad request where the status is all there is. */
const statusOf = (code: ErrorCode): number => Math.max(errorTable[code].status, 400);

export interface ProblemOptions extends FailureOptions {
  /** The gateway's address, put before the path of the code's page; without it `type` is a relative reference. */
  readonly docsBase?: string | null | undefined;
  /** Headers that the answer carries beside those of the failure itself. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Where HTTP has a more specific status for the code. */
  readonly status?: number;
}

/** A failure as RFC 9457 writes it. */
export interface HttpProblem {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** An RFC 9457 answer: type, title, status, detail, instance (the request id), code, and errors for invalid input. */
export function problemOf(code: ErrorCode, options: ProblemOptions): HttpProblem {
  const status = options.status ?? statusOf(code);
  const errors = options.details?.["errors"];
  const body = {
    ...extensionMembers(options.details),
    type: `${options.docsBase ?? ""}${errorDocsPath(code)}`,
    title: errorTable[code].text,
    status,
    detail: options.message ?? errorTable[code].text,
    instance: options.requestId,
    code,
    ...(Array.isArray(errors) ? { errors } : {}),
  };
  const headers: Record<string, string> = { ...options.headers, "Content-Type": "application/problem+json" };
  writeFailureHeaders(headers, code, options);
  return { status, headers, body: stringify(body) };
}

export function problemResponse(code: ErrorCode, options: ProblemOptions): Response {
  const { status, headers, body } = problemOf(code, options);
  return new Response(body, { status, headers });
}
