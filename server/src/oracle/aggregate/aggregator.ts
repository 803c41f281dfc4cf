import type { Decimal } from "../model/decimal.ts";
import type { PricedRound, Round } from "../model/round.ts";
import type { Input } from "./inputs.ts";
import { MarketTable } from "./market-table.ts";
import { type AggregateOptions, isStablecoin, type Stablecoin, stablecoins, staleLimits } from "./options.ts";
import { collectQuotes, type Indexes, type QuoteOptions, unknownIndexes, viewPrice } from "./quotes.ts";
import { indexOf, type StablecoinIndex } from "./stablecoin-index.ts";
import { SymbolRounds } from "./symbol-rounds.ts";

const clockBackMsMax = 5_000;

/**
 * Computes rounds from inputs and nothing else: no clock, no randomness, no I/O. The same inputs give the same rounds
 * to the byte, so that a log of inputs proves what was served.
 */
export class Aggregator {
  readonly #quoteOptions: QuoteOptions;
  readonly #tableSymbols: readonly string[];
  #table: MarketTable;
  readonly #rounds = new Map<string, SymbolRounds>();
  /** When the first of a symbol's markets becomes stale; a mark at or after it computes a round without any tick. */
  readonly #staleAtMs = new Map<string, number>();
  readonly #changed = new Set<string>();
  #indexes: Indexes = unknownIndexes;
  #atMs = 0;

  constructor(options: AggregateOptions) {
    const symbols = [...new Set(options.symbols)].toSorted();
    this.#quoteOptions = { staleLimits: staleLimits(options), origins: { ...options.origins } };
    this.#tableSymbols = [...new Set([...symbols, ...stablecoins])];
    this.#table = new MarketTable(this.#tableSymbols);
    for (const symbol of symbols) this.#rounds.set(symbol, new SymbolRounds(symbol));
  }

  /** Takes one input; a mark returns the rounds of all symbols that changed since the previous mark, by name. */
  accept(input: Input): readonly Round[] {
    this.#advance(input.kind === "time" ? input.atMs : input.tick.receivedAtMs);
    if (input.kind === "time") return this.#computeRounds();
    for (const symbol of this.#table.accept(input.tick, this.#good)) this.#changed.add(symbol);
    return [];
  }

  /** Whether a mark at this time would compute a round: something changed, or becomes stale by then. */
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

  /** The index of a dollar coin, by which its quotes are converted. */
  index(coin: Stablecoin): StablecoinIndex {
    return this.#indexes[coin];
  }

  /**
   * Time does not go back when a clock is slewed a little. A larger step back means that the clock was set, and ages
   * that were counted before have no meaning: all quotes are dropped, and each source counts again from its next tick.
   */
  #advance(toMs: number): void {
    if (!Number.isSafeInteger(toMs)) return;
    const isSet = toMs < this.#atMs - clockBackMsMax;
    this.#atMs = isSet ? toMs : Math.max(this.#atMs, toMs);
    if (!isSet) return;
    this.#table = new MarketTable(this.#tableSymbols);
    this.#indexes = unknownIndexes;
    for (const symbol of this.#rounds.keys()) this.#changed.add(symbol);
  }

  readonly #good = (symbol: string): Decimal | null => this.#rounds.get(symbol)?.lastGood?.price ?? null;

  /** All symbols are converted by the indexes as they were before this mark, which are computed anew afterwards. */
  #computeRounds(): readonly Round[] {
    const atMs = this.#atMs;
    for (const [symbol, staleAtMs] of this.#staleAtMs) if (atMs >= staleAtMs) this.#changed.add(symbol);
    const created: Round[] = [];
    for (const [symbol, rounds] of this.#rounds) {
      if (!this.#changed.has(symbol)) continue;
      const context = { atMs, indexes: this.#indexes, good: rounds.lastGood?.price ?? null, reach: rounds.reach };
      const set = collectQuotes(this.#table.views(symbol), context, this.#quoteOptions);
      this.#staleAtMs.set(symbol, set.staleAtMs);
      created.push(rounds.make(set, this.#indexes, atMs));
    }
    const isIndexTouched = [...this.#changed].some(isStablecoin);
    this.#changed.clear();
    if (isIndexTouched) this.#computeIndexes();
    return created;
  }

  #computeIndexes(): void {
    const before = this.#indexes;
    const [USDC, USDT] = [this.#indexFor("USDC", before.USDT), this.#indexFor("USDT", before.USDC)];
    this.#indexes = { USDC, USDT };
    // A new price of an index counts from each symbol's next tick; a change of its state counts at once.
    if (USDC.state === before.USDC.state && USDT.state === before.USDT.state) return;
    for (const symbol of this.#rounds.keys()) this.#changed.add(symbol);
  }

  #indexFor(coin: Stablecoin, other: StablecoinIndex): StablecoinIndex {
    const direct = new Map<string, Decimal>();
    const crosses = new Map<string, Decimal>();
    let staleAtMs = Number.POSITIVE_INFINITY;
    for (const view of this.#table.views(coin)) {
      const { source } = view.market.tick;
      const staleMs = this.#quoteOptions.staleLimits[source];
      if (this.#atMs - view.market.asOfMs > staleMs) continue;
      staleAtMs = Math.min(staleAtMs, view.market.asOfMs + staleMs + 1);
      const origin = this.#quoteOptions.origins[source] ?? source;
      (view.through === null ? direct : crosses).set(origin, viewPrice(view));
    }
    this.#staleAtMs.set(coin, staleAtMs);
    for (const origin of direct.keys()) crosses.delete(origin);
    return indexOf({ direct: [...direct.values()], crosses: [...crosses.values()], other });
  }
}
