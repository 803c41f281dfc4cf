import type { ErrorCode } from "@sluice/contract/errors";
import { type ProblemOptions, problemOf } from "../http/index.ts";
import { type Answer, fieldLines } from "./answer.ts";

/** As http's problemResponse, for the connections of our own. */
export function problemAnswer(code: ErrorCode, options: ProblemOptions): Answer {
  const { status, headers, body } = problemOf(code, options);
  return { status, fields: fieldLines(headers), body, requestId: options.requestId, cache: "" };
}
