import { engineLimits, type MevType } from "@sluice/contract";

/**
 * An encrypted bundle on the wire: version (1 byte), the suite's three ids (6), the key's id (8), the encapsulated key
 * (32) and the ciphertext. Decided for this project, as the specification shows no form.
 */
export interface Envelope {
  /** 16 hexadecimal digits. */
  readonly keyId: string;
  /** 32 bytes, new for each envelope. */
  readonly enc: Uint8Array;
  readonly ciphertext: Uint8Array;
}

const version = 1;
/** DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, ChaCha20-Poly1305. Source: RFC 9180, sections 7.1 to 7.3. */
export const suiteIds: readonly number[] = [0x00, 0x20, 0x00, 0x01, 0x00, 0x03];
const keyIdStart = 1 + suiteIds.length;
const encStart = keyIdStart + 8;
const ciphertextStart = encStart + 32;
const tagBytes = 16;
const ciphertextSizes: ReadonlySet<number> = new Set(engineLimits.sealedPaddings.map((bytes) => bytes + tagBytes));

/** Null for bytes that are no envelope of this version and suite, or not of one of the padded sizes. */
export function readEnvelope(bytes: Uint8Array): Envelope | null {
  if (bytes[0] !== version || !ciphertextSizes.has(bytes.length - ciphertextStart)) return null;
  if (suiteIds.some((id, index) => bytes[index + 1] !== id)) return null;
  return {
    keyId: Buffer.from(bytes.subarray(keyIdStart, encStart)).toString("hex"),
    enc: bytes.slice(encStart, ciphertextStart),
    ciphertext: bytes.slice(ciphertextStart),
  };
}

/** What is claimed outside of the ciphertext, and bound to it. */
export interface EnvelopeClaims {
  readonly network: string;
  readonly keyId: string;
  readonly tip: bigint;
  readonly mevType: MevType;
  readonly targetSlot: bigint | null;
}

/** The additional data of the encryption: the claims as text, a line each, an empty line for no target slot. */
export function additionalData({ network, keyId, tip, mevType, targetSlot }: EnvelopeClaims): Uint8Array {
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

/** Fills up to the next size with one byte 0x80 and zeros (ISO/IEC 7816-4). Null for what is too long. */
export function pad(message: Uint8Array): Uint8Array | null {
  const size = engineLimits.sealedPaddings.find((bytes) => bytes > message.length);
  if (size === undefined) return null;
  const padded = new Uint8Array(size);
  padded.set(message);
  padded[message.length] = paddingMark;
  return padded;
}

/** The message within its padding; null where there is none. */
export function unpad(padded: Uint8Array): Uint8Array | null {
  let end = padded.length;
  while (end > 0 && padded[end - 1] === 0) end -= 1;
  return padded[end - 1] === paddingMark ? padded.subarray(0, end - 1) : null;
}

/** The id of an encrypted bundle: the hexadecimal SHA-256 of its envelope. */
export function envelopeId(bytes: Uint8Array): string {
  return new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
}
