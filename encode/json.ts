import type { JsonValue } from "@sluice/wire/json";

export type { JsonValue } from "@sluice/wire/json";

/** An object in the order in which its members are written. A member that is `undefined` is not written. */
export type JsonObject = { readonly [member: string]: JsonValue | undefined };

/** A double as JSON can hold it: one that is not finite is written as null. */
export function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

/**
 * The same value with the members of its objects in alphabetical order: the order in which Agave writes the data of an
 * error, which passes through a sorted map.
 */
export function alphabetical(value: JsonValue | undefined): JsonValue {
  if (Array.isArray(value)) return value.map(alphabetical);
  if (typeof value !== "object" || value === null) return value ?? null;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(
    members.sort(([one], [other]) => (one < other ? -1 : 1)).map(([name, member]) => [name, alphabetical(member)]),
  );
}
