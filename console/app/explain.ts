import { ProblemError } from "@sluice/sdk";

/** What failed, for people; a request's id finds it in the server's log. */
export function explain(fault: unknown): string {
  if (fault instanceof ProblemError) return `${fault.message} (request ${fault.requestId ?? "unknown"})`;
  return fault instanceof Error ? fault.message : String(fault);
}
