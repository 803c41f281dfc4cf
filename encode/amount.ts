/** A token amount as Solana RPC presents it. */
export type UiTokenAmount = {
  readonly uiAmount: number | null;
  readonly decimals: number;
  readonly amount: string;
  readonly uiAmountString: string;
};

/**
 * The greatest power of ten that a u64 holds; from 10^20 on, the node has no factor to divide by and gives no float.
 */
const decimalsWithFactorMax = 19;

/** Digits after the point that a double can be asked for. */
const fractionDigitsMax = 100;

/** `amount / 10^decimals` in digits, without trailing zeros of the fraction. */
export function decimalText(amount: bigint, decimals: number): string {
  if (decimals === 0) return amount.toString();
  const digits = amount.toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, -decimals);
  const fraction = digits.slice(-decimals).replace(/0+$/, "");
  return fraction === "" ? whole : `${whole}.${fraction}`;
}

/**
 * Presents raw token units. `uiAmountString` is exact. `uiAmount` is the quotient of two doubles, as the node divides:
 * for amounts up to 2^53 that is the double nearest to the exact value, for larger ones it may be the next to it. It is
 * null from 20 decimals on, where the factor exceeds a u64. Source: Solana JSON-RPC, account encoding (UiTokenAmount);
 * a real balance of 863634859025574264 with 9 decimals, shown as 863634859.0255743.
 */
export function uiTokenAmount(amount: bigint, decimals: number): UiTokenAmount {
  return {
    uiAmount: decimals <= decimalsWithFactorMax ? Number(amount) / 10 ** decimals : null,
    decimals,
    amount: amount.toString(),
    uiAmountString: decimalText(amount, decimals),
  };
}

/** A double in digits, never with an exponent; "inf" and "NaN" as the node writes them. */
export function doubleText(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  const [mantissa = "0", exponentText] = value.toString().split("e");
  if (exponentText === undefined) return mantissa;
  const exponent = Number(exponentText);
  const sign = mantissa.startsWith("-") ? "-" : "";
  const [whole = "0", fraction = ""] = mantissa.replace("-", "").split(".");
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - whole.length)}${whole}${fraction}`;
  return `${sign}${whole}${fraction.padEnd(exponent, "0")}`;
}

/** A mint's rule that changes what holders are shown, as its extension states it. */
export type AmountRule =
  | {
      readonly kind: "interest";
      /** Unix seconds. */
      readonly initializedAt: bigint;
      /** Basis points a year, compounding continuously. */
      readonly averageRateBefore: number;
      /** Unix seconds. */
      readonly updatedAt: bigint;
      readonly currentRate: number;
    }
  | {
      readonly kind: "scale";
      readonly multiplier: number;
      readonly newMultiplier: number;
      /** Unix seconds from which the new multiplier holds. */
      readonly newMultiplierAt: bigint;
    };

const secondsAYear = 60 * 60 * 24 * 365.24;
const basisPoints = 10_000;

function growth(rate: number, seconds: bigint): number {
  return Math.exp((rate * Number(seconds)) / secondsAYear / basisPoints);
}

function roundedText(value: number, decimals: number): string {
  if (!Number.isFinite(value)) return doubleText(value);
  const digits = Math.min(decimals, fractionDigitsMax);
  const text = Math.abs(value) < 1e21 ? value.toFixed(digits) : doubleText(value);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/**
 * Presents raw token units of a mint that bears interest or scales what it shows, at `unixTimestamp`. Only `uiAmount`
 * and `uiAmountString` follow the rule; `amount` stays raw. `uiAmount` is null where the result is not finite.
 */
export function ruledTokenAmount(
  amount: bigint,
  decimals: number,
  rule: AmountRule,
  unixTimestamp: bigint,
): UiTokenAmount {
  const factor = 10 ** decimals;
  let shown: number;
  if (rule.kind === "interest") {
    const before = growth(rule.averageRateBefore, rule.updatedAt - rule.initializedAt);
    const since = growth(rule.currentRate, unixTimestamp - rule.updatedAt);
    shown = Number(amount) * ((before * since) / factor);
  } else {
    const multiplier = unixTimestamp >= rule.newMultiplierAt ? rule.newMultiplier : rule.multiplier;
    shown = Math.trunc(Number(amount) * multiplier) / factor;
  }
  const uiAmountString = roundedText(shown, decimals);
  const uiAmount = Number(uiAmountString);
  return { uiAmount: Number.isFinite(uiAmount) ? uiAmount : null, decimals, amount: amount.toString(), uiAmountString };
}
