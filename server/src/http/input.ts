import { SluiceError } from "@sluice/contract/errors";
import { type BodyLimits, readBody, requireJson } from "./body.ts";
import type { InputFault } from "./failure.ts";

/** What is needed of a Zod schema. */
export interface InputSchema<T> {
  safeParse(
    value: unknown,
  ):
    | { success: true; data: T }
    | { success: false; error: { issues: readonly { path: readonly PropertyKey[]; message: string }[] } };
}

/** More faults than this are not listed: the first ones are what a person mends. */
const faultsListedMax = 20;

/** The value as the schema reads it; throws INVALID_INPUT with the list of {path, message} when it does not fit. */
export function parseInput<T>(schema: InputSchema<T>, value: unknown): T {
  const outcome = schema.safeParse(value);
  if (outcome.success) return outcome.data;
  const errors: InputFault[] = outcome.error.issues
    .slice(0, faultsListedMax)
    .map((issue) => ({ path: issue.path.map(String).join("."), message: issue.message }));
  throw new SluiceError("INVALID_INPUT", { details: { errors } });
}

/**
 * The JSON body of a REST request as the schema reads it. Throws UNSUPPORTED_MEDIA_TYPE, BODY_TOO_LARGE, PARSE_ERROR
 * (not JSON, or not UTF-8) and INVALID_INPUT. Whether unknown members are refused is the schema's to say.
 */
export async function readInput<T>(request: Request, schema: InputSchema<T>, bounds: BodyLimits): Promise<T> {
  requireJson(request.headers);
  const bytes = await readBody(request, bounds);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new SluiceError("PARSE_ERROR", { message: "The request body is not valid JSON" });
  }
  return parseInput(schema, value);
}
