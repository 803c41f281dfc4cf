import type { ErrorCode } from "@sluice/contract/errors";
import { type ProblemOptions, problemOf } from "../../../http/index.ts";
import { fieldLines, type HttpAnswer } from "./answer.ts";

/** As http's problemResponse, for the connections of our own. */
export function problemAnswer(code: ErrorCode, options: ProblemOptions): HttpAnswer {
  const { status, headers, body } = problemOf(code, options);
  return { status, fields: fieldLines(headers), body };
}
