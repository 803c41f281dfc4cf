import type { Decimal } from "../decimal.ts";
import type { PricedRound, Round } from "../round.ts";
import { type HearingOptions, hear, type Indexes, quoteOf, unknownIndexes } from "./hearing.ts";
import type { Input } from "./input.ts";
import { MarketBook } from "./market-book.ts";
import { type AggregateOptions, isStablecoin, type Stablecoin, stablecoins, staleLimits } from "./options.ts";
import { indexOf, type StablecoinIndex } from "./stablecoin-index.ts";
import { SymbolRounds } from "./symbol-rounds.ts";

const clockBackMsMax = 5_000;

/**
 * Makes rounds from inputs and nothing else: no clock, no chance, no I/O. The same inputs give the same rounds to the
 * byte, so that a log of inputs is a proof of what was answered.
 */
export class Aggregator {
  readonly #hearing: HearingOptions;
  readonly #bookSymbols: readonly string[];
  #book: MarketBook;
  readonly #rounds = new Map<string, SymbolRounds>();
  /** When the first of a symbol's markets goes stale; a mark at or after it makes a round without any tick. */
  readonly #staleAtMs = new Map<string, number>();
  readonly #changed = new Set<string>();
  #indexes: Indexes = unknownIndexes;
  #atMs = 0;

  constructor(options: AggregateOptions) {
    const symbols = [...new Set(options.symbols)].toSorted();
    this.#hearing = { staleLimits: staleLimits(options), origins: { ...options.origins } };
    this.#bookSymbols = [...new Set([...symbols, ...stablecoins])];
    this.#book = new MarketBook(this.#bookSymbols);
    for (const symbol of symbols) this.#rounds.set(symbol, new SymbolRounds(symbol));
  }

  /** Takes one input in; a mark answers with the rounds of all symbols that changed since the mark before, by name. */
  accept(input: Input): readonly Round[] {
    this.#advance(input.kind === "time" ? input.atMs : input.tick.receivedAtMs);
    if (input.kind === "time") return this.#makeRounds();
    for (const symbol of this.#book.accept(input.tick, this.#good)) this.#changed.add(symbol);
    return [];
  }

  /** Whether a mark at this time would make anything: something changed, or went stale by then. */
  isDue(atMs: number): boolean {
    if (this.#changed.size > 0) return true;
    for (const staleAtMs of this.#staleAtMs.values()) if (atMs >= staleAtMs) return true;
    return false;
  }

  latest(symbol: string): Round | null {
    return this.#rounds.get(symbol)?.latest ?? null;
  }

  /** The last round that had a price, however old. */
  lastGood(symbol: string): PricedRound | null {
    return this.#rounds.get(symbol)?.lastGood ?? null;
  }

  /** What a dollar coin is worth for conversions. */
  index(coin: Stablecoin): StablecoinIndex {
    return this.#indexes[coin];
  }

  /**
   * Time does not go back by the little that clocks are slewed. When it does by more our clock was set, and ages counted
   * from before mean nothing: all quotes are forgotten, and each source is heard again with its next tick.
   */
  #advance(toMs: number): void {
    if (!Number.isSafeInteger(toMs)) return;
    const isSet = toMs < this.#atMs - clockBackMsMax;
    this.#atMs = isSet ? toMs : Math.max(this.#atMs, toMs);
    if (!isSet) return;
    this.#book = new MarketBook(this.#bookSymbols);
    this.#indexes = unknownIndexes;
    for (const symbol of this.#rounds.keys()) this.#changed.add(symbol);
  }

  readonly #good = (symbol: string): Decimal | null => this.#rounds.get(symbol)?.lastGood?.price ?? null;

  /** All symbols are converted by the indexes as they were before this mark, which are then made anew. */
  #makeRounds(): readonly Round[] {
    const atMs = this.#atMs;
    for (const [symbol, staleAtMs] of this.#staleAtMs) if (atMs >= staleAtMs) this.#changed.add(symbol);
    const made: Round[] = [];
    for (const [symbol, rounds] of this.#rounds) {
      if (!this.#changed.has(symbol)) continue;
      const moment = { atMs, indexes: this.#indexes, good: rounds.lastGood?.price ?? null, reach: rounds.reach };
      const hearing = hear(this.#book.views(symbol), moment, this.#hearing);
      this.#staleAtMs.set(symbol, hearing.staleAtMs);
      made.push(rounds.make(hearing, this.#indexes, atMs));
    }
    const isIndexTouched = [...this.#changed].some(isStablecoin);
    this.#changed.clear();
    if (isIndexTouched) this.#makeIndexes();
    return made;
  }

  #makeIndexes(): void {
    const before = this.#indexes;
    const [USDC, USDT] = [this.#indexFor("USDC", before.USDT), this.#indexFor("USDT", before.USDC)];
    this.#indexes = { USDC, USDT };
    // A new price of an index is heard with each symbol's next tick; that it can be used at all, or no longer, at once.
    if (USDC.state === before.USDC.state && USDT.state === before.USDT.state) return;
    for (const symbol of this.#rounds.keys()) this.#changed.add(symbol);
  }

  #indexFor(coin: Stablecoin, other: StablecoinIndex): StablecoinIndex {
    const direct = new Map<string, Decimal>();
    const crosses = new Map<string, Decimal>();
    let staleAtMs = Number.POSITIVE_INFINITY;
    for (const view of this.#book.views(coin)) {
      const { source } = view.market.tick;
      const staleMs = this.#hearing.staleLimits[source];
      if (this.#atMs - view.market.asOfMs > staleMs) continue;
      staleAtMs = Math.min(staleAtMs, view.market.asOfMs + staleMs + 1);
      const origin = this.#hearing.origins[source] ?? source;
      (view.through === null ? direct : crosses).set(origin, quoteOf(view));
    }
    this.#staleAtMs.set(coin, staleAtMs);
    for (const origin of direct.keys()) crosses.delete(origin);
    return indexOf({ direct: [...direct.values()], crosses: [...crosses.values()], other });
  }
}
