import { decodeBase58 } from "@sluice/wire/base58";
import { parseTransaction, type Transaction } from "@sluice/wire/transaction";
import type { JsonObject } from "../encode/index.ts";
import { invalidParams } from "./errors.ts";
import { stringValue } from "./params.ts";

const TRANSACTION_TYPE = "solana_transaction::versioned::VersionedTransaction";
const LEGACY_BYTES_MAX = 1_232;
const LEGACY_BASE58_MAX = 1_683;
const LEGACY_BASE64_MAX = 1_644;
const V1_BYTES_MAX = 4_096;
const V1_BASE64_MAX = 5_464;
const V1_FIRST_BYTE = 0x81;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Faults that are the runtime's to find after the bytes were read: the node words them differently. */
const SANITIZE_FAULTS: ReadonlySet<string> = new Set([
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
  const v1 = text.length >= 2 && (Buffer.from(text.slice(0, 4), "base64")[0] ?? 0) >= V1_FIRST_BYTE;
  const encodedMax = v1 ? V1_BASE64_MAX : LEGACY_BASE64_MAX;
  const rawMax = v1 ? V1_BYTES_MAX : LEGACY_BYTES_MAX;
  if (text.length > encodedMax) throw tooLarge("base64", type, text.length, encodedMax, rawMax);
  if (text.length % 4 !== 0 || !BASE64.test(text)) {
    throw invalidParams(`invalid base64 encoding: InvalidPadding`);
  }
  // The text was checked: white space, which this would skip, is not in it.
  const bytes = Uint8Array.fromBase64(text);
  if (bytes.length > rawMax) throw tooLarge("base64", type, bytes.length, encodedMax, rawMax);
  return bytes;
}

function decodeText(text: string, encoding: string): Uint8Array {
  if (encoding === "base64") return decodeBase64(text, TRANSACTION_TYPE);
  if (text.length > LEGACY_BASE58_MAX) {
    throw tooLarge("base58", TRANSACTION_TYPE, text.length, LEGACY_BASE58_MAX, LEGACY_BYTES_MAX);
  }
  const bytes = decodeBase58(text, LEGACY_BYTES_MAX + 64);
  if (bytes === null) throw invalidParams("invalid base58 encoding: InvalidCharacter");
  if (bytes.length > LEGACY_BYTES_MAX) {
    throw tooLarge("base58", TRANSACTION_TYPE, bytes.length, LEGACY_BASE58_MAX, LEGACY_BYTES_MAX);
  }
  return bytes;
}

/** Decodes and parses the transaction of sendTransaction and simulateTransaction; base58 unless the config says base64. */
export function transactionInput(text: string, config: JsonObject | null): Transaction {
  const given = config?.["encoding"];
  const encoding = given === undefined || given === null ? "base58" : stringValue(given);
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
  if (SANITIZE_FAULTS.has(parsed.fault)) {
    throw invalidParams("invalid transaction: Transaction failed to sanitize accounts offsets correctly");
  }
  throw invalidParams(`failed to deserialize ${TRANSACTION_TYPE}: ${parsed.fault} at byte ${parsed.offset}`);
}
