/** A parsed JSON value in which every whole number is a bigint, so that a u64 keeps its digits. */
export type ChainValue =
  | null
  | boolean
  | number
  | string
  | bigint
  | readonly ChainValue[]
  | { readonly [name: string]: ChainValue };

const whole = /^-?[0-9]+$/;

/** Parses a node's JSON with whole numbers as bigint; throws SyntaxError for text that is no JSON. */
export function parseChainJson(text: string): ChainValue {
  const revive = (_name: string, value: unknown, context?: { readonly source?: string }): unknown => {
    const source = context?.source;
    return typeof value === "number" && source !== undefined && whole.test(source) ? BigInt(source) : value;
  };
  // The compiler's library does not know the reviver's third argument yet; it is in the engine.
  return JSON.parse(text, revive as (name: string, value: unknown) => unknown) as ChainValue;
}

/** The member `name` of an object value; undefined for anything else. */
export function memberOf(value: ChainValue | undefined, name: string): ChainValue | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return (value as { readonly [name: string]: ChainValue })[name];
}
