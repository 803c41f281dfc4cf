import type { CommitmentName, ConfigSpec, ParameterKind, RpcMethodSpec } from "@sluice/contract/rpc";
import { isAddress, isSignature } from "@sluice/wire/identifiers";
import { canonicalJson, type JsonValue, parseJsonExact } from "@sluice/wire/json";
import { notAnArray } from "./envelope.ts";
import { transactionTextFault } from "./transaction-text.ts";

/** How a call is answered, whichever key makes it: everything that follows from its method and parameters alone. */
export interface Plan {
  readonly ok: true;
  readonly spec: RpcMethodSpec | null;
  /** JSON text sent to a node; null sends no params. */
  readonly params: string | null;
  readonly commitment: CommitmentName;
  /** The cache key within its network and commitment; null for what is never kept nor shared. */
  readonly key: string | null;
  /** The caller's own minContextSlot: no node behind it may answer. */
  readonly minContextSlot: bigint | null;
  /** The slot that the answer is about, where that decides whether it is history. */
  readonly slot: bigint | null;
}

export interface PlanRefusal {
  readonly ok: false;
  readonly code: "PARSE_ERROR" | "INVALID_PARAMS";
  readonly message: string | null;
}

/** The plan, and the other plan for clients that leave out `finalized` because it is the node's default. */
export interface Planned {
  readonly plan: Plan | PlanRefusal;
  /** Null when the caller named a commitment, or the method's default is the node's. */
  readonly withNodeDefault: Plan | null;
}

const nodeDefaultCommitment: CommitmentName = "finalized";

/** Makes the plan of a call to a known method. `text` is the params as sent, or null. */
export function planCall(spec: RpcMethodSpec, text: string | null): Planned {
  const parsed = parseJsonExact(text ?? "[]");
  if (!parsed.ok) return refused("PARSE_ERROR", null);
  const params = positional(spec, parsed.value);
  if (params === null) return refused("INVALID_PARAMS", notAnArray);
  const problem = checkParameters(spec, params);
  if (problem !== null) return refused("INVALID_PARAMS", `Invalid params: ${problem}`);
  const fault = checkTransaction(spec, params);
  if (fault !== null) return refused("INVALID_PARAMS", fault);
  const stated = spec.defaults["commitment"];
  const plan = makePlan(spec, params, text, spec.defaults);
  if (stated === undefined || statedCommitment(spec, params) !== null) return { plan, withNodeDefault: null };
  const { commitment: _commitment, ...others } = spec.defaults;
  return { plan, withNodeDefault: makePlan(spec, params, text, others) };
}

/** The parameters by position; null for what is no list. Those by name are the one object of the method. */
function positional({ named }: RpcMethodSpec, value: JsonValue): readonly JsonValue[] | null {
  if (Array.isArray(value)) return value as readonly JsonValue[];
  return named ? [value] : null;
}

/** An unknown method that the operator lets through: as it is, never kept. */
export function planUnknown(text: string | null): Planned {
  const valid = text === null || parseJsonExact(text).ok;
  if (!valid) return refused("PARSE_ERROR", null);
  const plan: Plan = {
    ok: true,
    spec: null,
    params: text,
    commitment: nodeDefaultCommitment,
    key: null,
    minContextSlot: null,
    slot: null,
  };
  return { plan, withNodeDefault: null };
}

function refused(code: PlanRefusal["code"], message: string | null): Planned {
  return { plan: { ok: false, code, message }, withNodeDefault: null };
}

function makePlan(
  spec: RpcMethodSpec,
  positional: readonly JsonValue[],
  text: string | null,
  defaults: Readonly<Record<string, string>>,
): Plan {
  const params = withDefaults(spec, positional, defaults);
  const commitment = spec.commitment === null ? "processed" : (statedCommitment(spec, params) ?? nodeDefaultCommitment);
  const minContextSlot = statedMinimum(spec, params);
  if (spec.cache === "never")
    return { ok: true, spec, params: text, commitment, key: null, minContextSlot, slot: null };
  return {
    ok: true,
    spec,
    // What is shared is sent in its canonical form: two callers who share a key must have made the same call.
    params: params.length === 0 ? null : canonicalJson(params),
    commitment,
    key: `${spec.name}${canonicalJson(withoutCommitment(spec, params))}`,
    minContextSlot,
    slot: spec.parameters[0]?.name === "slot" ? asWhole(params[0]) : null,
  };
}

function asWhole(value: JsonValue | undefined): bigint | null {
  return typeof value === "bigint" || typeof value === "number" ? BigInt(value) : null;
}

function statedCommitment(spec: RpcMethodSpec, params: readonly JsonValue[]): CommitmentName | null {
  const at = configIndex(spec.config, params);
  const value = at === null ? null : asObject(params[at])?.["commitment"];
  return value === "processed" || value === "confirmed" || value === "finalized" ? value : null;
}

function statedMinimum(spec: RpcMethodSpec, params: readonly JsonValue[]): bigint | null {
  const at = configIndex(spec.config, params);
  return at === null ? null : asWhole(asObject(params[at])?.["minContextSlot"]);
}

/** Adds stated defaults where the caller gave nothing, at the method's own place for the configuration object. */
function withDefaults(
  spec: RpcMethodSpec,
  params: readonly JsonValue[],
  defaults: Readonly<Record<string, string>>,
): readonly JsonValue[] {
  const config = spec.config;
  const missing = Object.keys(defaults);
  if (config === null || missing.length === 0) return params;
  const at = configIndex(config, params) ?? config.index;
  const present = params[at] ?? null;
  const object = present === null ? {} : asObject(present);
  if (object === null) return params;
  const filled: Record<string, JsonValue | undefined> = { ...object };
  for (const [name, value] of Object.entries(defaults)) filled[name] ??= value;
  const completed = [...params];
  // Nothing is missing before it: a method with defaults requires its parameters.
  completed[at] = filled;
  return completed;
}

/**
 * The parameters as the cache key has them: the commitment selects the cache, a configuration object that says nothing
 * else and nulls at the end are as good as absent.
 */
function withoutCommitment(spec: RpcMethodSpec, params: readonly JsonValue[]): readonly JsonValue[] {
  const kept = [...params];
  const at = configIndex(spec.config, params);
  const object = at === null ? null : asObject(params[at]);
  if (at !== null && object !== null) kept[at] = emptyAsNull(object);
  while (kept.at(-1) === null) kept.pop();
  return kept;
}

function emptyAsNull(config: JsonObject): JsonValue {
  const rest = Object.entries(config).filter(([name, value]) => name !== "commitment" && value !== null);
  return rest.length === 0 ? null : Object.fromEntries(rest);
}

/** What is wrong with a call's parameters, in one sentence that names the parameter; null when nothing is. */
export type ParameterFault = string | null;

export type JsonObject = { readonly [key: string]: JsonValue | undefined };

/**
 * Checks the positional parameters and the configuration object of a known method (decisions: Validation at the door).
 */
export function checkParameters(spec: RpcMethodSpec, params: readonly JsonValue[]): ParameterFault {
  const most = spec.parameters.length + (spec.config === null ? 0 : 1);
  if (params.length > most) return `expected at most ${most} parameters, got ${params.length}`;
  const configAt = configIndex(spec.config, params);
  for (const [index, parameter] of spec.parameters.entries()) {
    if (configAt !== null && index >= configAt) break;
    const value = params[index];
    if (value === undefined || value === null) {
      if (parameter.required) return `parameter ${index + 1} (${parameter.name}) is missing`;
      continue;
    }
    const problem = checkValue(parameter.value, value) ?? checkRange(parameter.rangeMax, params[0], value);
    if (problem !== null) return `parameter ${index + 1} (${parameter.name}) ${problem}`;
  }
  const config = spec.config;
  const value = configAt === null ? undefined : params[configAt];
  if (config === null || value === undefined || value === null) return null;
  return checkConfig(config, value);
}

/** The text of a transaction by its encoding, base58 unless the configuration says base64. */
function checkTransaction(spec: RpcMethodSpec, params: readonly JsonValue[]): string | null {
  const [text] = params;
  if (spec.parameters[0]?.value.kind !== "transaction" || typeof text !== "string") return null;
  const at = configIndex(spec.config, params);
  const encoding = at === null ? null : asObject(params[at])?.["encoding"];
  return transactionTextFault(text, encoding === "base64" ? "base64" : "base58");
}

/** Where the configuration object stands: old clients may leave out optional parameters before it. Null: not given. */
export function configIndex(config: ConfigSpec | null, params: readonly JsonValue[]): number | null {
  if (config === null) return null;
  if (params.length > config.index) return config.index;
  const found = params.findIndex((value, index) => index >= config.earliestIndex && asObject(value) !== null);
  return found < 0 ? null : found;
}

export function asObject(value: JsonValue | undefined): JsonObject | null {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  return value as JsonObject;
}

function checkConfig(config: ConfigSpec, value: JsonValue): ParameterFault {
  const encoding = config.fields["encoding"];
  if (config.bareEncoding && typeof value === "string" && encoding !== undefined) {
    const problem = checkValue(encoding, value);
    return problem === null ? null : `encoding ${problem}`;
  }
  const object = asObject(value);
  if (object === null) return `parameter ${config.index + 1} (config) must be an object`;
  for (const [name, kind] of Object.entries(config.fields)) {
    const field = Object.hasOwn(object, name) ? object[name] : undefined;
    if (field === undefined || field === null) continue;
    const problem = checkValue(kind, field);
    if (problem !== null) return `${name} ${problem}`;
  }
  return null;
}

/** The predicate that a wrong value fails, to follow the parameter's name. */
function checkValue(kind: ParameterKind, value: JsonValue): ParameterFault {
  switch (kind.kind) {
    case "address":
    case "blockhash":
      return isAddress(value) ? null : "must be 32 bytes in base58";
    case "signature":
      return isSignature(value) ? null : "must be 64 bytes in base58";
    case "text":
    case "transaction":
      return typeof value === "string" && value !== "" ? null : "must be a string that is not empty";
    case "boolean":
      return typeof value === "boolean" ? null : "must be true or false";
    case "integer":
      return checkInteger(value, kind.min, kind.max);
    case "choice":
      return typeof value === "string" && kind.values.includes(value)
        ? null
        : `must be one of ${kind.values.join(", ")}`;
    case "addresses":
      return checkEach(value, kind.max, isAddress, "32 bytes in base58");
    case "signatures":
      return checkEach(value, kind.max, isSignature, "64 bytes in base58");
    case "list":
      return checkEach(value, kind.max, () => true, "");
    case "object":
      return asObject(value) === null ? "must be an object" : null;
    case "dataSlice":
      return checkDataSlice(value);
    case "tokenFilter":
      return checkTokenFilter(value);
    case "logsFilter":
      return checkLogsFilter(value);
    case "blockFilter":
      return checkBlockFilter(value);
    case "any":
      return null;
  }
}

function checkInteger(value: JsonValue, min: bigint, max: bigint): ParameterFault {
  const whole = typeof value === "bigint" || (typeof value === "number" && Number.isSafeInteger(value));
  return whole && value >= min && value <= max ? null : `must be a whole number from ${min} to ${max}`;
}

function checkRange(max: bigint | undefined, first: JsonValue | undefined, last: JsonValue): ParameterFault {
  if (max === undefined) return null;
  const [start, end] = [asWhole(first), asWhole(last)];
  return start !== null && end !== null && end - start > max ? `must be at most ${max} beyond the first` : null;
}

function checkEach(value: JsonValue, max: number, test: (item: unknown) => boolean, form: string): ParameterFault {
  if (!Array.isArray(value)) return "must be an array";
  if (value.length > max) return `must hold at most ${max} entries`;
  const wrong = value.findIndex((item) => !test(item));
  return wrong < 0 ? null : `entry ${wrong + 1} must be ${form}`;
}

const usizeMax = 18446744073709551615n;

function checkDataSlice(value: JsonValue): ParameterFault {
  const slice = asObject(value);
  if (slice === null) return "must be an object with offset and length";
  for (const name of ["offset", "length"]) {
    const field = slice[name];
    const problem = field === undefined ? "is missing" : checkInteger(field, 0n, usizeMax);
    if (problem !== null) return `${name} ${problem}`;
  }
  return null;
}

/** Token accounts are asked for by their mint or by the program that owns them. */
function checkTokenFilter(value: JsonValue): ParameterFault {
  const filter = asObject(value);
  const name = (["mint", "programId"] as const).find((each) => filter !== null && Object.hasOwn(filter, each));
  if (filter === null || name === undefined) return "must be an object with mint or programId";
  return isAddress(filter[name]) ? null : `${name} must be 32 bytes in base58`;
}

/** What logs are asked for by: all, or those of transactions that name one address. */
function checkLogsFilter(value: JsonValue): ParameterFault {
  if (value === "all" || value === "allWithVotes") return null;
  const mentions = asObject(value)?.["mentions"];
  return Array.isArray(mentions) && mentions.length === 1 && isAddress(mentions[0])
    ? null
    : "must be all, allWithVotes, or an object whose mentions hold one address";
}

function checkBlockFilter(value: JsonValue): ParameterFault {
  return value === "all" || isAddress(asObject(value)?.["mentionsAccountOrProgram"])
    ? null
    : "must be all, or an object with the address mentionsAccountOrProgram";
}
