import type { Clock } from "@sluice/lib";
import type { PricedRound, Round } from "../round.ts";
import type { Tick } from "../tick.ts";
import { Aggregator } from "./aggregator.ts";
import type { Input } from "./input.ts";
import type { AggregateOptions, Stablecoin } from "./options.ts";
import type { StablecoinIndex } from "./stablecoin-index.ts";

/** Ticks that wait for their mark; when as many have come within one turn the mark is made at once. */
const pendingMax = 4_096;
/** How often a mark is made without ticks, so that what falls silent is noticed. */
const idleMarkMs = 250;

export interface RoundEngineDeps {
  readonly clock: Clock;
  /** Everything that was taken in since the call before, the mark last, and the rounds that it made. Called in order. */
  readonly onMark: (mark: { readonly inputs: readonly Input[]; readonly rounds: readonly Round[] }) => void;
}

/**
 * Runs an aggregator by the clock: ticks of one turn of the event loop are taken together, marked with the time and made
 * into rounds at the turn's end, so that a burst costs one round a symbol and a single tick waits for nothing. Marks are
 * handed on with the ticks: a replay of them gives the same rounds.
 */
export class RoundEngine implements AsyncDisposable {
  readonly #aggregator: Aggregator;
  readonly #deps: RoundEngineDeps;
  readonly #timer: ReturnType<typeof setInterval>;
  #pending: Input[] = [];
  #isScheduled = false;
  #isClosed = false;

  constructor(options: AggregateOptions, deps: RoundEngineDeps) {
    this.#aggregator = new Aggregator(options);
    this.#deps = deps;
    this.#timer = setInterval(() => this.mark(), idleMarkMs);
    this.#timer.unref();
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

  /** Makes the rounds of what has come; also called by itself at the end of a turn with ticks and four times a second. */
  mark(): void {
    if (this.#isClosed) return;
    this.#isScheduled = false;
    const atMs = this.#deps.clock.now();
    // A mark that finds nothing to do is not made, so that it need not be kept for a replay.
    if (this.#pending.length === 0 && !this.#aggregator.isDue(atMs)) return;
    const mark: Input = { kind: "time", atMs };
    const inputs = [...this.#pending, mark];
    this.#pending = [];
    this.#deps.onMark({ inputs, rounds: this.#aggregator.accept(mark) });
  }

  latest(symbol: string): Round | null {
    return this.#aggregator.latest(symbol);
  }

  lastGood(symbol: string): PricedRound | null {
    return this.#aggregator.lastGood(symbol);
  }

  index(coin: Stablecoin): StablecoinIndex {
    return this.#aggregator.index(coin);
  }

  /** Makes the rounds of what is pending and stops. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.mark();
    this.#isClosed = true;
    clearInterval(this.#timer);
  }
}
