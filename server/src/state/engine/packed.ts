import { corrupt } from "../rows.ts";

/** Several byte strings as one: each behind its length in two bytes, the larger one first. */
export function packed(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((total, part) => total + 2 + part.length, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const part of parts) {
    view.setUint16(at, part.length);
    bytes.set(part, at + 2);
    at += 2 + part.length;
  }
  return bytes;
}

/** The parts again, as copies; CORRUPT when the bytes are no such thing. */
export function unpacked(what: string, bytes: Uint8Array): Uint8Array[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const parts: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (at + 2 > bytes.length) throw corrupt(what);
    const end = at + 2 + view.getUint16(at);
    if (end > bytes.length) throw corrupt(what);
    parts.push(plain(bytes.subarray(at + 2, end)));
    at = end;
  }
  return parts;
}

/** A copy that is a plain Uint8Array, whatever class the driver gives. */
export function plain(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from(bytes);
}
