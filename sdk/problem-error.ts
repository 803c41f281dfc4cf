import type { FieldError, ProblemDetails } from "@sluice/contract/schemas";

/** A REST door's refusal (RFC 9457). `code` is of the error table, `requestId` finds the request in the server's log. */
export class ProblemError extends Error {
  readonly status: number;
  readonly code: string;
  readonly requestId: string | null;
  readonly errors: readonly FieldError[];

  constructor(status: number, problem: Partial<ProblemDetails>) {
    super(problem.detail ?? problem.title ?? `The server answered with status ${status}`);
    this.name = "ProblemError";
    this.status = status;
    this.code = problem.code ?? "UNKNOWN";
    this.requestId = problem.instance ?? null;
    this.errors = problem.errors ?? [];
  }
}

/** The JSON of a success, null for an empty one. Throws ProblemError for everything else. */
export async function readAnswer<T>(response: Response): Promise<T | null> {
  const text = await response.text();
  if (response.ok) return text === "" ? null : (JSON.parse(text) as T);
  let problem: Partial<ProblemDetails> = {};
  try {
    problem = JSON.parse(text);
  } catch {
    // A proxy in between answers in its own words; the status says what can be said.
  }
  throw new ProblemError(response.status, problem);
}
