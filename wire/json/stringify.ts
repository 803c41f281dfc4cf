import { defaultMaxDepth } from "./scan.ts";

/** What JSON can say, with integers beyond 2^53-1 as bigint. */
export type JsonValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue | undefined };

/** A number as JSON without loss: integers in full, never with an exponent. TypeError for what JSON cannot hold. */
function stringifyNumber(value: number): string {
  if (!Number.isFinite(value)) throw new TypeError(`JSON has no ${value}`);
  if (Object.is(value, -0)) return "-0";
  return Number.isInteger(value) && Math.abs(value) >= 1e21 ? BigInt(value).toString() : String(value);
}

/** A member as the canonical form orders it: by the text of its key, quotes and escapes included. */
export type MemberText = readonly [key: string, value: string];

export function compareMembers([left]: MemberText, [right]: MemberText): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

function write(value: JsonValue, depthLeft: number, sorted: boolean): string {
  if (value === null) return "null";
  switch (typeof value) {
    case "string":
      return JSON.stringify(value);
    case "number":
      return stringifyNumber(value);
    case "bigint":
      return value.toString();
    case "boolean":
      return value ? "true" : "false";
    case "object":
      break;
    default:
      throw new TypeError(`JSON has no ${typeof value}`);
  }
  if (depthLeft === 0) throw new RangeError("JSON is nested too deeply");
  let text = "";
  if (Array.isArray(value)) {
    for (const item of value as readonly JsonValue[]) text += `,${write(item, depthLeft - 1, sorted)}`;
    return `[${text.slice(1)}]`;
  }
  const members: MemberText[] = [];
  for (const [key, member] of Object.entries(value)) {
    if (member !== undefined) members.push([JSON.stringify(key), write(member, depthLeft - 1, sorted)]);
  }
  if (sorted && members.length > 1) members.sort(compareMembers);
  for (const [key, member] of members) text += `,${key}:${member}`;
  return `{${text.slice(1)}}`;
}

/**
 * JSON.stringify for what `parseJsonExact` gives: bigint and whole numbers are written as exact decimals, members that
 * are undefined are left out. Throws TypeError for what JSON cannot hold and RangeError for nesting deeper than
 * `maxDepth`, which also ends a cycle.
 */
export function stringifyJsonExact(value: JsonValue, maxDepth: number = defaultMaxDepth): string {
  return write(value, maxDepth, false);
}

/** The same with the members of every object in canonical order. */
export function stringifyJsonSorted(value: JsonValue, maxDepth: number): string {
  return write(value, maxDepth, true);
}
