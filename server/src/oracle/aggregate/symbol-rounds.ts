import { invariant } from "@sluice/lib";
import { type Decimal, divide, multiply, unit } from "../model/decimal.ts";
import type { PricedRound, RefusalReason, RefusedRound, Round } from "../model/round.ts";
import { confidenceOf } from "./confidence.ts";
import { isDepegged } from "./dollar-rate.ts";
import { reachOf, sourcesMin, stablecoins } from "./options.ts";
import { PriceMemory } from "./price-memory.ts";
import { quorumOf, widenedReach } from "./quorum.ts";
import type { CoinRates, Quote, QuoteSet, WeightedQuote } from "./quotes.ts";
import { sortedByValue, type Weighted, weightedMedian, weightsOf } from "./weights.ts";

/** A source's volume counts at most this many times the median one: a volume in the wrong unit is far larger. */
const volumeMedians = 100n;

/** Computes the rounds of one symbol and keeps the state that the next one needs. */
export class SymbolRounds {
  readonly symbol: string;
  readonly reach: Decimal;
  readonly #memory = new PriceMemory();
  #latest: Round | null = null;

  constructor(symbol: string) {
    this.symbol = symbol;
    this.reach = reachOf(symbol);
  }

  get latest(): Round | null {
    return this.#latest;
  }

  get lastGood(): PricedRound | null {
    return this.#memory.last;
  }

  make(set: QuoteSet, rates: CoinRates, atMs: number): Round {
    const round = this.#evaluate(set, rates, atMs);
    this.#latest = round;
    this.#memory.take(round);
    return round;
  }

  #evaluate(set: QuoteSet, rates: CoinRates, atMs: number): Round {
    const { quotes, unconverted } = set;
    const refused = (reason: RefusalReason): RefusedRound => ({
      kind: "refused",
      symbol: this.symbol,
      atMs,
      reason,
      sources: set.fresh,
    });
    const needed = sourcesMin(this.symbol);
    if (quotes.length < needed) {
      return refused(quotes.length + unconverted >= needed ? reasonOfRates(rates) : "too-few-sources");
    }
    const bySource = weightQuotes(quotes);
    const weighted = bySource.toSorted(byPrice);
    const reach = widenedReach(weighted, this.reach);
    const { last } = this.#memory;
    const isRateHeld = stablecoins.some((coin) => rates[coin].state === "held");
    const quorum = quorumOf(weighted, { unconverted, isRateHeld, reach, last, atMs });
    if (quorum === "disagreement") return refused(quorum);
    if (quorum === "rate") return refused(reasonOfRates(rates));
    const price = weightedMedian(weighted);
    const [lowest, highest] = [weighted[0]?.value ?? price, weighted.at(-1)?.value ?? price];
    invariant(price > 0n && price >= lowest && price <= highest, "a price lies outside the prices of its quotes");
    if (!this.#memory.passes(price, { atMs, reach, isUnproved: quorum === "unproved" })) return refused("breaker");
    return this.#priced(price, weighted, bySource, rates, atMs);
  }

  #priced(
    price: Decimal,
    weighted: WeightedQuote[],
    bySource: WeightedQuote[],
    rates: CoinRates,
    atMs: number,
  ): PricedRound {
    const doubts = { rateError: rateError(weighted, rates), freshness: freshnessOf(weighted, atMs) };
    return {
      kind: "price",
      symbol: this.symbol,
      atMs,
      price,
      confidence: confidenceOf(weighted, price, doubts),
      sources: bySource.map(({ quote, weight }) => ({
        source: quote.source,
        price: quote.price,
        weight,
        asOfMs: quote.asOfMs,
      })),
      volume24h: volumeOf(weighted),
      change24h: medianOf(weighted, (quote) => quote.change),
      high24h: noLess(
        medianOf(weighted, (quote) => quote.high),
        price,
      ),
      low24h: noMore(
        medianOf(weighted, (quote) => quote.low),
        price,
      ),
    };
  }
}

function weightQuotes(quotes: readonly Quote[]): WeightedQuote[] {
  const weights = weightsOf(quotes.map((quote) => quote.volume));
  const total = weights.reduce((sum, weight) => sum + weight, 0n);
  // Each weight is rounded, by at most one unit of the last place.
  invariant(total > 0n && total <= unit + BigInt(quotes.length), "the weights of a round do not sum to one at most");
  return quotes.map((quote, index) => ({
    quote,
    weight: weights[index] ?? (0n as Decimal),
    value: quote.price,
  }));
}

const byPrice = (left: WeightedQuote, right: WeightedQuote): number =>
  left.value < right.value ? -1 : left.value > right.value ? 1 : 0;

/** Why prices in coins are missing, or lie apart from those in dollars. */
const reasonOfRates = (rates: CoinRates): RefusalReason =>
  stablecoins.some((coin) => isDepegged(rates[coin])) ? "depeg" : "unknown-rate";

/** The errors of the rates, as shares of the price, by the weight of the quotes that they converted. */
function rateError(weighted: readonly WeightedQuote[], rates: CoinRates): Decimal {
  let error = 0n;
  for (const coin of stablecoins) {
    const rate = rates[coin];
    if (rate.state === "unsure") continue;
    let weight = 0n;
    for (const each of weighted) if (each.quote.through === coin) weight += each.weight;
    if (weight > 0n) error += multiply(weight as Decimal, divide(rate.error, rate.price));
  }
  return error as Decimal;
}

/** 1 for quotes of this moment, one half for quotes at their stale limit, by weight. */
function freshnessOf(weighted: readonly WeightedQuote[], atMs: number): Decimal {
  let lost = 0n;
  for (const { quote, weight } of weighted) {
    const age = Math.min(Math.max(0, atMs - quote.asOfMs), quote.staleMs);
    lost += (weight * BigInt(age)) / BigInt(2 * quote.staleMs);
  }
  return (unit - lost) as Decimal;
}

/** The weighted median of a figure over the quotes that have it; null when none has. */
function medianOf(weighted: readonly WeightedQuote[], figure: (quote: Quote) => Decimal | null): Decimal | null {
  const known: Weighted[] = [];
  for (const { quote, weight } of weighted) {
    const value = figure(quote);
    if (value !== null && weight > 0n) known.push({ value, weight });
  }
  return known.length === 0 ? null : weightedMedian(sortedByValue(known));
}

function volumeOf(weighted: readonly WeightedQuote[]): Decimal | null {
  const volumes = weighted.flatMap(({ quote }) => (quote.volume === null ? [] : [quote.volume]));
  if (volumes.length === 0) return null;
  const ordered = volumes.toSorted((left, right) => (left < right ? -1 : left > right ? 1 : 0));
  const limit = (ordered[(ordered.length - 1) >> 1] ?? 0n) * volumeMedians;
  let sum = 0n;
  for (const volume of ordered) sum += volume > limit ? limit : volume;
  return sum as Decimal;
}

const noLess = (value: Decimal | null, than: Decimal): Decimal | null =>
  value !== null && value < than ? than : value;
const noMore = (value: Decimal | null, than: Decimal): Decimal | null =>
  value !== null && value > than ? than : value;
