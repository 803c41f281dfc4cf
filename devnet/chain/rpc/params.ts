import type { JsonObject, JsonValue } from "@sluice/encode";
import { decodeAddress, decodeBase58, decodeSignature } from "@sluice/wire/base58";
import { parseTransaction, type Transaction } from "@sluice/wire/transaction";
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

const u64Max = 0xffff_ffff_ffff_ffffn;

export function u64Value(value: JsonValue | undefined, type: "u64" | "usize" = "u64"): bigint {
  if (typeof value === "bigint" && value >= 0n && value <= u64Max) return value;
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

export const commitments: readonly Commitment[] = ["processed", "confirmed", "finalized"];

/**
 * The commitment of a config that holds more than it. An unknown string counts as absent, since the node flattens the
 * member into an option; absent is finalized.
 */
export function commitmentMember(config: JsonObject | null): Commitment {
  const value = config?.["commitment"];
  return commitments.find((commitment) => commitment === value) ?? "finalized";
}

/** The commitment where the object is nothing else: there an unknown string and a missing member are refused. */
export function bareCommitmentAt(params: readonly JsonValue[], position: number): Commitment {
  const config = configAt(params, position, "struct CommitmentConfig");
  if (config === null) return "finalized";
  if (config["commitment"] === undefined) throw invalidParams("Invalid params: missing field `commitment`.");
  return variantValue(config["commitment"], commitments);
}

/** The commitment of a method that reads the ledger, where processed blocks do not count. */
export function ledgerCommitment(config: JsonObject | null): "confirmed" | "finalized" {
  const commitment = commitmentMember(config);
  if (commitment === "processed") throw invalidParams("Method does not support commitment below `confirmed`");
  return commitment;
}

const transactionType = "solana_transaction::versioned::VersionedTransaction";
const legacyBytesMax = 1_232;
const legacyBase58Max = 1_683;
const legacyBase64Max = 1_644;
const v1BytesMax = 4_096;
const v1Base64Max = 5_464;
const v1FirstByte = 0x81;
const base64Pattern = /^[A-Za-z0-9+/]*={0,2}$/;

/** Faults that are the runtime's to find after the bytes were read: the node words them differently. */
const sanitizeFaults: ReadonlySet<string> = new Set([
  "NO_SIGNERS",
  "TOO_MANY_SIGNERS",
  "FEE_PAYER_READONLY",
  "READONLY_OVERLAP",
  "SIGNATURE_COUNT_MISMATCH",
  "TOO_MANY_KEYS",
  "TOO_MANY_INSTRUCTIONS",
  "PROGRAM_INDEX_OUT_OF_RANGE",
  "PROGRAM_IS_FEE_PAYER",
  "ACCOUNT_INDEX_OUT_OF_RANGE",
  "EMPTY_LOOKUP",
  "INVALID_CONFIG_MASK",
  "INVALID_HEAP_SIZE",
]);

function tooLarge(encoding: string, type: string, bytes: number, encodedMax: number, rawMax: number): Error {
  return invalidParams(
    `${encoding} encoded ${type} too large: ${bytes} bytes (max: encoded/raw ${encodedMax}/${rawMax})`,
  );
}

/** Base64 with padding, to bytes; `type` is what the node says it expected. */
export function decodeBase64(text: string, type: string): Uint8Array {
  // The first byte decides which limit holds: a v1 transaction begins with 0x81, a count of signatures never does.
  const v1 = text.length >= 2 && (Buffer.from(text.slice(0, 4), "base64")[0] ?? 0) >= v1FirstByte;
  const encodedMax = v1 ? v1Base64Max : legacyBase64Max;
  const rawMax = v1 ? v1BytesMax : legacyBytesMax;
  if (text.length > encodedMax) throw tooLarge("base64", type, text.length, encodedMax, rawMax);
  if (text.length % 4 !== 0 || !base64Pattern.test(text)) {
    throw invalidParams(`invalid base64 encoding: InvalidPadding`);
  }
  // The text was checked: white space, which this would skip, is not in it.
  const bytes = Uint8Array.fromBase64(text);
  if (bytes.length > rawMax) throw tooLarge("base64", type, bytes.length, encodedMax, rawMax);
  return bytes;
}

function decodeText(text: string, encoding: string): Uint8Array {
  if (encoding === "base64") return decodeBase64(text, transactionType);
  if (text.length > legacyBase58Max) {
    throw tooLarge("base58", transactionType, text.length, legacyBase58Max, legacyBytesMax);
  }
  const bytes = decodeBase58(text, legacyBytesMax + 64);
  if (bytes === null) throw invalidParams("invalid base58 encoding: InvalidCharacter");
  if (bytes.length > legacyBytesMax) {
    throw tooLarge("base58", transactionType, bytes.length, legacyBase58Max, legacyBytesMax);
  }
  return bytes;
}

/**
 * Decodes and parses the transaction of sendTransaction and simulateTransaction; base58 unless the config says base64.
 */
export function transactionInput(text: string, config: JsonObject | null): Transaction {
  const requested = config?.["encoding"];
  const encoding = requested === undefined || requested === null ? "base58" : stringValue(requested);
  if (encoding !== "base58" && encoding !== "base64") {
    throw invalidParams(`unsupported encoding: ${encoding}. Supported encodings: base58, base64`);
  }
  return parsedTransaction(decodeText(text, encoding));
}

/** Parses bytes strictly; a fault is worded as the node words it. */
export function parsedTransaction(bytes: Uint8Array): Transaction {
  const parsed = parseTransaction(bytes);
  if (parsed.ok) return parsed.transaction;
  if (parsed.fault === "DUPLICATE_KEY") throw invalidParams("invalid transaction: Account loaded twice");
  if (sanitizeFaults.has(parsed.fault)) {
    throw invalidParams("invalid transaction: Transaction failed to sanitize accounts offsets correctly");
  }
  throw invalidParams(`failed to deserialize ${transactionType}: ${parsed.fault} at byte ${parsed.offset}`);
}
