import { pubsubMethods, type RpcMethodSpec } from "@sluice/contract/rpc";
import { isAddress, isSignature } from "@sluice/wire/identifiers";
import { type JsonValue, parseJsonExact } from "@sluice/wire/json";
import { notAnArray } from "./envelope.ts";
import { asObject, checkParameters, configIndex } from "./plan.ts";

/** Why a PubSub call is answered here and not passed to a node. */
export interface PubSubRefusal {
  readonly code: "PARSE_ERROR" | "METHOD_NOT_FOUND" | "INVALID_PARAMS";
  /** Null for the text of the code. */
  readonly message: string | null;
}

/**
 * Checks a PubSub call: its method, its parameters and its options. Null when it may be passed to a node.
 * `allowUnknownMethods` lets methods pass that the table does not know, with whatever parameters they have.
 */
export function checkPubSubCall(
  { method, params }: { readonly method: string; readonly params: string | null },
  { allowUnknownMethods }: { readonly allowUnknownMethods: boolean },
): PubSubRefusal | null {
  const parsed = parseJsonExact(params ?? "[]");
  if (!parsed.ok) return { code: "PARSE_ERROR", message: null };
  const spec = pubsubMethods.get(method);
  if (spec === undefined) return allowUnknownMethods ? null : { code: "METHOD_NOT_FOUND", message: null };
  if (!Array.isArray(parsed.value)) return { code: "INVALID_PARAMS", message: notAnArray };
  const values = parsed.value as readonly JsonValue[];
  const message = faultInNodesWords(spec, values);
  if (message !== null) return { code: "INVALID_PARAMS", message };
  const fault = checkParameters(spec, values);
  return fault === null ? null : { code: "INVALID_PARAMS", message: `Invalid params: ${fault}` };
}

const invalid = (name: string): string => `Invalid Request: Invalid ${name} provided`;

/** The faults for which a node has words of its own (wire facts, PubSub and Limits). */
function faultInNodesWords(spec: RpcMethodSpec, params: readonly JsonValue[]): string | null {
  const at = configIndex(spec.config, params);
  const config = at === null ? null : asObject(params[at]);
  if (spec.commitment?.least === "confirmed" && config?.["commitment"] === "processed") {
    return "Method does not support commitment below `confirmed`";
  }
  const filters = config?.["filters"];
  const kind = spec.config?.fields["filters"];
  if (Array.isArray(filters) && kind?.kind === "list" && filters.length > kind.max) {
    return `Too many filters provided; max ${kind.max}`;
  }
  return keyFault(spec, params[0]);
}

/** An address or a signature that is none, alone or in a filter. */
function keyFault({ parameters: [parameter] }: RpcMethodSpec, value: JsonValue | undefined): string | null {
  switch (parameter?.value.kind) {
    case "address":
      return typeof value === "string" && !isAddress(value) ? invalid(parameter.name) : null;
    case "signature":
      return typeof value === "string" && !isSignature(value) ? invalid(parameter.name) : null;
    case "logsFilter": {
      const mentions = asObject(value)?.["mentions"];
      if (!Array.isArray(mentions)) return null;
      if (mentions.length !== 1) return "Invalid Request: Only 1 address supported";
      return typeof mentions[0] === "string" && !isAddress(mentions[0]) ? invalid("mentions") : null;
    }
    case "blockFilter": {
      const name = "mentionsAccountOrProgram";
      const mentioned = asObject(value)?.[name];
      return typeof mentioned === "string" && !isAddress(mentioned) ? invalid("mentions_account_or_program") : null;
    }
    default:
      return null;
  }
}
