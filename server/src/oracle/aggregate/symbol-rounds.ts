import { type Decimal, divide, multiply, unit } from "../decimal.ts";
import type { PricedRound, RefusalReason, RefusedRound, Round } from "../round.ts";
import { bandOf, confidenceOf, differenceBand, type SharedErrors } from "./band.ts";
import { Breaker } from "./breaker.ts";
import type { Hearing, Indexes } from "./hearing.ts";
import { Movement } from "./movement.ts";
import { reachOf, sourcesMin, stablecoins } from "./options.ts";
import { quorumOf, widenedReach } from "./quorum.ts";
import type { Voice, Vote } from "./voice.ts";
import { sortedByValue, type Weighted, weightedMedian } from "./weighted.ts";
import { weightsOf } from "./weights.ts";

/** No source's volume counts for more than this many times the median one: units mixed up print far more. */
const volumeMedians = 100n;

/** The rounds of one symbol, and what the next one needs to know of those before. */
export class SymbolRounds {
  readonly symbol: string;
  readonly reach: Decimal;
  readonly #breaker = new Breaker();
  readonly #movement = new Movement();
  #latest: Round | null = null;
  #lastGood: PricedRound | null = null;

  constructor(symbol: string) {
    this.symbol = symbol;
    this.reach = reachOf(symbol);
  }

  get latest(): Round | null {
    return this.#latest;
  }

  get lastGood(): PricedRound | null {
    return this.#lastGood;
  }

  make(hearing: Hearing, indexes: Indexes, atMs: number): Round {
    const round = this.#judge(hearing, indexes, atMs);
    this.#latest = round;
    if (round.kind === "price") this.#lastGood = round;
    else if (round.reason !== "breaker") this.#breaker.interrupt();
    return round;
  }

  #judge(hearing: Hearing, indexes: Indexes, atMs: number): Round {
    const { voices, unconverted } = hearing;
    const refused = (reason: RefusalReason): RefusedRound => ({
      kind: "refused",
      symbol: this.symbol,
      atMs,
      reason,
      sources: hearing.fresh,
    });
    const needed = sourcesMin(this.symbol);
    if (voices.length < needed) {
      return refused(voices.length + unconverted >= needed ? "depeg" : "too-few-sources");
    }
    const bySource = votesOf(voices);
    const votes = bySource.toSorted(byPrice);
    const reach = widenedReach(votes, this.reach);
    const quorum = quorumOf(votes, reach, this.#lastGood, atMs);
    if (quorum !== "agreed") return refused(quorum);
    const price = weightedMedian(votes);
    if (!this.#breaker.passes(price, atMs, this.#lastGood, reach)) return refused("breaker");
    return this.#priced(price, votes, bySource, indexes, atMs);
  }

  #priced(price: Decimal, votes: Vote[], bySource: Vote[], indexes: Indexes, atMs: number): PricedRound {
    const shared: SharedErrors = {
      index: indexError(votes, indexes),
      movement: this.#movement.sharedVariance(votes, atMs),
      spread: medianOf(votes, (voice) => voice.spread),
    };
    const band = bandOf(votes, price, shared);
    this.#movement.learn(price, differenceBand(votes), atMs);
    return {
      kind: "price",
      symbol: this.symbol,
      atMs,
      price,
      confidence: confidenceOf(votes, price, shared, freshnessOf(votes, atMs)),
      band,
      sources: bySource.map(({ voice, weight }) => ({
        source: voice.source,
        price: voice.price,
        weight,
        asOfMs: voice.asOfMs,
      })),
      volume24h: volumeOf(votes),
      change24h: medianOf(votes, (voice) => voice.change),
      high24h: noLess(
        medianOf(votes, (voice) => voice.high),
        price,
      ),
      low24h: noMore(
        medianOf(votes, (voice) => voice.low),
        price,
      ),
    };
  }
}

function votesOf(voices: readonly Voice[]): Vote[] {
  const weights = weightsOf(voices.map((voice) => voice.volume));
  return voices.map((voice, index) => ({
    voice,
    weight: weights[index] ?? (0n as Decimal),
    value: voice.price,
  }));
}

const byPrice = (left: Vote, right: Vote): number => (left.value < right.value ? -1 : left.value > right.value ? 1 : 0);

/** The indexes' own bands, as shares of the price, in the measure in which they converted. */
function indexError(votes: readonly Vote[], indexes: Indexes): Decimal {
  let error = 0n;
  for (const coin of stablecoins) {
    const index = indexes[coin];
    if (index.state === "unsure") continue;
    let weight = 0n;
    for (const vote of votes) if (vote.voice.through === coin) weight += vote.weight;
    if (weight > 0n) error += multiply(weight as Decimal, divide(index.band, index.price));
  }
  return error as Decimal;
}

/** 1 for what was said just now, one half for what is at its limit, by weight. */
function freshnessOf(votes: readonly Vote[], atMs: number): Decimal {
  let lost = 0n;
  for (const { voice, weight } of votes) {
    const age = Math.min(Math.max(0, atMs - voice.asOfMs), voice.staleMs);
    lost += (weight * BigInt(age)) / BigInt(2 * voice.staleMs);
  }
  return (unit - lost) as Decimal;
}

/** The weighted median of a figure over those who know it; null when none does. */
function medianOf(votes: readonly Vote[], figure: (voice: Voice) => Decimal | null): Decimal | null {
  const known: Weighted[] = [];
  for (const { voice, weight } of votes) {
    const value = figure(voice);
    if (value !== null && weight > 0n) known.push({ value, weight });
  }
  return known.length === 0 ? null : weightedMedian(sortedByValue(known));
}

function volumeOf(votes: readonly Vote[]): Decimal {
  const volumes = votes.flatMap(({ voice }) => (voice.volume === null ? [] : [voice.volume]));
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
