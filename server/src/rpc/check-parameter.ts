import type { ConfigSpec, ParameterKind, RpcMethodSpec } from "@sluice/contract/rpc";
import { isAddress, isSignature } from "@sluice/wire/identifiers";
import type { JsonValue } from "@sluice/wire/json";

/** What is wrong with a call's parameters, in one sentence that names the parameter; null when nothing is. */
export type ParameterFault = string | null;

export type JsonObject = { readonly [key: string]: JsonValue | undefined };

/** Checks the positional parameters and the configuration object of a known method (decisions: Validation at the door). */
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

/** Where the configuration object stands: old clients may leave out optional parameters before it. Null: not given. */
export function configIndex(config: ConfigSpec | null, params: readonly JsonValue[]): number | null {
  if (config === null) return null;
  if (params.length > config.index) return config.index;
  for (let index = config.earliestIndex; index < params.length; index += 1) {
    if (asObject(params[index]) !== null) return index;
  }
  return null;
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
    case "any":
      return null;
  }
}

function checkInteger(value: JsonValue, min: bigint, max: bigint): ParameterFault {
  const whole = typeof value === "bigint" || (typeof value === "number" && Number.isSafeInteger(value));
  return whole && value >= min && value <= max ? null : `must be a whole number from ${min} to ${max}`;
}

function checkRange(max: bigint | undefined, start: JsonValue | undefined, end: JsonValue): ParameterFault {
  if (max === undefined || !isNumeric(start) || !isNumeric(end)) return null;
  return BigInt(end) - BigInt(start) > max ? `must be at most ${max} beyond the first` : null;
}

function isNumeric(value: JsonValue | undefined): value is number | bigint {
  return typeof value === "bigint" || typeof value === "number";
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
