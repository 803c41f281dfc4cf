import type { Decimal } from "../../server/src/oracle/index.ts";

export const subscribers = 1_000;
export const restPerSecond = 5_000;
/** One symbol's price each; fourteen symbols take turns. */
export const playEveryMs = 100;
export const accounts = Array.from({ length: 10 }, (_, index) => `account-${index}`);
export const keyOf = (accountId: string): string => `key-${accountId}`;

/** Microseconds of the machine's clock, which all processes share. */
const micros = (): number => Math.round((performance.timeOrigin + performance.now()) * 1_000);
const stampDigits = 16;

/** A price near one whose last digits say when it was made, so that no two clocks have to be compared afterwards. */
export function stampedPrice(): Decimal {
  return (10n ** 18n + BigInt(micros())) as Decimal;
}

/** Milliseconds since the price in this message was made; null where the text has none. */
export function ageMs(text: string): number | null {
  const at = text.indexOf('"price":1.');
  if (at < 0) return null;
  const fraction = text.slice(at + 10, at + 28);
  const end = fraction.search(/\D/);
  const digits = (end < 0 ? fraction : fraction.slice(0, end)).padEnd(18, "0");
  return (micros() - Number(digits.slice(18 - stampDigits))) / 1_000;
}
