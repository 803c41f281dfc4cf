import { type JsonBytes, jsonBytes, skipSpace, skipString, skipValue } from "./scan.ts";

/** Byte ranges of a notification's parts: JSON texts as they were sent. */
export interface NotificationSlice {
  readonly resultStart: number;
  readonly resultEnd: number;
  readonly subscriptionStart: number;
  readonly subscriptionEnd: number;
}

interface Range {
  readonly start: number;
  readonly end: number;
}

const openBrace = 0x7b;
const closeBrace = 0x7d;
const quote = 0x22;
const colon = 0x3a;
const comma = 0x2c;
const decoder = new TextDecoder();

/** Reads the value of a member and gives the position after it, or -1. */
type ReadValue = (name: string, start: number) => number;

/** With both quotes; the longest name that is looked for is `subscription`. */
const nameBytesMax = 16;

/**
 * Reads the members of the object that begins at `position` and gives the position after it, or -1. A name with escapes
 * is none that anybody looks for.
 */
function readMembers(json: JsonBytes, position: number, read: ReadValue): number {
  const { bytes } = json;
  if (bytes[position] !== openBrace) return -1;
  let at = skipSpace(bytes, position + 1);
  if (bytes[at] === closeBrace) return at + 1;
  for (;;) {
    if (bytes[at] !== quote) return -1;
    const nameEnd = skipString(json, at + 1);
    if (nameEnd < 0) return -1;
    const separator = skipSpace(bytes, nameEnd);
    if (bytes[separator] !== colon) return -1;
    const name = nameEnd - at > nameBytesMax ? "" : decoder.decode(bytes.subarray(at + 1, nameEnd - 1));
    const end = read(name, skipSpace(bytes, separator + 1));
    if (end < 0) return -1;
    at = skipSpace(bytes, end);
    if (bytes[at] === closeBrace) return at + 1;
    if (bytes[at] !== comma) return -1;
    at = skipSpace(bytes, at + 1);
  }
}

/** The ranges of the members that were looked for, each of which may be there once. */
class FoundMembers {
  readonly #ranges = new Map<string, Range>();
  hasTwice = false;

  add(name: string, start: number, end: number): number {
    if (end < 0) return -1;
    this.hasTwice ||= this.#ranges.has(name);
    this.#ranges.set(name, { start, end });
    return end;
  }

  get(name: string): Range | undefined {
    return this.#ranges.get(name);
  }
}

/**
 * Cuts a notification of Solana PubSub, `{"method", "params": {"result", "subscription"}}` with members in any order,
 * so that its result can be handed on as it was sent. The whole text is checked to be JSON. Null for any other text: an
 * answer, which has an id, a member that is missing or there twice, something after the object.
 */
export function sliceNotification(bytes: Uint8Array): NotificationSlice | null {
  const json = jsonBytes(bytes);
  const found = new FoundMembers();
  const params: ReadValue = (name, start) => {
    const end = skipValue(json, start, 2);
    return name === "result" || name === "subscription" ? found.add(name, start, end) : end;
  };
  const envelope: ReadValue = (name, start) => {
    if (name === "params") return found.add(name, start, readMembers(json, start, params));
    const end = skipValue(json, start, 1);
    return name === "method" || name === "id" ? found.add(name, start, end) : end;
  };
  const end = readMembers(json, skipSpace(bytes, 0), envelope);
  if (end < 0 || skipSpace(bytes, end) !== bytes.length || found.hasTwice) return null;
  const [method, result, subscription] = [found.get("method"), found.get("result"), found.get("subscription")];
  if (method === undefined || result === undefined || subscription === undefined) return null;
  if (found.get("id") !== undefined || bytes[method.start] !== quote) return null;
  return {
    resultStart: result.start,
    resultEnd: result.end,
    subscriptionStart: subscription.start,
    subscriptionEnd: subscription.end,
  };
}
