import type { Network } from "@sluice/contract/tiers";
import { ExactDecimal } from "@sluice/parser";

/** Prices of tokens; the native currency is asked for by the mint of its wrapped form. */
export interface UsdPrices {
  /** The symbol under which the oracle has a mint; null for one of which it is not certain what it is. */
  symbolOf(network: Network, mint: string): string | null;
  /** The symbols of which it is certain on a network what they are. */
  symbolsOf(network: Network): ReadonlySet<string>;
  /**
   * US dollars for one whole unit, as decimal numbers in full, by symbol. What has no price is not there. Never
   * rejects.
   */
  now(): Promise<ReadonlyMap<string, string>>;
}

/** Digits after the point of values: a millionth of a dollar. */
const valueDigits = 6;
const decimalForm = /^(\d{1,30})(?:\.(\d{1,30}))?$/;

/** A price as an exact decimal; null where there is none, or it is no decimal number. */
export function priceOf(price: string | undefined): ExactDecimal | null {
  const [, whole, part = ""] = decimalForm.exec(price ?? "") ?? [];
  return whole === undefined ? null : new ExactDecimal(BigInt(whole + part), part.length);
}

/** What an amount is worth, in millionths of a dollar, cut off; null without a price. */
export function microsOf(amount: bigint, decimals: number, price: ExactDecimal | null): bigint | null {
  if (price === null) return null;
  const units = amount * price.units;
  const digits = decimals + price.decimals - valueDigits;
  return digits >= 0 ? units / 10n ** BigInt(digits) : units * 10n ** BigInt(-digits);
}

/** Millionths of a dollar as dollars. */
export const dollars = (micros: bigint | null): ExactDecimal | null =>
  micros === null ? null : new ExactDecimal(micros, valueDigits);
