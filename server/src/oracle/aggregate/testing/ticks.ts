import { type Decimal, decimal } from "../../model/decimal.ts";
import type { Round } from "../../model/round.ts";
import { type SourceId, sourceIds, type Tick } from "../../model/tick.ts";
import { Aggregator } from "../aggregator.ts";
import type { AggregateOptions } from "../options.ts";

export const startMs = 1_800_000_000_000;

/** Decimals of a double, to the twelfth place: enough for simulated prices, and the same on every machine. */
export const fromNumber = (value: number): Decimal => decimal(value.toFixed(12));
export const toNumber = (value: Decimal): number => Number(value) / 1e18;

/** A tick in dollars with a million of them traded; what matters to a test is named in `changes`. */
export function tickOf(source: SourceId, price: string | Decimal, changes: Partial<Tick> = {}): Tick {
  const asOfMs = changes.asOfMs ?? startMs;
  return {
    source,
    base: "BTC",
    quote: "USD",
    price: typeof price === "string" ? decimal(price) : price,
    bid: null,
    ask: null,
    open24h: null,
    high24h: null,
    low24h: null,
    baseVolume24h: null,
    quoteVolume24h: decimal("1000000"),
    receivedAtMs: asOfMs,
    ...changes,
    asOfMs,
  };
}

/** An aggregator that is fed by hand and marked by hand. */
export class Table {
  readonly aggregator: Aggregator;

  constructor(options: Partial<AggregateOptions> = {}) {
    this.aggregator = new Aggregator({ symbols: ["BTC", "FTT", "USDC", "USDT"], ...options });
  }

  receive(...ticks: Tick[]): this {
    for (const tick of ticks) this.aggregator.accept({ kind: "tick", tick });
    return this;
  }

  /** The rounds of a mark. */
  mark(atMs = startMs): readonly Round[] {
    return this.aggregator.accept({ kind: "time", atMs });
  }

  /** The round that a mark makes for one symbol. */
  round(atMs = startMs, symbol = "BTC"): Round {
    const round = this.mark(atMs).find((each) => each.symbol === symbol);
    if (round === undefined) throw new Error(`no round for ${symbol}`);
    return round;
  }
}

/** The first `count` sources say these prices of BTC in dollars. */
export const ticksOf = (prices: readonly (string | Decimal)[], changes: Partial<Tick> = {}): Tick[] =>
  prices.map((price, index) => tickOf(sourceIds[index] ?? "chain", price, changes));
