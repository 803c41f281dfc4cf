import type { CoinRates } from "../aggregate/quotes.ts";
import { type Decimal, decimal, formatDecimal } from "../model/decimal.ts";
import type { OracleEvents } from "../model/events.ts";
import type { Round } from "../model/round.ts";

/** What comes and goes within this time is not reported. */
const lastsMs = 5_000;
/** Percent: below the first confidence is very low, from the second on no longer. */
const veryLow = decimal("10");
const usual = decimal("20");

/** A state that counts once it has lasted. */
class SettledState<State> {
  #settled: State;
  #next: State;
  #sinceMs = 0;

  constructor(state: State) {
    this.#settled = state;
    this.#next = state;
  }

  get settled(): State {
    return this.#settled;
  }

  /** Whether another state has just settled. */
  observe(state: State, atMs: number): boolean {
    if (state !== this.#next) {
      this.#next = state;
      this.#sinceMs = atMs;
    }
    if (state === this.#settled || atMs - this.#sinceMs < lastsMs) return false;
    this.#settled = state;
    return true;
  }
}

/** Reports, once and on change, that prices are less certain than usual: low confidence, and the rate of USDT. */
export class PriceWatch {
  readonly #events: Pick<OracleEvents, "rateChanged" | "confidenceChanged">;
  readonly #rate = new SettledState<string>("agreed");
  readonly #isVeryLow = new Map<string, SettledState<boolean>>();

  constructor(events: Pick<OracleEvents, "rateChanged" | "confidenceChanged">) {
    this.#events = events;
    events.rateChanged("USDT", this.#rate.settled);
  }

  /** Takes the rounds of a mark and the rates after it. */
  observe(rounds: readonly Round[], rates: CoinRates, atMs: number): void {
    if (this.#rate.observe(rates.USDT.state, atMs)) this.#events.rateChanged("USDT", this.#rate.settled);
    for (const round of rounds) if (round.kind === "price") this.#confidence(round.symbol, round.confidence, atMs);
  }

  #confidence(symbol: string, confidence: Decimal, atMs: number): void {
    const state = this.#isVeryLow.get(symbol) ?? new SettledState(false);
    this.#isVeryLow.set(symbol, state);
    if (!state.observe(confidence < (state.settled ? usual : veryLow), atMs)) return;
    this.#events.confidenceChanged(symbol, state.settled, Number(formatDecimal(confidence)));
  }
}
