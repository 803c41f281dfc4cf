import { JsonReader, type JsonValue, stringifyNumber, textOfUtf8 } from "./exact.ts";
import { defaultMaxDepth } from "./scan.ts";

/** A number as it was written: 1, 1.0 and 10e-1 stay three things, and a u64 keeps its digits. */
class NumberText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Longer numbers are nobody's parameter. */
const maxNumberLength = 4096;

function write(value: unknown, maxDepth: number): string {
  if (value === null) return "null";
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "number") return stringifyNumber(value);
  if (typeof value === "bigint" || typeof value === "boolean") return String(value);
  if (typeof value !== "object") throw new TypeError(`JSON has no ${typeof value}`);
  if (value instanceof NumberText) return value.text;
  if (maxDepth === 0) throw new RangeError("JSON is nested too deeply");
  let text = "";
  if (Array.isArray(value)) {
    for (const item of value) text += `,${write(item, maxDepth - 1)}`;
    return `[${text.slice(1)}]`;
  }
  const entries = Object.entries(value);
  if (entries.length > 1) entries.sort(([left], [right]) => (left < right ? -1 : 1));
  for (const [key, member] of entries) {
    if (member !== undefined) text += `,${JSON.stringify(key)}:${write(member, maxDepth - 1)}`;
  }
  return `{${text.slice(1)}}`;
}

/**
 * One text for all the ways to write the same JSON: no white space, keys sorted by UTF-16 units, strings in their shortest
 * escapes. Numbers keep their text exactly, since two numbers that look different may be different to a node. Made for
 * cache keys. From bytes it gives null when they are no JSON, or when an object has a key twice: readers disagree on
 * which one counts, so such a text has no one meaning. From a value it throws as `stringifyJsonExact` does.
 */
export function canonicalJson(source: Uint8Array, maxDepth?: number): string | null;
export function canonicalJson(source: JsonValue, maxDepth?: number): string;
export function canonicalJson(source: Uint8Array | JsonValue, maxDepth: number = defaultMaxDepth): string | null {
  if (!(source instanceof Uint8Array)) return write(source, maxDepth);
  const text = textOfUtf8(source);
  if (text === null) return null;
  const numberOf = (digits: string): NumberText | null =>
    digits.length > maxNumberLength ? null : new NumberText(digits);
  const read = new JsonReader(text, { maxDepth, refuseDuplicates: true, numberOf }).read();
  return read.ok ? write(read.value, maxDepth) : null;
}
