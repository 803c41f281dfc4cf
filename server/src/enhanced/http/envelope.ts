import { type ErrorCode, errorTable, type SluiceError } from "@sluice/contract/errors";
import { writeFailureHeaders } from "../../http/index.ts";

/** The code under which this API answers a failure: input of every kind is one code of its specification. */
function codeOf(code: ErrorCode): ErrorCode {
  return code === "INVALID_INPUT" || code === "PARSE_ERROR" || code === "INVALID_PARAMS" ? "INVALID_REQUEST" : code;
}

/** What is wrong, with the members that are. */
function messageOf({ code, message, details }: SluiceError): string {
  if (code === "INTERNAL_ERROR") return errorTable[code].text;
  const { errors } = details;
  if (!Array.isArray(errors) || errors.length === 0) return message;
  return errors.map((each: { path: string; message: string }) => `${each.path} ${each.message}`.trim()).join("; ");
}

/** A failure in the envelope of the enhanced API. */
export function failureResponse(error: SluiceError, requestId: string): Response {
  const code = codeOf(error.code);
  const body = {
    success: false,
    error: errorTable[code].text,
    message: messageOf(error),
    error_code: code,
  };
  const headers: Record<string, string> = { "Content-Type": "application/json" };
  writeFailureHeaders(headers, code, { requestId, details: error.details });
  return new Response(JSON.stringify(body), { status: Math.max(errorTable[code].status, 400), headers });
}

/** An answer in the envelope; `data` is JSON text. */
export function envelopeText(data: string, processingMs: number, cached: boolean): string {
  const milliseconds = Math.max(0, Math.round(processingMs * 1_000) / 1_000);
  return `{"success":true,"data":${data},"processing_time_ms":${milliseconds},"cached":${cached}}`;
}
