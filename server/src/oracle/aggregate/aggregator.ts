import type { Decimal } from "../model/decimal.ts";
import type { Round } from "../model/round.ts";
import { type CoinRate, DollarRate, unsure } from "./dollar-rate.ts";
import type { Input } from "./inputs.ts";
import { MarketTable } from "./market-table.ts";
import { type AggregateOptions, stablecoins, staleLimits } from "./options.ts";
import { type CoinRates, collectQuotes, type StaleLimits, unknownRates } from "./quotes.ts";
import { rateEvidence, usdcRate } from "./rate-evidence.ts";
import { SymbolRounds } from "./symbol-rounds.ts";

const clockBackMsMax = 5_000;
/** A price without news is computed again after so many milliseconds, since its confidence falls with its age. */
const agingMs = 2_000;

/**
 * Computes rounds from inputs and nothing else: no clock, no randomness, no I/O. The same inputs give the same rounds
 * to the byte, so that a log of inputs proves what was served.
 */
export class Aggregator {
  readonly #staleLimits: StaleLimits;
  readonly #tableSymbols: readonly string[];
  #table: MarketTable;
  readonly #rounds = new Map<string, SymbolRounds>();
  /** When the first of a symbol's markets becomes stale; a mark at or after it computes a round without any tick. */
  readonly #staleAtMs = new Map<string, number>();
  readonly #changed = new Set<string>();
  readonly #dollarRate = new DollarRate();
  #rates: CoinRates = unknownRates;
  #ratesStaleAtMs = Number.POSITIVE_INFINITY;
  #atMs = 0;

  constructor(options: AggregateOptions) {
    const symbols = [...new Set(options.symbols)].toSorted();
    this.#staleLimits = staleLimits(options);
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
    if (this.#changed.size > 0 || atMs >= this.#ratesStaleAtMs) return true;
    for (const staleAtMs of this.#staleAtMs.values()) if (atMs >= staleAtMs) return true;
    for (const rounds of this.#rounds.values()) if (isAged(rounds.latest, atMs)) return true;
    return false;
  }

  /** What the dollar coins are worth, by which their quotes are converted. */
  get rates(): CoinRates {
    return this.#rates;
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
    this.#dollarRate.reset();
    this.#rates = unknownRates;
    for (const symbol of this.#rounds.keys()) this.#changed.add(symbol);
  }

  readonly #good = (symbol: string): Decimal | null => this.#rounds.get(symbol)?.lastGood?.price ?? null;

  /** All symbols are converted by the rates as they were before this mark, which are computed anew afterwards. */
  #computeRounds(): readonly Round[] {
    const atMs = this.#atMs;
    for (const [symbol, staleAtMs] of this.#staleAtMs) if (atMs >= staleAtMs) this.#changed.add(symbol);
    const created: Round[] = [];
    for (const [symbol, rounds] of this.#rounds) {
      if (!this.#changed.has(symbol) && !isAged(rounds.latest, atMs)) continue;
      const context = { atMs, rates: this.#rates, good: rounds.lastGood?.price ?? null, reach: rounds.reach };
      const set = collectQuotes(this.#table.views(symbol), context, this.#staleLimits);
      this.#staleAtMs.set(symbol, set.staleAtMs);
      created.push(rounds.make(set, this.#rates, atMs));
    }
    const isRateDue = this.#changed.size > 0 || atMs >= this.#ratesStaleAtMs;
    this.#changed.clear();
    if (isRateDue) this.#computeRates();
    return created;
  }

  #computeRates(): void {
    const before = this.#rates;
    const { staleAtMs, ...evidence } = rateEvidence(this.#table, this.#atMs, this.#staleLimits);
    const usdt = this.#dollarRate.next(evidence);
    const { usdcInUsdt } = evidence;
    const isKnown = usdt.state !== "unsure" && usdcInUsdt !== null;
    const usdc: CoinRate = isKnown ? { ...usdt, price: usdcRate(usdcInUsdt, usdt.price) } : unsure;
    this.#rates = { USDC: usdc, USDT: usdt };
    this.#ratesStaleAtMs = Math.min(staleAtMs, this.#dollarRate.expiresAtMs);
    // A new rate counts from each symbol's next tick; a change of its state counts at once.
    if (usdc.state === before.USDC.state && usdt.state === before.USDT.state) return;
    for (const symbol of this.#rounds.keys()) this.#changed.add(symbol);
  }
}

const isAged = (latest: Round | null, atMs: number): boolean =>
  latest?.kind === "price" && atMs - latest.atMs >= agingMs;
