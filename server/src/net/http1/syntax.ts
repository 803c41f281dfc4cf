/**
 * The bytes that HTTP/1.1 messages are made of, for those who read messages from a socket themselves (RFC 9110, 9112).
 */

/** 1 for each byte that a name (method, field) may hold. */
const tokenBytes = new Uint8Array(256);
for (const char of "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") {
  tokenBytes[char.charCodeAt(0)] = 1;
}

/** The first place from `from` on whose byte no name may hold. */
export function tokenEndIn(bytes: Uint8Array, from: number): number {
  let at = from;
  while (tokenBytes[bytes[at] ?? 0] === 1) at += 1;
  return at;
}

/** Bytes that a field's value or a reason may hold: tab, space, visible, and the upper half (RFC 9110, 5.5). */
const valueBytes = Uint8Array.from({ length: 256 }, (_unused, byte) =>
  byte === 0x09 || (byte >= 0x20 && byte !== 0x7f) ? 1 : 0,
);

/** The first place from `from` on whose byte no value may hold: where its line ends. */
export function valueEndIn(bytes: Uint8Array, from: number): number {
  let at = from;
  while (valueBytes[bytes[at] ?? 0] === 1) at += 1;
  return at;
}

const quote = 0x22;
const semicolon = 0x3b;
const equalsSign = 0x3d;
const backslash = 0x5c;

export const isBlank = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x09;

/** A whole number of 1 to 15 digits, so that it is exact; null for anything else. */
export function decimalIn(bytes: Uint8Array, from: number, to: number): number | null {
  if (to === from || to - from > 15) return null;
  let value = 0;
  for (let at = from; at < to; at += 1) {
    const digit = (bytes[at] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) return null;
    value = value * 10 + digit;
  }
  return value;
}

/**
 * Compares without regard to case; bit 0x20 is what distinguishes a letter's cases, and the bytes are tokens already.
 */
export function isNamed(bytes: Uint8Array, start: number, name: string): boolean {
  for (let at = 0; at < name.length; at += 1) {
    if (((bytes[start + at] ?? 0) | 0x20) !== name.charCodeAt(at)) return false;
  }
  return true;
}

/** The place of the next line feed, or -1. */
export function lineFeedIn(bytes: Uint8Array, from: number): number {
  const { length } = bytes;
  for (let at = from; at < length; at += 1) if (bytes[at] === 0x0a) return at;
  return -1;
}

/** Hexadecimal digits of a chunk's size: 2^48 is more than any bound on a body. */
const chunkDigitsMax = 12;

/** The size that a chunk's first line states (without its end), or -1 for what is none. */
export function chunkSizeIn(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  let size = 0;
  for (; at < end; at += 1) {
    const digit = hexDigit(bytes[at] ?? 0);
    if (digit < 0) break;
    size = size * 16 + digit;
  }
  return at === start || at - start > chunkDigitsMax || !areExtensions(bytes, at, end) ? -1 : size;
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

/**
 * Extensions of a chunk: `;name`, `;name=value` or `;name="text"`, any number of them (RFC 9112, 7.1.1) and without the
 * white space that the grammar calls bad: what two readers of a size line might understand differently is refused.
 */
function areExtensions(bytes: Uint8Array, start: number, end: number): boolean {
  let at = start;
  while (at < end) {
    if (bytes[at] !== semicolon) return false;
    const nameEnd = tokenEndIn(bytes, at + 1);
    if (nameEnd === at + 1) return false;
    at = nameEnd;
    if (bytes[at] !== equalsSign) continue;
    const valueEnd = bytes[at + 1] === quote ? quotedEndIn(bytes, at + 2) : tokenEndIn(bytes, at + 1);
    if (valueEnd < at + 2) return false;
    at = valueEnd;
  }
  return at === end;
}

/** The place after the quote that ends the text from `from` on; -1 when none does on this line. */
function quotedEndIn(bytes: Uint8Array, from: number): number {
  for (let at = from; valueBytes[bytes[at] ?? 0] === 1; at += 1) {
    if (bytes[at] === quote) return at + 1;
    if (bytes[at] === backslash) {
      at += 1;
      if (valueBytes[bytes[at] ?? 0] === 0) return -1;
    }
  }
  return -1;
}

/** The text of bytes, one character a byte; a string of its own, since a slice would keep all bytes in memory. */
export function latin1(bytes: Uint8Array, from: number, to: number): string {
  const buffer = bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return buffer.toString("latin1", from, to);
}
