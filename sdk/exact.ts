import { type JsonValue, parseJsonExact } from "@sluice/wire/json";

/** Members that are u64 or i64 on the chain; as numbers they are bigint here, whatever their value. */
const wholeNumbers = [
  "slot",
  "parent_slot",
  "parent",
  "block_height",
  "block_time",
  "fee",
  "compute_units",
  "lamports",
  "post_balance",
  "rent_epoch",
  "data_size",
  "old",
  "new",
  "delta",
  "observed_slot",
  "from",
  "to",
  "from_slot",
  "back_to",
  "first_slot",
] as const;

type WholeNumber = (typeof wholeNumbers)[number];

/** A record with its whole numbers as bigint, in lists and objects as well. */
export type Exact<T> = T extends readonly (infer Item)[]
  ? readonly Exact<Item>[]
  : T extends object
    ? { readonly [Member in keyof T]: Member extends WholeNumber ? ExactMember<T[Member]> : Exact<T[Member]> }
    : T;

type ExactMember<T> = [Extract<T, number>] extends [never] ? Exact<T> : bigint | Exclude<T, number>;

const names: ReadonlySet<string> = new Set(wholeNumbers);

function exact(value: JsonValue, member = ""): unknown {
  if (Array.isArray(value)) return value.map((item: JsonValue) => exact(item));
  if (typeof value === "number" && names.has(member)) return BigInt(value);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, exact(item ?? null, name)]));
}

/**
 * Reads JSON with its whole numbers as bigint.
 *
 * @throws {SyntaxError} when the text is no JSON
 */
export function readExact(text: string): unknown {
  const parsed = parseJsonExact(text);
  if (!parsed.ok) throw new SyntaxError(`the answer is not JSON at ${parsed.offset}`);
  return exact(parsed.value);
}
