/** A parsed JSON value in which every number is the text it was written as, so that a price keeps its digits. */
export type SourceValue =
  | null
  | boolean
  | string
  | readonly SourceValue[]
  | { readonly [name: string]: SourceValue | undefined };

const keepText = (_name: string, value: unknown, context?: { readonly source?: string }): unknown =>
  typeof value === "number" ? (context?.source ?? String(value)) : value;

/** Reads what an exchange sent; undefined for text that is no JSON or is nested beyond what the runtime can follow. */
export function readSourceJson(text: string): SourceValue | undefined {
  try {
    // The compiler's library does not know the reviver's third argument yet; it is in the engine.
    return JSON.parse(text, keepText as (name: string, value: unknown) => unknown) as SourceValue;
  } catch {
    return undefined;
  }
}

const isList = (value: SourceValue | undefined): value is readonly SourceValue[] => Array.isArray(value);

/** The member `name` of an object's own; undefined for anything else. */
export function memberOf(value: SourceValue | undefined, name: string): SourceValue | undefined {
  if (typeof value !== "object" || value === null || isList(value) || !Object.hasOwn(value, name)) return undefined;
  return value[name];
}

/** The elements of an array; null for anything else. */
export const listOf = (value: SourceValue | undefined): readonly SourceValue[] | null => (isList(value) ? value : null);

/** The element `index` of an array; undefined for anything else. */
export const elementOf = (value: SourceValue | undefined, index: number): SourceValue | undefined =>
  isList(value) ? value[index] : undefined;

/** Names and values of an object's own members; null for anything else. */
export const membersOf = (value: SourceValue | undefined): readonly (readonly [string, SourceValue])[] | null =>
  typeof value !== "object" || value === null || isList(value)
    ? null
    : Object.entries(value).flatMap(([name, member]) => (member === undefined ? [] : [[name, member] as const]));

/**
 * Text, or a number's; empty for anything else. For names, codes and ids, which some exchanges quote and some do not.
 */
export const textOf = (value: SourceValue | undefined): string => (typeof value === "string" ? value : "");
