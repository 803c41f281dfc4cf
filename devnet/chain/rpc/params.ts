import { decodeAddress, decodeBase58, decodeSignature } from "@sluice/wire/base58";
import type { JsonObject, JsonValue } from "../encode/index.ts";
import type { Commitment } from "../model/index.ts";
import { invalidParams, type RpcError } from "./errors.ts";

/** Names a JSON value as the node's deserialiser does in its messages. */
function describe(value: JsonValue | undefined): string {
  if (value === null || value === undefined) return "null";
  if (typeof value === "boolean") return `boolean \`${value}\``;
  if (typeof value === "string") return `string ${JSON.stringify(value)}`;
  if (typeof value === "bigint" || Number.isInteger(value)) return `integer \`${String(value)}\``;
  if (typeof value === "number") return `floating point \`${value}\``;
  return Array.isArray(value) ? "sequence" : "map";
}

export function wrongType(value: JsonValue | undefined, expected: string): RpcError {
  return invalidParams(`Invalid params: invalid type: ${describe(value)}, expected ${expected}.`);
}

export function unknownVariant(value: string, variants: readonly string[]): RpcError {
  const names = variants.map((name) => `\`${name}\``);
  const expected = names.length === 2 ? names.join(" or ") : `one of ${names.join(", ")}`;
  return invalidParams(`Invalid params: unknown variant \`${value}\`, expected ${expected}.`);
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An object parameter; null and absent give null. */
export function configAt(params: readonly JsonValue[], position: number, name = "struct"): JsonObject | null {
  const value = params[position];
  if (value === undefined || value === null) return null;
  if (!isObject(value)) throw wrongType(value, name);
  return value;
}

export function objectValue(value: JsonValue | undefined, name: string): JsonObject {
  if (!isObject(value)) throw wrongType(value, name);
  return value;
}

export function stringValue(value: JsonValue | undefined): string {
  if (typeof value !== "string") throw wrongType(value, "a string");
  return value;
}

const U64_MAX = 0xffff_ffff_ffff_ffffn;

export function u64Value(value: JsonValue | undefined, type: "u64" | "usize" = "u64"): bigint {
  if (typeof value === "bigint" && value >= 0n && value <= U64_MAX) return value;
  if (typeof value === "number" && Number.isInteger(value) && value >= 0) return BigInt(value);
  if (typeof value === "bigint" || (typeof value === "number" && Number.isInteger(value))) {
    throw invalidParams(`Invalid params: invalid value: integer \`${String(value)}\`, expected ${type}.`);
  }
  throw wrongType(value, type);
}

/** A u64 member of a config; null and absent give undefined. */
export function u64Member(config: JsonObject | null, name: string): bigint | undefined {
  const value = config?.[name];
  return value === undefined || value === null ? undefined : u64Value(value);
}

export function booleanMember(config: JsonObject | null, name: string, absent: boolean): boolean {
  const value = config?.[name];
  if (value === undefined || value === null) return absent;
  if (typeof value !== "boolean") throw wrongType(value, "a boolean");
  return value;
}

/** A member that is one of some strings; null and absent give `absent`. */
export function variantMember<Variant extends string, Absent>(
  config: JsonObject | null,
  name: string,
  variants: readonly Variant[],
  absent: Absent,
): Variant | Absent {
  const value = config?.[name];
  if (value === undefined || value === null) return absent;
  return variantValue(value, variants);
}

export function variantValue<Variant extends string>(
  value: JsonValue | undefined,
  variants: readonly Variant[],
): Variant {
  const text = stringValue(value);
  const known = variants.find((variant) => variant === text);
  if (known === undefined) throw unknownVariant(text, variants);
  return known;
}

function wrongBytes(text: string): RpcError {
  return invalidParams(decodeBase58(text, 128) === null ? "Invalid param: Invalid" : "Invalid param: WrongSize");
}

/** An address or a blockhash: base58 of 32 bytes. */
export function addressValue(value: JsonValue | undefined): string {
  const text = stringValue(value);
  if (decodeAddress(text) === null) throw wrongBytes(text);
  return text;
}

/** Base58 of 64 bytes. */
export function signatureValue(value: JsonValue | undefined): string {
  const text = stringValue(value);
  if (decodeSignature(text) === null) throw wrongBytes(text);
  return text;
}

export function listValue(value: JsonValue | undefined): readonly JsonValue[] {
  if (!Array.isArray(value)) throw wrongType(value, "a sequence");
  return value;
}

export const COMMITMENTS: readonly Commitment[] = ["processed", "confirmed", "finalized"];

/**
 * The commitment of a config that holds more than it. An unknown string counts as absent, since the node flattens the
 * member into an option; absent is finalized.
 */
export function commitmentMember(config: JsonObject | null): Commitment {
  const value = config?.["commitment"];
  return COMMITMENTS.find((commitment) => commitment === value) ?? "finalized";
}

/** The commitment where the object is nothing else: there an unknown string and a missing member are refused. */
export function bareCommitmentAt(params: readonly JsonValue[], position: number): Commitment {
  const config = configAt(params, position, "struct CommitmentConfig");
  if (config === null) return "finalized";
  if (config["commitment"] === undefined) throw invalidParams("Invalid params: missing field `commitment`.");
  return variantValue(config["commitment"], COMMITMENTS);
}

/** The commitment of a method that reads the ledger, where processed blocks do not count. */
export function ledgerCommitment(config: JsonObject | null): "confirmed" | "finalized" {
  const commitment = commitmentMember(config);
  if (commitment === "processed") throw invalidParams("Method does not support commitment below `confirmed`");
  return commitment;
}
