import { defaultMaxDepth, jsonBytes, skipDocument, skipSpace, skipString, skipValue } from "./scan.ts";

/** The rule of JSON-RPC 2.0 that an answer breaks. */
export type EnvelopeFault =
  | "NOT_JSON"
  | "NOT_AN_OBJECT"
  | "DUPLICATE_MEMBER"
  | "WRONG_VERSION"
  | "NO_ID"
  | "NO_RESULT_OR_ERROR"
  | "RESULT_AND_ERROR"
  | "ERROR_NOT_AN_OBJECT";

/** Byte ranges of an answer's id and of its result or error value. */
export type EnvelopeSlice =
  | {
      readonly kind: "result" | "error";
      readonly idStart: number;
      readonly idEnd: number;
      readonly valueStart: number;
      readonly valueEnd: number;
    }
  | { readonly kind: "malformed"; readonly fault: EnvelopeFault };

const malformed = (fault: EnvelopeFault): EnvelopeSlice => ({ kind: "malformed", fault });

const noMember = 0;
const memberJsonrpc = 1;
const memberResult = 2;
const memberError = 3;
const memberId = 4;

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const jsonrpcName = encoder.encode("jsonrpc");
const resultName = encoder.encode("result");
const errorName = encoder.encode("error");
const idName = encoder.encode("id");
const version2 = encoder.encode('"2.0"');

function sameBytes(bytes: Uint8Array, start: number, expected: Uint8Array): boolean {
  for (let i = 0; i < expected.length; i++) if (bytes[start + i] !== expected[i]) return false;
  return true;
}

/** Which of the four members the key between `start` and `end` is. */
function memberOf(bytes: Uint8Array, start: number, end: number): number {
  for (let at = start; at < end; at++) {
    if (bytes[at] === 0x5c) return memberOfEscaped(bytes.subarray(start - 1, end + 1));
  }
  switch (end - start) {
    case 2:
      return sameBytes(bytes, start, idName) ? memberId : noMember;
    case 5:
      return sameBytes(bytes, start, errorName) ? memberError : noMember;
    case 6:
      return sameBytes(bytes, start, resultName) ? memberResult : noMember;
    case 7:
      return sameBytes(bytes, start, jsonrpcName) ? memberJsonrpc : noMember;
    default:
      return noMember;
  }
}

/** An escaped spelling counts as the name it spells, or a client would see another member than we do. */
function memberOfEscaped(quoted: Uint8Array): number {
  if (quoted.length > 64) return noMember;
  const name: unknown = JSON.parse(decoder.decode(quoted));
  return ["jsonrpc", "result", "error", "id"].indexOf(String(name)) + 1;
}

function isVersion2(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start === version2.length) return sameBytes(bytes, start, version2);
  // The longest spelling escapes all three characters.
  if (bytes[start] !== 0x22 || end - start > 20) return false;
  return JSON.parse(decoder.decode(bytes.subarray(start, end))) === "2.0";
}

/**
 * Cuts a JSON-RPC 2.0 answer at its top level, so that a gateway can hand the node's bytes on with nothing but the id
 * replaced. The whole text is checked to be JSON (see scan.ts), members may come in any order and be surrounded by white
 * space, unknown members are allowed. Refused as malformed: anything after the object, a duplicate of jsonrpc, id, result
 * or error, a version other than "2.0", a missing id, both or neither of result and error, an error that is no object.
 *
 * There is no shortcut for the usual layout {"jsonrpc":"2.0","result":...,"id":1}: taking the id from the end without
 * reading what lies between would hand on a truncated or forged result as if it were whole, and reading it is all the
 * cost there is. Measured figures: see scan.ts.
 */
export function sliceEnvelope(bytes: Uint8Array, maxDepth: number = defaultMaxDepth): EnvelopeSlice {
  const json = jsonBytes(bytes, maxDepth);
  let at = skipSpace(bytes, 0);
  if (bytes[at] !== 0x7b) return malformed(skipDocument(json, at) ? "NOT_AN_OBJECT" : "NOT_JSON");
  const found = new EnvelopeFinder(bytes);
  at = skipSpace(bytes, at + 1);
  if (bytes[at] === 0x7d) {
    at++;
  } else {
    for (;;) {
      if (bytes[at] !== 0x22) return malformed("NOT_JSON");
      const keyStart = at + 1;
      const afterKey = skipString(json, keyStart);
      if (afterKey < 0) return malformed("NOT_JSON");
      at = skipSpace(bytes, afterKey);
      if (bytes[at] !== 0x3a) return malformed("NOT_JSON");
      const valueStart = skipSpace(bytes, at + 1);
      const valueEnd = skipValue(json, valueStart, 1);
      if (valueEnd < 0) return malformed("NOT_JSON");
      found.add(keyStart, afterKey - 1, valueStart, valueEnd);
      at = skipSpace(bytes, valueEnd);
      const separator = bytes[at++];
      if (separator === 0x7d) break;
      if (separator !== 0x2c) return malformed("NOT_JSON");
      at = skipSpace(bytes, at);
    }
  }
  return skipSpace(bytes, at) === bytes.length ? found.slice() : malformed("NOT_JSON");
}

/** Collects the members of an envelope and checks them once the text is known to be JSON. */
class EnvelopeFinder {
  readonly #bytes: Uint8Array;
  #duplicate = false;
  #versionStart = -1;
  #versionEnd = -1;
  #idStart = -1;
  #idEnd = -1;
  #resultStart = -1;
  #resultEnd = -1;
  #errorStart = -1;
  #errorEnd = -1;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  add(keyStart: number, keyEnd: number, start: number, end: number): void {
    const member = memberOf(this.#bytes, keyStart, keyEnd);
    if (member === memberId) {
      this.#duplicate ||= this.#idStart >= 0;
      this.#idStart = start;
      this.#idEnd = end;
    } else if (member === memberResult) {
      this.#duplicate ||= this.#resultStart >= 0;
      this.#resultStart = start;
      this.#resultEnd = end;
    } else if (member === memberError) {
      this.#duplicate ||= this.#errorStart >= 0;
      this.#errorStart = start;
      this.#errorEnd = end;
    } else if (member === memberJsonrpc) {
      this.#duplicate ||= this.#versionStart >= 0;
      this.#versionStart = start;
      this.#versionEnd = end;
    }
  }

  slice(): EnvelopeSlice {
    if (this.#duplicate) return malformed("DUPLICATE_MEMBER");
    if (this.#versionStart < 0 || !isVersion2(this.#bytes, this.#versionStart, this.#versionEnd)) {
      return malformed("WRONG_VERSION");
    }
    if (this.#idStart < 0) return malformed("NO_ID");
    const isError = this.#errorStart >= 0;
    if (isError && this.#resultStart >= 0) return malformed("RESULT_AND_ERROR");
    if (!isError && this.#resultStart < 0) return malformed("NO_RESULT_OR_ERROR");
    if (isError && this.#bytes[this.#errorStart] !== 0x7b) return malformed("ERROR_NOT_AN_OBJECT");
    return {
      kind: isError ? "error" : "result",
      idStart: this.#idStart,
      idEnd: this.#idEnd,
      valueStart: isError ? this.#errorStart : this.#resultStart,
      valueEnd: isError ? this.#errorEnd : this.#resultEnd,
    };
  }
}
