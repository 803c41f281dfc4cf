import { decodeBase58 } from "@sluice/wire/base58";

/** What a node says that it could not read. */
const typeName = "solana_transaction::versioned::VersionedTransaction";

/** Largest text and largest transaction, in characters and bytes (wire facts, Limits). */
interface SizeLimits {
  readonly text: number;
  readonly raw: number;
}

const base58Limits: SizeLimits = { text: 1_683, raw: 1_232 };
const base64Limits: SizeLimits = { text: 1_644, raw: 1_232 };
/** A transaction of version 1 begins with a byte of this value or more, which a count of signatures never has. */
const v1FirstByte = 0x81;
const base64LimitsV1: SizeLimits = { text: 5_464, raw: 4_096 };

/** Base58 of so many characters without leading ones is at most `base58Limits.raw` bytes, so it need not be decoded. */
const shortBase58 = 1_682;
const notBase58 = /[^1-9A-HJ-NP-Za-km-z]/;
const notBase64 = /[^A-Za-z0-9+/]/;

/** Why a node would refuse the text of a transaction, in its words; null for text that decodes to a size it takes. */
export function transactionTextFault(text: string, encoding: "base58" | "base64"): string | null {
  return encoding === "base58" ? base58Fault(text) : base64Fault(text);
}

const tooLarge = (encoding: string, size: number, { text, raw }: SizeLimits): string =>
  `${encoding} encoded ${typeName} too large: ${size} bytes (max: encoded/raw ${text}/${raw})`;

function base58Fault(text: string): string | null {
  if (text.length > base58Limits.text) return tooLarge("base58", text.length, base58Limits);
  const at = text.search(notBase58);
  if (at >= 0) {
    return `invalid base58 encoding: InvalidCharacter { character: '${text.charAt(at)}', index: ${at} }`;
  }
  if (text.length <= shortBase58 && !text.startsWith("1")) return null;
  const size = decodeBase58(text, base58Limits.text)?.length ?? text.length;
  return size > base58Limits.raw ? tooLarge("base58", size, base58Limits) : null;
}

function base64Fault(text: string): string | null {
  const firstByte = Buffer.from(text.slice(0, 4), "base64")[0] ?? 0;
  const limits = firstByte >= v1FirstByte ? base64LimitsV1 : base64Limits;
  if (text.length > limits.text) return tooLarge("base64", text.length, limits);
  const digits = text.endsWith("==") ? text.length - 2 : text.endsWith("=") ? text.length - 1 : text.length;
  const at = text.slice(0, digits).search(notBase64);
  if (at >= 0) return `invalid base64 encoding: InvalidByte(${at}, ${text.charCodeAt(at)})`;
  if (text.length % 4 !== 0) return "invalid base64 encoding: InvalidPadding";
  const size = Math.floor((digits * 3) / 4);
  return size > limits.raw ? tooLarge("base64", size, limits) : null;
}
