import { ProblemError } from "@sluice/sdk";

/** What failed, for people; a request's id finds it (`sluice requests show`). */
export function explain(error: unknown): string {
  if (error instanceof ProblemError) return `${error.message} (request ${error.requestId ?? "unknown"})`;
  return error instanceof Error ? error.message : String(error);
}
