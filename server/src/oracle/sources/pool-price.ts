import { absolute, add, type Decimal, decimal, decimalPlaces, divide, multiply, subtract } from "../model/decimal.ts";

/** What one reading of a pool's two vaults says. */
export interface PoolReading {
  readonly slot: bigint;
  /** In the mints' smallest units. */
  readonly baseAmount: bigint;
  readonly quoteAmount: bigint;
}

export interface PoolPriceOptions {
  readonly baseDecimals: number;
  readonly quoteDecimals: number;
  /** The least that both sides together must be worth, in the quote, which is a dollar or close to it. */
  readonly depthMin?: Decimal;
}

export type PoolVerdict =
  | { readonly kind: "price"; readonly price: Decimal }
  /** Not enough slots were seen yet, or this slot was seen before. */
  | { readonly kind: "waiting" }
  | { readonly kind: "dropped"; readonly reason: "shallow-pool" | "pool-moved" | "older" | "not-positive" };

/** Slots that make up a mean, at most and at least. */
export const poolSlotsMax = 32;
export const poolSlotsMin = 16;
/** How far a pool may move from one slot that was seen to the next. */
export const poolMoveMax = decimal("0.02");
/** Consecutive slots at a new level after which it is accepted: a manipulation that long loses to arbitrage. */
const settledSlots = 16;
const depthMinDefault = decimal("50000");

/**
 * The price of a constant product pool as a mean over slots. A trader can set the price of one slot, and set back in
 * the next. Here a slot weighs at most a sixteenth, and one that is more than two percent from its predecessor is not
 * taken at all: what one slot can do is bounded by an eighth of a percent, and it costs the trade's loss.
 */
export class PoolPrice {
  readonly #options: PoolPriceOptions;
  #samples: Decimal[] = [];
  /** Slots in a row that were not taken, each near its predecessor. */
  #aside: Decimal[] = [];
  #slot = -1n;

  constructor(options: PoolPriceOptions) {
    this.#options = options;
  }

  observe(reading: PoolReading): PoolVerdict {
    if (reading.slot === this.#slot) return { kind: "waiting" };
    if (reading.slot < this.#slot) return { kind: "dropped", reason: "older" };
    this.#slot = reading.slot;
    const base = scaled(reading.baseAmount, this.#options.baseDecimals);
    const quote = scaled(reading.quoteAmount, this.#options.quoteDecimals);
    const price = base > 0n ? divide(quote, base) : (0n as Decimal);
    if (price <= 0n) return this.#forget("not-positive");
    if (multiply(quote, decimal("2")) < (this.#options.depthMin ?? depthMinDefault))
      return this.#forget("shallow-pool");
    const before = this.#samples.at(-1);
    if (before !== undefined && !isNear(price, before)) return this.#setAside(price);
    this.#aside = [];
    this.#samples = [...this.#samples.slice(1 - poolSlotsMax), price];
    if (this.#samples.length < poolSlotsMin) return { kind: "waiting" };
    const sum = this.#samples.reduce(add);
    return { kind: "price", price: (sum / BigInt(this.#samples.length)) as Decimal };
  }

  /**
   * A pool that jumps is refused until it is back, or has stayed where it is for long enough to begin anew from there.
   */
  #setAside(price: Decimal): PoolVerdict {
    const before = this.#aside.at(-1);
    this.#aside = before === undefined || isNear(price, before) ? [...this.#aside, price] : [price];
    if (this.#aside.length >= settledSlots) {
      this.#samples = this.#aside;
      this.#aside = [];
    }
    return { kind: "dropped", reason: "pool-moved" };
  }

  #forget(reason: "not-positive" | "shallow-pool"): PoolVerdict {
    this.#samples = [];
    this.#aside = [];
    return { kind: "dropped", reason };
  }
}

const isNear = (price: Decimal, before: Decimal): boolean =>
  absolute(subtract(price, before)) <= multiply(before, poolMoveMax);

function scaled(amount: bigint, decimals: number): Decimal {
  return (amount * 10n ** BigInt(decimalPlaces - decimals)) as Decimal;
}
