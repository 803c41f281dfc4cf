import { SluiceError } from "@sluice/contract/errors";
import { type BodyLimits, readBody, requireJson } from "./body.ts";
import type { InputFault } from "./failure.ts";
import { issueText, type RawIssue } from "./input-texts.ts";

interface Issue {
  readonly code?: string | undefined;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** Of `unrecognized_keys`. */
  readonly keys?: readonly string[];
}

/** What is needed of a Zod schema. `error` gives a text to the issues for which the schema itself has none. */
export interface InputSchema<T> {
  safeParse(
    value: unknown,
    options: { readonly error: (issue: RawIssue) => string },
  ): { success: true; data: T } | { success: false; error: { issues: readonly Issue[] } };
}

/** More faults than this are not listed: the first ones are what a person mends. */
const faultsListedMax = 20;
/** A list of a thousand wrong items has as many issues; the search for equal paths is held to this many. */
const issuesReadMax = 200;

/** The value as the schema reads it; throws INVALID_INPUT with the list of {path, message} when it does not fit. */
export function parseInput<T>(schema: InputSchema<T>, value: unknown): T {
  const outcome = schema.safeParse(value, { error: issueText });
  if (outcome.success) return outcome.data;
  const faults = outcome.error.issues.slice(0, issuesReadMax).flatMap(faultsOf).slice(0, issuesReadMax);
  // Of one member the first fault alone: what is of the wrong kind is not of the wrong length as well.
  const first = faults.filter(({ path }, index) => faults.findIndex((fault) => fault.path === path) === index);
  const errors = first.slice(0, faultsListedMax);
  throw new SluiceError("INVALID_INPUT", { details: { errors } });
}

const pathText = (path: readonly PropertyKey[]): string => path.map(String).join(".").slice(0, pathCharactersMax);
/** The names of unknown members are the caller's own, of any length. */
const pathCharactersMax = 128;

/** A fault for each unknown member, under its own name. */
function faultsOf({ code, path, message, keys = [] }: Issue): InputFault[] {
  if (code !== "unrecognized_keys") return [{ path: pathText(path), message }];
  return keys.map((key) => ({ path: pathText([...path, key]), message: "is no member that is known here" }));
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
