/**
 * Exact decimals as whole numbers of 10^-18. Sums, comparisons and ratios of prices are the same on every machine,
 * which doubles do not promise once the order of additions changes.
 */
declare const decimalBrand: unique symbol;
export type Decimal = bigint & { readonly [decimalBrand]: true };

export const decimalPlaces = 18;
const one = 10n ** BigInt(decimalPlaces);
/** Longest text that is read as a number, and how many digits may stand before the point. */
const textCharactersMax = 64;
const wholeDigitsMax = 24;

const shape = /^([+-]?)(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?$/;

export const zero = 0n as Decimal;
export const unit = one as Decimal;

/**
 * Reads a JSON number or the text of one, exactly; digits beyond the 18th place are cut off. Null for anything else:
 * empty text, NaN, a number with more than 24 digits before the point.
 */
export function parseDecimal(text: string): Decimal | null {
  if (text.length > textCharactersMax) return null;
  const match = shape.exec(text);
  if (match === null) return null;
  const [, sign, whole = "", fraction = "", exponentText = "0"] = match;
  const exponent = Number(exponentText);
  const digits = whole + fraction;
  const point = whole.length + exponent;
  if (point > wholeDigitsMax && /[1-9]/.test(digits)) return null;
  const places = point + decimalPlaces;
  const kept = places <= 0 ? "0" : digits.slice(0, places).padEnd(places, "0");
  const value = BigInt(kept);
  return (sign === "-" ? -value : value) as Decimal;
}

/**
 * A literal in source code.
 * @throws {RangeError} when the text is not a decimal
 */
export function decimal(text: string): Decimal {
  const value = parseDecimal(text);
  if (value === null) throw new RangeError(`not a decimal: ${text}`);
  return value;
}

/** The shortest plain text: no exponent, no trailing zeros, no "-0". */
export function formatDecimal(value: Decimal): string {
  const negative = value < 0n;
  const digits = (negative ? -value : value).toString().padStart(decimalPlaces + 1, "0");
  const whole = digits.slice(0, -decimalPlaces);
  const fraction = digits.slice(-decimalPlaces).replace(/0+$/, "");
  return `${negative ? "-" : ""}${whole}${fraction === "" ? "" : `.${fraction}`}`;
}

/** Product, cut off toward zero. */
export const multiply = (left: Decimal, right: Decimal): Decimal => ((left * right) / one) as Decimal;
/** Quotient, cut off toward zero; throws RangeError on a zero divisor. */
export const divide = (left: Decimal, right: Decimal): Decimal => ((left * one) / right) as Decimal;
export const add = (left: Decimal, right: Decimal): Decimal => (left + right) as Decimal;
export const subtract = (left: Decimal, right: Decimal): Decimal => (left - right) as Decimal;
export const absolute = (value: Decimal): Decimal => (value < 0n ? -value : value) as Decimal;

/** `Math.min` and `Math.max` take no bigint. */
export function lesserOf(left: Decimal, right: Decimal): Decimal {
  if (right < left) return right;
  return left;
}

export function greaterOf(left: Decimal, right: Decimal): Decimal {
  if (right > left) return right;
  return left;
}

/** Square root, cut off; throws RangeError below zero. */
export function squareRoot(value: Decimal): Decimal {
  if (value < 0n) throw new RangeError("a negative number has no root");
  const square = value * one;
  // The double's root is right to some 16 digits on every machine (IEEE 754); Newton's steps make it exact.
  let root = BigInt(Math.floor(Math.sqrt(Number(square))));
  for (;;) {
    if (root * root <= square && (root + 1n) * (root + 1n) > square) return root as Decimal;
    root = (root + square / (root === 0n ? 1n : root)) >> 1n;
  }
}
