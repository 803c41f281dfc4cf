/**
 * The form of an encrypted bundle, for those who seal one and for the engine that opens it: version (1 byte), the
 * suite's three ids (6), the key's id (8), the encapsulated key (32) and the ciphertext. Decided for this project, as
 * the specification shows no form.
 */
import { engineLimits, type MevType } from "./engine.ts";

/** An encrypted bundle, cut into its parts. */
export interface SealedEnvelope {
  /** 16 lowercase hexadecimal digits. */
  readonly keyId: string;
  /** The encapsulated key: 32 bytes, new for each envelope. */
  readonly enc: Uint8Array;
  readonly ciphertext: Uint8Array;
}

const version = 1;
/** DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, ChaCha20-Poly1305. Source: RFC 9180, sections 7.1 to 7.3. */
const suiteIds: readonly number[] = [0x00, 0x20, 0x00, 0x01, 0x00, 0x03];
const keyIdStart = 1 + suiteIds.length;
const encStart = keyIdStart + 8;
const ciphertextStart = encStart + 32;
const tagBytes = 16;
const ciphertextSizes: ReadonlySet<number> = new Set(engineLimits.sealedPaddings.map((bytes) => bytes + tagBytes));

/**
 * Reads an envelope: version 1 (1 byte), the suite's three ids (6), key id (8), encapsulated key (32), ciphertext.
 *
 * @returns null for another version or suite, or a length that is not one of the padded sizes
 */
export function readEnvelope(bytes: Uint8Array): SealedEnvelope | null {
  if (bytes[0] !== version || !ciphertextSizes.has(bytes.length - ciphertextStart)) return null;
  if (suiteIds.some((id, index) => bytes[index + 1] !== id)) return null;
  const digits = Array.from(bytes.subarray(keyIdStart, encStart), (byte) => byte.toString(16).padStart(2, "0"));
  return {
    keyId: digits.join(""),
    enc: bytes.slice(encStart, ciphertextStart),
    ciphertext: bytes.slice(ciphertextStart),
  };
}

/**
 * Writes an envelope that `readEnvelope` reads.
 *
 * @throws {RangeError} when the key id is not 16 lowercase hexadecimal digits, or the encapsulated key has not 32 bytes
 */
export function writeEnvelope({ keyId, enc, ciphertext }: SealedEnvelope): Uint8Array {
  if (!/^[0-9a-f]{16}$/.test(keyId)) throw new RangeError("a key id is 16 lowercase hexadecimal digits");
  if (enc.length !== ciphertextStart - encStart) throw new RangeError("an encapsulated key is 32 bytes");
  const bytes = new Uint8Array(ciphertextStart + ciphertext.length);
  bytes.set([version, ...suiteIds]);
  for (let index = 0; index < 8; index++) {
    bytes[keyIdStart + index] = Number.parseInt(keyId.slice(index * 2, index * 2 + 2), 16);
  }
  bytes.set(enc, encStart);
  bytes.set(ciphertext, ciphertextStart);
  return bytes;
}

/** What is claimed outside of the ciphertext, and bound to it as additional data. */
export interface SealedClaims {
  readonly network: string;
  readonly keyId: string;
  /** Lamports. */
  readonly tip: bigint;
  readonly mevType: MevType;
  readonly targetSlot: bigint | null;
}

/** The additional data of the encryption: the claims as text, a line each, an empty line for no target slot. */
export function additionalData({ network, keyId, tip, mevType, targetSlot }: SealedClaims): Uint8Array {
  const lines = [
    "sluice-bundle-v1",
    network,
    keyId,
    String(tip),
    mevType,
    targetSlot === null ? "" : String(targetSlot),
  ];
  return new TextEncoder().encode(lines.join("\n"));
}

const paddingMark = 0x80;

/**
 * Fills a message up to the next size with one byte 0x80 and zeros (ISO/IEC 7816-4).
 *
 * @returns null when the message is longer than the largest size takes
 */
export function pad(message: Uint8Array): Uint8Array | null {
  const size = engineLimits.sealedPaddings.find((bytes) => bytes > message.length);
  if (size === undefined) return null;
  const padded = new Uint8Array(size);
  padded.set(message);
  padded[message.length] = paddingMark;
  return padded;
}

/** The message within its padding, as a view; null when there is no padding. */
export function unpad(padded: Uint8Array): Uint8Array | null {
  let end = padded.length;
  while (end > 0 && padded[end - 1] === 0) end -= 1;
  return padded[end - 1] === paddingMark ? padded.subarray(0, end - 1) : null;
}
