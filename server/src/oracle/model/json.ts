import { type Decimal, formatDecimal } from "./decimal.ts";

/** JSON that is text already, such as a price record that was written once for everybody. */
export class WrittenJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Every bigint is a Decimal: it becomes a JSON number of all its digits and never passes through a double. */
export type Json =
  | string
  | number
  | boolean
  | null
  | Decimal
  | WrittenJson
  | readonly Json[]
  | { readonly [name: string]: Json };

export function jsonText(value: Json): string {
  if (value === null) return "null";
  switch (typeof value) {
    case "bigint":
      return formatDecimal(value);
    case "number":
      // NaN and infinities are no JSON; where one comes up nothing is known.
      return Number.isFinite(value) ? String(value) : "null";
    case "string":
    case "boolean":
      return JSON.stringify(value);
    default:
      return compoundText(value);
  }
}

function compoundText(value: WrittenJson | readonly Json[] | { readonly [name: string]: Json }): string {
  if (value instanceof WrittenJson) return value.text;
  if (isList(value)) return `[${value.map(jsonText).join(",")}]`;
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${jsonText(member)}`);
  return `{${members.join(",")}}`;
}

const isList = (value: object): value is readonly Json[] => Array.isArray(value);
