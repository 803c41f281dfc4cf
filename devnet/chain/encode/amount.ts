/** A token amount as Solana RPC presents it. */
export type UiTokenAmount = {
  readonly uiAmount: number | null;
  readonly decimals: number;
  readonly amount: string;
  readonly uiAmountString: string;
};

/** The greatest power of ten that a u64 holds; from 10^20 on, the node has no factor to divide by and gives no float. */
const DECIMALS_WITH_FACTOR_MAX = 19;

/** `amount / 10^decimals` in digits, without trailing zeros of the fraction. */
export function decimalText(amount: bigint, decimals: number): string {
  if (decimals === 0) return amount.toString();
  const digits = amount.toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, -decimals);
  const fraction = digits.slice(-decimals).replace(/0+$/, "");
  return fraction === "" ? whole : `${whole}.${fraction}`;
}

/**
 * Presents raw token units. `uiAmount` is the double nearest to the exact quotient, and null from 20 decimals on, where
 * the factor exceeds a u64; `uiAmountString` is exact. Source: Solana JSON-RPC, account encoding (UiTokenAmount).
 */
export function uiTokenAmount(amount: bigint, decimals: number): UiTokenAmount {
  const uiAmountString = decimalText(amount, decimals);
  return {
    uiAmount: decimals <= DECIMALS_WITH_FACTOR_MAX ? Number(uiAmountString) : null,
    decimals,
    amount: amount.toString(),
    uiAmountString,
  };
}
