import type { Leg } from "@sluice/parser";
import type { Decimal } from "../../oracle/index.ts";

/** US dollars for one unit of a token, by its mint. */
export type PricesByMint = ReadonlyMap<string, Decimal>;

/** What tokens were worth at the time of one block. */
export class TokenPrices {
  readonly #prices: PricesByMint;
  #unpriced = 0;

  constructor(prices: PricesByMint) {
    this.#prices = prices;
  }

  /** Trades whose value was asked for and of which nothing has a price. */
  get unpriced(): number {
    return this.#unpriced;
  }

  /** The value of an amount; null for a token without a price, or whose decimals are not told. */
  valueOf({ mint, amount, decimals }: Leg): Decimal | null {
    const price = this.#prices.get(mint);
    if (price === undefined || decimals === null) return null;
    return ((price * amount) / 10n ** BigInt(decimals)) as Decimal;
  }

  noteUnpriced(): void {
    this.#unpriced += 1;
  }
}
