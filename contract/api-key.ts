/**
 * The form of an API key: `sk_<environment>_<22 base62 characters>_<6-character checksum>`. The checksum lets an
 * endpoint refuse a mistyped key without a look-up; it is not a secret and proves nothing about a key's validity.
 */

/** The environments of keys. */
export const keyEnvironments = ["live", "dev"] as const;
export type KeyEnvironment = (typeof keyEnvironments)[number];

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const secretLength = 22;
const checksumLength = 6;
/** Bytes at or above this are drawn again, so that each of the 62 characters is equally likely. */
const unbiasedBytes = 248;
/** A source that gives nothing usable in this many draws is broken; one draw of 32 bytes nearly always suffices. */
const drawsMax = 64;

const keyPattern = /^(sk_(live|dev)_[0-9A-Za-z]{22})_([0-9A-Za-z]{6})$/;

const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte;
  for (let bit = 0; bit < 8; bit++) remainder = remainder & 1 ? (remainder >>> 1) ^ 0xedb88320 : remainder >>> 1;
  return remainder >>> 0;
});

/** CRC-32 (ISO 3309, as in zlib) of an ASCII text. */
function crc32(text: string): number {
  let remainder = 0xffffffff;
  for (let index = 0; index < text.length; index++) {
    remainder = (crcTable[(remainder ^ text.charCodeAt(index)) & 0xff] ?? 0) ^ (remainder >>> 8);
  }
  return (remainder ^ 0xffffffff) >>> 0;
}

/**
 * The checksum of `sk_<environment>_<22 characters>`: its CRC-32 in base62, most significant first, zero-padded to 6.
 */
function checksum(prefix: string): string {
  let rest = crc32(prefix);
  let text = "";
  for (let place = 0; place < checksumLength; place++) {
    text = base62.charAt(rest % 62) + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}

/** 22 characters, each uniform over base62 (about 131 bits), by rejection. */
function randomSecret(randomBytes: (length: number) => Uint8Array): string {
  let text = "";
  for (let draw = 0; draw < drawsMax; draw++) {
    for (const byte of randomBytes(32)) {
      if (byte < unbiasedBytes) text += base62.charAt(byte % 62);
      if (text.length === secretLength) return text;
    }
  }
  throw new Error("The source of randomness gave no usable bytes");
}

/**
 * Creates a key.
 *
 * @param randomBytes - a cryptographically secure source, which is called for 32 bytes at a time until 22 unbiased
 *   characters are found
 * @throws {Error} when the source gives nothing usable in 64 calls
 */
export function formatApiKey(environment: KeyEnvironment, randomBytes: (length: number) => Uint8Array): string {
  const prefix = `sk_${environment}_${randomSecret(randomBytes)}`;
  return `${prefix}_${checksum(prefix)}`;
}

/** Reads a key's environment when its form and checksum are right; null otherwise. No look-up, no I/O. */
export function parseApiKey(text: string): { readonly environment: KeyEnvironment } | null {
  const match = keyPattern.exec(text);
  const prefix = match?.[1];
  if (match === null || prefix === undefined || checksum(prefix) !== match[3]) return null;
  return { environment: match[2] === "live" ? "live" : "dev" };
}

/**
 * What may be shown of a key after its creation, such as `sk_dev_AbC…xyz`: enough to recognise, too little to guess.
 */
export function apiKeyHint(key: string): string {
  const match = keyPattern.exec(key);
  if (match === null) return "…";
  return `${key.slice(0, key.indexOf("_", 3) + 4)}…${key.slice(-3)}`;
}
