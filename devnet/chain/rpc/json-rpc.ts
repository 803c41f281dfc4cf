import type { JsonObject, JsonValue } from "@sluice/encode";
import type { Log } from "@sluice/lib";
import { parseJsonExact, stringifyJsonExact } from "@sluice/wire/json";
import {
  answerBytesMax,
  answerTooLarge,
  internalError,
  invalidParams,
  invalidRequest,
  methodNotFound,
  RpcError,
} from "./errors.ts";

import type { Method } from "./method.ts";

/** Runs one call that is well formed; a failure of the call is an RpcError, thrown or rejected with. */
export type Dispatch = (method: string, params: JsonValue | undefined) => JsonValue | Promise<JsonValue>;

const members: ReadonlySet<string> = new Set(["jsonrpc", "method", "params", "id"]);

type Id = string | number | bigint | null;

function isId(value: JsonValue | undefined): value is Id {
  if (value === null || typeof value === "string") return true;
  if (typeof value === "bigint") return value >= 0n && value <= 0xffff_ffff_ffff_ffffn;
  return typeof value === "number" && Number.isInteger(value) && value >= 0;
}

function failureText(error: RpcError, id: Id): string {
  const { code, message, data } = error;
  const failure = data === undefined ? { code, message } : { code, message, data };
  return `{"jsonrpc":"2.0","error":${stringifyJsonExact(failure)},"id":${stringifyJsonExact(id)}}`;
}

function resultText(result: JsonValue, id: Id): string {
  return `{"jsonrpc":"2.0","result":${stringifyJsonExact(result)},"id":${stringifyJsonExact(id)}}`;
}

function thrownText(error: unknown, id: Id): string {
  return failureText(error instanceof RpcError ? error : internalError(), id);
}

/** Calls of a batch that are answered at a stretch: who asks one thing does not wait for who asks a hundred. */
const stretch = 32;

function othersTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * The answer to one call, at once when the method gives its result at once: most do, and a promise costs more than
 * they.
 */
function callText(method: string, params: JsonValue | undefined, id: Id, dispatch: Dispatch): string | Promise<string> {
  try {
    const result = dispatch(method, params);
    if (!(result instanceof Promise)) return resultText(result, id);
    return result.then((value) => resultText(value, id)).catch((error: unknown) => thrownText(error, id));
  } catch (error) {
    return thrownText(error, id);
  }
}

/** Answers one element of a body; null when it is a notification, which gets no answer. */
function answerOne(request: JsonValue, dispatch: Dispatch): string | Promise<string> | null {
  if (typeof request !== "object" || request === null || Array.isArray(request)) {
    return failureText(invalidRequest(), null);
  }
  const call = request as JsonObject;
  const requested = call["id"];
  if (requested !== undefined && !isId(requested)) return failureText(invalidRequest(), null);
  const id = requested ?? null;
  const method = call["method"];
  if (typeof method !== "string" || Object.keys(call).some((member) => !members.has(member))) {
    return failureText(invalidRequest(), id);
  }
  if (requested === undefined) return null;
  if (call["jsonrpc"] !== "2.0") return failureText(invalidRequest("Unsupported JSON-RPC protocol version"), id);
  return callText(method, call["params"], id, dispatch);
}

/**
 * Answers a body: one call, or a batch whose answers keep the order of its calls. Null when nothing is to be said: an
 * empty batch, or notifications alone. The text has no newline at its end. Once the answers to a batch are longer than
 * `bytesMax`, its other calls are refused and do not run.
 */
export async function answerBody(body: string, dispatch: Dispatch, bytesMax = answerBytesMax): Promise<string | null> {
  const parsed = parseJsonExact(body);
  if (!parsed.ok) return failureText(new RpcError(-32700, "Parse error"), null);
  const request = parsed.value;
  if (!Array.isArray(request)) return await answerOne(request, dispatch);
  let bytes = 0;
  const bounded: Dispatch = (method, params) => {
    if (bytes > bytesMax) throw answerTooLarge(bytesMax);
    return dispatch(method, params);
  };
  const answers: (string | Promise<string>)[] = [];
  for (const [index, element] of request.entries()) {
    if (index > 0 && index % stretch === 0) await othersTurn();
    const answer = answerOne(element as JsonValue, bounded);
    // Calls that list much are answered at once, so that what is not there yet is short.
    if (typeof answer === "string") bytes += answer.length;
    if (answer !== null) answers.push(answer);
  }
  if (answers.length === 0) return null;
  const areAllThere = answers.every((answer) => typeof answer === "string");
  return `[${(areAllThere ? answers : await Promise.all(answers)).join()}]`;
}

/** Checks the form and number of parameters against a method, as the node's derive macro does. */
function checkedParams(method: Method, params: JsonValue | undefined): readonly JsonValue[] {
  const { required, optional } = method;
  if (params !== undefined && params !== null && !Array.isArray(params)) {
    throw invalidParams("`params` should be an array");
  }
  const list: readonly JsonValue[] = Array.isArray(params) ? params : [];
  const count = list.length;
  if (required + optional === 0) {
    if (count > 0) throw invalidParams("Invalid parameters: No parameters were expected", stringifyJsonExact(list));
  } else if (optional === 0) {
    if (count !== required) {
      throw invalidParams(`Invalid params: invalid length ${count}, expected a tuple of size ${required}.`);
    }
  } else if (count < required) {
    throw invalidParams(`\`params\` should have at least ${required} argument(s)`);
  } else if (count > required + optional) {
    const range = `Invalid parameters: Expected from ${required} to ${required + optional} parameters.`;
    throw invalidParams(range, `"Got: ${count}"`);
  }
  return list;
}

/** Finds and runs a method of a table. An error that is no RpcError is logged, and becomes "Internal error". */
export function dispatcher(
  find: (name: string) => Method | undefined,
  run: (method: Method, params: readonly JsonValue[]) => JsonValue | Promise<JsonValue>,
  log: Log,
): Dispatch {
  return (name, params) => {
    const method = find(name);
    if (method === undefined) throw methodNotFound();
    const failed = (error: unknown): never => {
      if (error instanceof RpcError) throw error;
      log.error({ error, method: name }, "a method failed");
      throw internalError();
    };
    try {
      const result = run(method, checkedParams(method, params));
      return result instanceof Promise ? result.catch(failed) : result;
    } catch (error) {
      return failed(error);
    }
  };
}
