import type { CommitmentName, RpcMethodSpec } from "@sluice/contract/rpc";
import { canonicalJson, type JsonValue, parseJsonExact } from "@sluice/wire/json";
import { asObject, checkParameters, configIndex, type JsonObject } from "./check-parameter.ts";
import { notAnArray } from "./envelope.ts";

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
  if (!Array.isArray(parsed.value)) return refused("INVALID_PARAMS", notAnArray);
  const params = parsed.value as readonly JsonValue[];
  const problem = checkParameters(spec, params);
  if (problem !== null) return refused("INVALID_PARAMS", `Invalid params: ${problem}`);
  const stated = spec.defaults["commitment"];
  const plan = makePlan(spec, params, text, spec.defaults);
  if (stated === undefined || statedCommitment(spec, params) !== null) return { plan, withNodeDefault: null };
  const { commitment: _commitment, ...others } = spec.defaults;
  return { plan, withNodeDefault: makePlan(spec, params, text, others) };
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
  given: readonly JsonValue[],
  text: string | null,
  defaults: Readonly<Record<string, string>>,
): Plan {
  const params = withDefaults(spec, given, defaults);
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
    slot: spec.parameters[0]?.name === "slot" ? asSlot(params[0]) : null,
  };
}

function asSlot(value: JsonValue | undefined): bigint | null {
  return typeof value === "bigint" || typeof value === "number" ? BigInt(value) : null;
}

function statedCommitment(spec: RpcMethodSpec, params: readonly JsonValue[]): CommitmentName | null {
  const at = configIndex(spec.config, params);
  const value = at === null ? null : asObject(params[at])?.["commitment"];
  return value === "processed" || value === "confirmed" || value === "finalized" ? value : null;
}

function statedMinimum(spec: RpcMethodSpec, params: readonly JsonValue[]): bigint | null {
  const at = configIndex(spec.config, params);
  return at === null ? null : asSlot(asObject(params[at])?.["minContextSlot"]);
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
  while (completed.length < at) completed.push(null);
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
  while (kept.length > 0 && kept[kept.length - 1] === null) kept.pop();
  return kept;
}

function emptyAsNull(config: JsonObject): JsonValue {
  const rest = Object.entries(config).filter(([name, value]) => name !== "commitment" && value !== null);
  return rest.length === 0 ? null : Object.fromEntries(rest);
}
