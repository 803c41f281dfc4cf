/** How an attempt has ended, as far as the pace of its endpoint is concerned. */
export type PaceOutcome = "answered" | "failed" | "slow";

/** Attempts at a time to an endpoint of which nothing is known, at most, and to one that keeps failing. */
const startingLimit = 16;
const limitMax = 128;
/** An answer that takes longer than this many times the shortest, and so much more, has waited at the receiver. */
const waited = { times: 2, ms: 50 };
/** One that takes so long has waited behind too many others. */
const overloaded = { times: 4, ms: 500 };
/** How much of a longer time the shortest one takes on, so that it follows a receiver that has become slower. */
const drift = 0.002;
/** Failures in a row after which the endpoint is left alone for a while. */
const failuresMax = 5;
const restMsFirst = 1_000;
const restMsMax = 60_000;

interface EndedExchange {
  readonly outcome: PaceOutcome;
  readonly latencyMs: number;
}

/**
 * How much an endpoint is asked at a time. It grows by one for each answer while all places are used and answers take
 * no longer than with few of them; answers that take much longer lower it, and one that does not come in time halves
 * it. After some failures in a row it rests, and one attempt then decides: so an endpoint that hangs holds one
 * connection for 5 seconds of a minute.
 */
export class EndpointPace {
  #limit = startingLimit;
  #shortestMs = Number.POSITIVE_INFINITY;
  #failures = 0;
  #rests = 0;
  #restUntilMs = 0;
  #isProbing = false;

  /** Attempts that may be under way at a time. */
  get limit(): number {
    return this.#isProbing ? 1 : this.#limit;
  }

  /** Whether it has failed last, and may hold what others need. */
  get isSuspect(): boolean {
    return this.#failures > 0;
  }

  /** Whether it is left alone for its failures. */
  get isOpen(): boolean {
    return this.#isProbing;
  }

  /** Monotonic milliseconds; the endpoint is left alone until then. */
  get restUntilMs(): number {
    return this.#restUntilMs;
  }

  /** The receiver asks to be left alone. */
  rest(untilMs: number): void {
    this.#restUntilMs = Math.max(this.#restUntilMs, untilMs);
  }

  /** `latencyMs` is of the exchange, `inFlight` counts it. Monotonic milliseconds. */
  ended({ outcome, latencyMs }: EndedExchange, nowMs: number, inFlight: number): void {
    if (outcome === "answered") {
      if (this.#isProbing) this.#limit = startingLimit;
      else this.#follow(latencyMs, inFlight);
      this.#failures = 0;
      this.#rests = 0;
      this.#isProbing = false;
      return;
    }
    this.#failures += 1;
    if (outcome === "slow") this.#limit = Math.max(1, this.#limit >> 1);
    // What was under way beside the one that decides says nothing new.
    if (this.#failures < failuresMax || nowMs < this.#restUntilMs) return;
    this.#isProbing = true;
    this.rest(nowMs + Math.min(restMsMax, restMsFirst * 2 ** this.#rests));
    this.#rests = Math.min(this.#rests + 1, 16);
  }

  #follow(latencyMs: number, inFlight: number): void {
    const shortestMs = Math.min(latencyMs, this.#shortestMs);
    this.#shortestMs = shortestMs + (latencyMs - shortestMs) * drift;
    const isBeyond = ({ times, ms }: typeof waited): boolean => latencyMs > times * shortestMs + ms;
    if (isBeyond(overloaded)) this.#limit = Math.max(Math.min(startingLimit, this.#limit), this.#limit - 1);
    else if (inFlight >= this.#limit && !isBeyond(waited)) this.#limit = Math.min(limitMax, this.#limit + 1);
  }
}
