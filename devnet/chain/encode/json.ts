/** A JSON value whose integers may be bigint, so that a u64 is written digit for digit by an exact serialiser. */
export type JsonValue = null | boolean | number | bigint | string | readonly JsonValue[] | JsonObject;

/** An object in the order in which its members are written. A member that is `undefined` is not written. */
export type JsonObject = { readonly [member: string]: JsonValue | undefined };
