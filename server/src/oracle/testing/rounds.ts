import { type Decimal, decimal } from "../model/decimal.ts";
import type { PricedRound } from "../model/round.ts";
import type { SourceId, Tick } from "../model/tick.ts";

/** A price that three sources agree on; what a test is about it gives itself. */
export function priced(
  changes: { symbol?: string; atMs: number; price: string; sources?: readonly SourceId[] } & Partial<
    Pick<PricedRound, "change24h" | "high24h" | "low24h" | "volume24h" | "confidence">
  >,
): PricedRound {
  const price = decimal(changes.price);
  const sources = changes.sources ?? ["binance", "coinbase", "kraken"];
  const round: PricedRound = {
    kind: "price",
    symbol: changes.symbol ?? "BTC",
    atMs: changes.atMs,
    price,
    confidence: changes.confidence ?? decimal("99.5"),
    sources: sources.map((source) => ({ source, price, weight: decimal("0.25"), asOfMs: changes.atMs })),
    volume24h: changes.volume24h ?? decimal("1440000"),
    change24h: changes.change24h === undefined ? decimal("1.25") : changes.change24h,
    high24h: changes.high24h === undefined ? price : changes.high24h,
    low24h: changes.low24h === undefined ? price : changes.low24h,
  };
  return round;
}

export function tick(source: SourceId, base: string, receivedAtMs: number, price: Decimal): Tick {
  return {
    source,
    base,
    quote: "USD",
    price,
    bid: null,
    ask: null,
    open24h: null,
    high24h: null,
    low24h: null,
    baseVolume24h: decimal("1000"),
    quoteVolume24h: null,
    asOfMs: receivedAtMs,
    receivedAtMs,
  };
}
