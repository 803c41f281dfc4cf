import type { JsonValue } from "@sluice/wire/json";

export type { JsonValue } from "@sluice/wire/json";

/** An object in the order in which its members are written. A member that is `undefined` is not written. */
export type JsonObject = { readonly [member: string]: JsonValue | undefined };

/** A double as JSON can hold it: one that is not finite is written as null. */
export function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
