import type { View } from "../process/view.ts";

/** Numbers stay whole until they are text: no price passes through a double once it is drawn. */

function pointed(units: bigint, places: number): string {
  const negative = units < 0n;
  const digits = (negative ? -units : units).toString().padStart(places + 1, "0");
  const whole = places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`;
  return negative ? `-${whole}` : whole;
}

/** `units` of 10^-places as text with exactly `shown` places, rounded half away from zero where digits are lost. */
export function fixed(units: number | bigint, places: number, shown: number): string {
  const exact = BigInt(units);
  if (shown >= places) return pointed(exact * 10n ** BigInt(shown - places), shown);
  return pointed(rounded(exact, 10n ** BigInt(places - shown)), shown);
}

/** The same without zeros at the end. */
export function plain(units: number | bigint, places: number, shown = places): string {
  const text = fixed(units, places, shown);
  return text.includes(".") ? text.replace(/\.?0+$/, "").replace(/^-0$/, "0") : text;
}

/** Quotient rounded half away from zero. */
export function rounded(dividend: bigint, divisor: bigint): bigint {
  const half = divisor / 2n;
  return (dividend < 0n ? dividend - half : dividend + half) / divisor;
}

/** Change over the 24 hours, as whole units of 10^-places of a fraction; the open is never 0. */
export function changeRatio(view: View, places: number, mode: "round" | "cut"): bigint {
  const { open } = view.day;
  const change = BigInt(view.last.price - open) * 10n ** BigInt(places);
  return mode === "cut" ? change / BigInt(open) : rounded(change, BigInt(open));
}

/** Mean price by volume in units of 10^-`shown`. */
export function mean(quote: bigint, base: number, pricePlaces: number, shown: number): string {
  if (base === 0) return fixed(0, 0, shown);
  return pointed(
    rounded(quote * 10n ** BigInt(Math.max(0, shown - pricePlaces)), BigInt(base)),
    Math.max(shown, pricePlaces),
  );
}

/** A number on the wire with just these digits. */
export class Literal {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export const literal = (text: string): Literal => new Literal(text);

export type Json =
  | null
  | boolean
  | number
  | string
  | bigint
  | Literal
  | readonly Json[]
  | { readonly [member: string]: Json | undefined };

/** JSON text with members in the order given; members that are undefined are left out. */
export function write(value: Json): string {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean")
    return JSON.stringify(value);
  if (typeof value === "bigint") return value.toString();
  if (value === null) return "null";
  if (value instanceof Literal) return value.text;
  if (isList(value)) return `[${value.map(write).join(",")}]`;
  const members: string[] = [];
  for (const [name, member] of Object.entries(value)) {
    if (member !== undefined) members.push(`${JSON.stringify(name)}:${write(member)}`);
  }
  return `{${members.join(",")}}`;
}

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);
