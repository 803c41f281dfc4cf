import { oracleMajors } from "@sluice/contract/oracle";
import { type Decimal, divide, multiply } from "../model/decimal.ts";
import type { SourceId } from "../model/tick.ts";
import { medianOf, type RateEvidence } from "./dollar-rate.ts";
import type { MarketTable, MarketView } from "./market-table.ts";
import { isStablecoin } from "./options.ts";
import type { StaleLimits } from "./quotes.ts";

/** Symbols by whose prices in both currencies an exchange's own rate is seen: liquid everywhere. */
const references = oracleMajors.filter((symbol) => !isStablecoin(symbol));
/** Rates by symbols that outvote the one of an exchange's own market in USDT. */
const referencesMin = 2;
/** Exchanges whose median is the price of a symbol in USDT. */
const exchangesMin = 3;

/** The fresh prices of one symbol by exchange, in dollars and in USDT. */
interface Prices {
  readonly inDollars: ReadonlyMap<SourceId, Decimal>;
  readonly inUsdt: ReadonlyMap<SourceId, Decimal>;
}

const sorted = (values: readonly Decimal[]): Decimal[] =>
  values.toSorted((one, other) => (one < other ? -1 : one > other ? 1 : 0));

/**
 * What all exchanges together say of USDT's rate. In USDT every exchange has one vote on every price: one that quotes
 * dollars converts by its own rate, so that a lie about the rate spoils its own vote alone. With these prices each
 * exchange in dollars has as many estimates of the rate as it has symbols, and counts with their median: it lies about
 * the rate only by lying about most of its symbols in step.
 */
export function rateEvidence(
  table: MarketTable,
  atMs: number,
  staleLimits: StaleLimits,
): RateEvidence & { staleAtMs: number } {
  let staleAtMs = Number.POSITIVE_INFINITY;
  const pricesOf = (symbol: string): Prices => {
    const inDollars = new Map<SourceId, Decimal>();
    const inUsdt = new Map<SourceId, Decimal>();
    for (const view of table.views(symbol)) {
      if (view.inverse) continue;
      const { tick, asOfMs } = view.market;
      const staleMs = staleLimits[tick.source];
      if (atMs - asOfMs > staleMs) continue;
      staleAtMs = Math.min(staleAtMs, asOfMs + staleMs + 1);
      const prices = pricesFor(view, inDollars, inUsdt);
      prices?.set(tick.source, tick.price);
    }
    return { inDollars, inUsdt };
  };
  const direct = pricesOf("USDT").inDollars;
  const estimates = new Map<SourceId, Decimal[]>([...direct.keys()].map((source) => [source, []]));
  for (const symbol of references) {
    const prices = pricesOf(symbol);
    const inUsdt = priceInUsdt(prices, direct);
    if (inUsdt === null) continue;
    for (const [source, price] of prices.inDollars) {
      const own = estimates.get(source) ?? [];
      estimates.set(source, own);
      own.push(divide(price, inUsdt));
    }
  }
  return {
    atMs,
    estimates: sorted([...estimates].flatMap(([source, own]) => estimateOf(direct.get(source) ?? null, own) ?? [])),
    usdcInUsdt: priceInUsdt(pricesOf("USDC"), direct),
    staleAtMs,
  };
}

/** The median of all that an exchange shows; its own market in USDT alone where it shows little else. */
function estimateOf(direct: Decimal | null, implied: readonly Decimal[]): Decimal | null {
  if (implied.length < referencesMin) return direct;
  return medianOf(sorted(direct === null ? implied : [direct, ...implied]));
}

function pricesFor(
  { through }: MarketView,
  inDollars: Map<SourceId, Decimal>,
  inUsdt: Map<SourceId, Decimal>,
): Map<SourceId, Decimal> | null {
  if (through === null) return inDollars;
  return through === "USDT" ? inUsdt : null;
}

/** A symbol's price in USDT by the median of all exchanges; null while fewer than three tell it. */
function priceInUsdt({ inDollars, inUsdt }: Prices, direct: ReadonlyMap<SourceId, Decimal>): Decimal | null {
  const votes = new Map(inUsdt);
  for (const [source, price] of inDollars) {
    const rate = direct.get(source);
    if (rate !== undefined && rate > 0n && !votes.has(source)) votes.set(source, divide(price, rate));
  }
  if (votes.size < exchangesMin) return null;
  const price = medianOf(sorted([...votes.values()]));
  return price > 0n ? price : null;
}

/** USDC in dollars by a rate of USDT. */
export const usdcRate = (usdcInUsdt: Decimal, usdt: Decimal): Decimal => multiply(usdcInUsdt, usdt);
