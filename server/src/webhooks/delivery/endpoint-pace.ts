import { Circuit } from "./circuit.ts";

/** How an attempt has ended, as far as the pace of its endpoint is concerned. */
export type PaceOutcome = "answered" | "failed" | "slow";

/** Attempts at a time to an endpoint of which nothing has come back. */
const firstLimit = 4;
/** Attempts at a time after the first exchange, and to one that is slow, at most. */
const startingLimit = 16;
const limitMax = 128;
/** An answer that takes longer than this many times the shortest, and so much more, has waited at the receiver. */
const waited = { times: 2, ms: 50 };
/** One that takes so long has waited behind too many others. */
const overloaded = { times: 4, ms: 500 };
/** How much of a longer time the shortest one takes on, so that it follows a receiver that has become slower. */
const drift = 0.002;
/** The usual time of an exchange beyond which an endpoint holds what others need. */
const slowMs = 1_000;
/** How much of the usual time the last exchange is. */
const usualPart = 0.125;

/** `suspect` fails or is slow; of an `unknown` one nothing has come back yet. */
export type EndpointStanding = "sound" | "unknown" | "suspect";

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
  /** Null before the first exchange. */
  #usualMs: number | null = null;
  #askedUntilMs = 0;
  readonly #circuit = new Circuit();

  /** Attempts that may be under way at a time. */
  get limit(): number {
    if (this.#circuit.isOpen) return 1;
    return this.#usualMs === null ? firstLimit : this.#limit;
  }

  /** Whether it may hold what others need. */
  get standing(): EndpointStanding {
    if (this.#usualMs === null) return "unknown";
    return this.#circuit.isFailing || this.#usualMs > slowMs ? "suspect" : "sound";
  }

  /** Whether it is left alone for its failures. */
  get isOpen(): boolean {
    return this.#circuit.isOpen;
  }

  /** Monotonic milliseconds; the endpoint is left alone until then. */
  get restUntilMs(): number {
    return Math.max(this.#askedUntilMs, this.#circuit.restUntilMs);
  }

  /** The receiver asks to be left alone. */
  rest(untilMs: number): void {
    this.#askedUntilMs = Math.max(this.#askedUntilMs, untilMs);
  }

  /** Its owner asks for an attempt: one that decides may begin, unless the receiver itself asks to be left alone. */
  endRest(): void {
    this.#circuit.endRest();
  }

  /** `latencyMs` is of the exchange, `inFlight` counts it. Monotonic milliseconds. */
  ended({ outcome, latencyMs }: EndedExchange, nowMs: number, inFlight: number): void {
    this.#usualMs = this.#usualMs === null ? latencyMs : this.#usualMs + (latencyMs - this.#usualMs) * usualPart;
    if (outcome === "answered") {
      if (this.#circuit.isOpen) this.#limit = startingLimit;
      else this.#follow(latencyMs, inFlight);
      this.#circuit.succeeded();
      return;
    }
    if (outcome === "slow") this.#limit = Math.max(1, this.#limit >> 1);
    this.#circuit.failed(nowMs);
  }

  #follow(latencyMs: number, inFlight: number): void {
    const shortestMs = Math.min(latencyMs, this.#shortestMs);
    this.#shortestMs = shortestMs + (latencyMs - shortestMs) * drift;
    const isBeyond = ({ times, ms }: typeof waited): boolean => latencyMs > times * shortestMs + ms;
    if (isBeyond(overloaded)) this.#limit = Math.max(Math.min(startingLimit, this.#limit), this.#limit - 1);
    else if (inFlight >= this.#limit && !isBeyond(waited)) this.#limit = Math.min(limitMax, this.#limit + 1);
  }
}
