import { defaultMaxDepth, type JsonBytes, jsonBytes, skipSpace, skipString, skipValue } from "./scan.ts";

/** Byte ranges of one member of an object; the key's range includes its quotes. */
export interface JsonMember {
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly valueStart: number;
  readonly valueEnd: number;
}

/** Whether one value starts at `position` and nothing but white space follows it. */
export function skipDocument(json: JsonBytes, position: number): boolean {
  const end = skipValue(json, position);
  return end >= 0 && skipSpace(json.bytes, end) === json.bytes.length;
}

/** Whether the bytes are one JSON text: strict grammar, UTF-8, bounded depth. */
export function isJson(bytes: Uint8Array, maxDepth: number = defaultMaxDepth): boolean {
  return skipDocument(jsonBytes(bytes, maxDepth), skipSpace(bytes, 0));
}

export type ObjectSlice =
  | { readonly kind: "members"; readonly members: readonly JsonMember[] }
  | { readonly kind: "too many" }
  | { readonly kind: "malformed" };

/**
 * The byte ranges of the top-level members of a JSON object, in their order and duplicates included: what reads a request
 * without touching its params. The whole text is checked.
 */
export function sliceObject(
  bytes: Uint8Array,
  maxMembers: number = 64,
  maxDepth: number = defaultMaxDepth,
): ObjectSlice {
  const json = jsonBytes(bytes, maxDepth);
  const members: JsonMember[] = [];
  let at = skipSpace(bytes, 0);
  if (bytes[at] !== 0x7b) return { kind: "malformed" };
  at = skipSpace(bytes, at + 1);
  if (bytes[at] === 0x7d) {
    at++;
  } else {
    for (;;) {
      if (bytes[at] !== 0x22) return { kind: "malformed" };
      const keyStart = at;
      const keyEnd = skipString(json, at + 1);
      if (keyEnd < 0) return { kind: "malformed" };
      at = skipSpace(bytes, keyEnd);
      if (bytes[at] !== 0x3a) return { kind: "malformed" };
      const valueStart = skipSpace(bytes, at + 1);
      const valueEnd = skipValue(json, valueStart, 1);
      if (valueEnd < 0) return { kind: "malformed" };
      if (members.length === maxMembers) return { kind: "too many" };
      members.push({ keyStart, keyEnd, valueStart, valueEnd });
      at = skipSpace(bytes, valueEnd);
      const separator = bytes[at++];
      if (separator === 0x7d) break;
      if (separator !== 0x2c) return { kind: "malformed" };
      at = skipSpace(bytes, at);
    }
  }
  return skipSpace(bytes, at) === bytes.length ? { kind: "members", members } : { kind: "malformed" };
}
