import type { JsonValue } from "@sluice/wire/json";

/** A decimal number that JSON has in full: units of a mint by its decimals. It never passes through a double. */
export class ExactDecimal {
  readonly units: bigint;
  readonly decimals: number;

  constructor(units: bigint, decimals: number) {
    this.units = units;
    this.decimals = decimals;
  }

  /** Without zeros at its end. */
  toString(): string {
    const sign = this.units < 0n ? "-" : "";
    const digits = (this.units < 0n ? -this.units : this.units).toString().padStart(this.decimals + 1, "0");
    if (this.decimals === 0) return sign + digits;
    const whole = digits.slice(0, -this.decimals);
    const part = digits.slice(-this.decimals).replace(/0+$/, "");
    return part === "" ? sign + whole : `${sign}${whole}.${part}`;
  }
}

/** What a record is made of. Members that are undefined are left out. */
export type RecordValue =
  | Exclude<JsonValue, object>
  | null
  | ExactDecimal
  | readonly RecordValue[]
  | { readonly [member: string]: RecordValue | undefined };

/** JSON of a record: integers and decimals in full. */
export function recordText(value: RecordValue): string {
  if (value === null) return "null";
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value !== "object") return String(value);
  if (value instanceof ExactDecimal) return value.toString();
  if (Array.isArray(value)) return `[${(value as readonly RecordValue[]).map(recordText).join()}]`;
  let text = "";
  for (const [member, held] of Object.entries(value)) {
    if (held !== undefined) text += `${text === "" ? "" : ","}${JSON.stringify(member)}:${recordText(held)}`;
  }
  return `{${text}}`;
}
