/**
 * A number of `units` of 10^-places. Figures are computed from whole numbers and written with all of their digits: a
 * double holds lamports exactly only up to nine million native tokens.
 */
export interface ExactDecimal {
  readonly units: bigint;
  readonly places: number;
}

/** Places of the native token: a lamport is 10^-9 of it. */
export const nativePlaces = 9;

export const zeroOf = (places: number): ExactDecimal => ({ units: 0n, places });

/** Lamports in native tokens. */
export const native = (lamports: bigint): ExactDecimal => ({ units: lamports, places: nativePlaces });

/** `numerator / denominator`, rounded half away from zero; 0 where the denominator is 0. */
export function divide(numerator: bigint, denominator: bigint): bigint {
  if (denominator === 0n) return 0n;
  const isNegative = numerator < 0n !== denominator < 0n;
  const [above, below] = [absolute(numerator), absolute(denominator)];
  const rounded = (above * 2n + below) / (below * 2n);
  return isNegative ? -rounded : rounded;
}

const absolute = (value: bigint): bigint => (value < 0n ? -value : value);

/** A ratio with so many places, rounded half away from zero; 0 where the denominator is 0. */
export const ratio = (numerator: bigint, denominator: bigint, places: number): ExactDecimal => ({
  units: divide(numerator * 10n ** BigInt(places), denominator),
  places,
});

/** How much greater `to` is than `from`, in percent; 0 where `from` is 0. */
export const changePercent = (from: bigint, to: bigint, places: number): ExactDecimal =>
  from === 0n ? zeroOf(places) : ratio((to - from) * 100n, from, places);

/** A double with so many places; 0 where it is not finite. */
export function decimalOf(value: number, places: number): ExactDecimal {
  if (!Number.isFinite(value)) return zeroOf(places);
  return { units: BigInt(Math.round(value * 10 ** places)), places };
}

/** `one - other`, both of the same places. */
export function subtract(one: ExactDecimal, other: ExactDecimal): ExactDecimal {
  if (one.places !== other.places) throw new RangeError("decimals of different places are not subtracted");
  return { units: one.units - other.units, places: one.places };
}

/** The digits of a decimal as JSON has them, without zeros at the end. */
export function decimalText({ units, places }: ExactDecimal): string {
  const digits = absolute(units)
    .toString()
    .padStart(places + 1, "0");
  const [whole, fraction] = [digits.slice(0, digits.length - places), digits.slice(digits.length - places)];
  const shown = fraction.replace(/0+$/, "");
  return `${units < 0n ? "-" : ""}${whole}${shown === "" ? "" : `.${shown}`}`;
}

/** A flat record as the endpoint answers it. */
export type PoolRecord = Readonly<Record<string, ExactDecimal | bigint | number | string>>;

function memberText(value: PoolRecord[string]): string {
  if (typeof value === "bigint") return value.toString();
  return typeof value === "object" ? decimalText(value) : JSON.stringify(value);
}

/** JSON of a record with its numbers exact. */
export const recordText = (record: PoolRecord): string =>
  `{${Object.entries(record)
    .map(([name, value]) => `${JSON.stringify(name)}:${memberText(value)}`)
    .join(",")}}`;

/** JSON of several records. */
export const recordsText = (records: readonly PoolRecord[]): string => `[${records.map(recordText).join(",")}]`;
