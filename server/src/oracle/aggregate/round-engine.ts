import type { Clock, Timer } from "@sluice/lib";
import type { Round } from "../model/round.ts";
import type { Tick } from "../model/tick.ts";
import { Aggregator } from "./aggregator.ts";
import type { Input } from "./inputs.ts";
import type { AggregateOptions } from "./options.ts";
import type { CoinRates } from "./quotes.ts";

/** Ticks that wait for their mark; the mark is set at once when this many arrive within one turn of the event loop. */
const pendingMax = 4_096;
/** How often a mark is set without ticks, so that markets become stale. */
const idleMarkMs = 250;

export interface RoundEngineDependencies {
  readonly clock: Clock;
  /**
   * All inputs since the previous call, the mark last, the rounds that it computed, and what the coins are worth
   * afterwards. Called in order.
   */
  readonly onMark: (mark: {
    readonly inputs: readonly Input[];
    readonly rounds: readonly Round[];
    readonly rates: CoinRates;
    /** Unix milliseconds of the mark. */
    readonly atMs: number;
  }) => void;
}

/**
 * Runs an aggregator by the clock: the ticks of one turn of the event loop are marked with the time together, and their
 * rounds are computed at the end of the turn, so that a burst costs one round a symbol and a single tick does not wait.
 * Marks are handed on with the ticks: a replay of them gives the same rounds.
 */
export class RoundEngine implements AsyncDisposable {
  readonly #aggregator: Aggregator;
  readonly #dependencies: RoundEngineDependencies;
  readonly #timer: Timer;
  #pending: Input[] = [];
  #isScheduled = false;
  #isClosed = false;

  constructor(options: AggregateOptions, dependencies: RoundEngineDependencies) {
    this.#aggregator = new Aggregator(options);
    this.#dependencies = dependencies;
    this.#timer = dependencies.clock.every(idleMarkMs, () => this.mark());
  }

  accept(tick: Tick): void {
    if (this.#isClosed) return;
    const input: Input = { kind: "tick", tick };
    this.#pending.push(input);
    this.#aggregator.accept(input);
    if (this.#pending.length >= pendingMax) {
      this.mark();
    } else if (!this.#isScheduled) {
      this.#isScheduled = true;
      setImmediate(() => {
        if (this.#isScheduled) this.mark();
      });
    }
  }

  /** Computes the rounds of pending ticks; also runs at the end of a turn with ticks and four times a second. */
  mark(): void {
    if (this.#isClosed) return;
    this.#isScheduled = false;
    const atMs = this.#dependencies.clock.now();
    // A mark without effect is omitted, so that it need not be logged for a replay.
    if (this.#pending.length === 0 && !this.#aggregator.isDue(atMs)) return;
    const mark: Input = { kind: "time", atMs };
    const inputs = [...this.#pending, mark];
    this.#pending = [];
    const rounds = this.#aggregator.accept(mark);
    this.#dependencies.onMark({ inputs, rounds, rates: this.#aggregator.rates, atMs });
  }

  /** Computes the rounds of pending ticks and stops. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.mark();
    this.#isClosed = true;
    this.#timer.cancel();
  }
}
