import { type Decimal, decimal, parseDecimal } from "../model/decimal.ts";
import type { DropReason, Field, Reading, TimeUnit } from "./row.ts";

/** How far an exchange's clock may be ahead of the server's. */
const futureMsMax = 5_000;
/** Times before this are in another unit or mean nothing: the exchanges read here are younger. */
const earliestMs = 1_230_768_000_000;
const latestMs = 4_102_444_800_000;

const priceMax = decimal("1000000000000");
const volumeMax = decimal("1000000000000000000");

/** What a field that is not believed throws, within `checked` alone. */
export class Refusal {
  readonly reason: DropReason;
  constructor(reason: DropReason) {
    this.reason = reason;
  }
}

/** The value that `read` makes of its fields, or the first thing that is wrong with them. */
export function checked<Value>(read: () => Value): Reading<Value> {
  try {
    return { ok: true, value: read() };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, reason: error.reason };
    throw error;
  }
}

/** @throws {Refusal} when the field holds no number */
export function numberIn(field: Field): Decimal {
  if (field === undefined) throw new Refusal("missing-field");
  const value = typeof field === "string" ? parseDecimal(field) : null;
  if (value === null) throw new Refusal("not-a-number");
  return value;
}

/** @throws {Refusal} when the field holds no price: a number above zero and not absurd */
export function priceIn(field: Field): Decimal {
  const value = numberIn(field);
  if (value <= 0n) throw new Refusal("not-positive");
  if (value > priceMax) throw new Refusal("absurd");
  return value;
}

/** Figures that an exchange leaves out are unknown: absent, null, empty, or "nan" as one writes it. */
export const isUnsaid = (field: Field): boolean =>
  field === undefined || field === null || (typeof field === "string" && /^(|nan)$/i.test(field));

/** @throws {Refusal} when the field holds what is no volume; null when it holds nothing */
export const volumeIn = (field: Field): Decimal | null => {
  if (isUnsaid(field)) return null;
  const value = numberIn(field);
  if (value < 0n) throw new Refusal("not-positive");
  if (value > volumeMax) throw new Refusal("absurd");
  return value;
};

const wholeShape = /^-?\d{1,20}$/;

/** @throws {Refusal} when the field holds no whole number */
export function wholeIn(field: Field): bigint {
  if (typeof field !== "string" || !wholeShape.test(field)) throw new Refusal("not-a-number");
  return BigInt(field);
}

const isoShape = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,12}))?Z$/;
const msPer = { s: 1_000, ms: 1, us: 0.001, ns: 0.000_001 } as const;

/**
 * Unix milliseconds of a time that an exchange wrote; at most `futureMsMax` after receipt.
 * @throws {Refusal} when the field holds no such time
 */
export function timeIn(field: Field, unitOfTime: TimeUnit, receivedAtMs: number): number {
  if (field === undefined) throw new Refusal("missing-field");
  if (typeof field !== "string") throw new Refusal("not-a-number");
  const ms = unitOfTime === "iso" ? isoMs(field) : Number(wholeIn(field)) * msPer[unitOfTime];
  if (Number.isNaN(ms)) throw new Refusal("not-a-number");
  if (ms < earliestMs || ms > latestMs) throw new Refusal("time-unit");
  if (ms > receivedAtMs + futureMsMax) throw new Refusal("future");
  return Math.floor(ms);
}

function isoMs(text: string): number {
  const match = isoShape.exec(text);
  if (match === null) return Number.NaN;
  const [, second = "", fraction = ""] = match;
  return Date.parse(`${second}.${fraction.slice(0, 3).padEnd(3, "0")}Z`);
}
