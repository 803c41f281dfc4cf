import { CodedError } from "@sluice/contract/errors";
import type { FieldError, ProblemDetails } from "@sluice/contract/schemas";

/** The details of a refusal besides its code. */
export interface ProblemErrorDetails {
  /** The HTTP status. */
  readonly status: number;
  /** Finds the request: GET /api/v1/requests/{id} and `sluice requests show` tell of it; null when a proxy answered. */
  readonly requestId: string | null;
  /** Each field that was wrong, for INVALID_INPUT. */
  readonly errors: readonly FieldError[];
}

/** A refusal by a REST endpoint (RFC 9457). `code` is of the endpoint's error table; UNKNOWN when a proxy answered. */
export class ProblemError extends CodedError<string, ProblemErrorDetails> {
  constructor(status: number, problem: Partial<ProblemDetails>) {
    super(problem.code ?? "UNKNOWN", {
      message: problem.detail ?? problem.title ?? `The server answered with status ${status}`,
      details: { status, requestId: problem.instance ?? null, errors: problem.errors ?? [] },
    });
    // A bundler may rename the class.
    this.name = "ProblemError";
  }

  get status(): number {
    return this.details.status;
  }

  get requestId(): string | null {
    return this.details.requestId;
  }

  get errors(): readonly FieldError[] {
    return this.details.errors;
  }
}

/**
 * Reads an answer of a REST endpoint, by the engine's own JSON unless another reader is given.
 *
 * @returns the JSON of a success, or null when its body is empty
 * @throws {ProblemError} when the status is not one of success; `code` is UNKNOWN when the body is not a problem
 * document
 */
export async function readAnswer<T>(
  response: Response,
  parse: (text: string) => unknown = JSON.parse,
): Promise<T | null> {
  const text = await response.text();
  if (response.ok) return text === "" ? null : (parse(text) as T);
  let problem: Partial<ProblemDetails> = {};
  try {
    problem = JSON.parse(text);
  } catch {
    // A proxy answered with its own body; only the status is known.
  }
  throw new ProblemError(response.status, problem);
}
