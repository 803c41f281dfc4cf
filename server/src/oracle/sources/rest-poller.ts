import { backoffDelayMs, type Clock, type Random } from "@sluice/lib";
import type { Exchange, Market, RestAnswer, RestFault, RestRequest, SourceEndpoint } from "./exchange.ts";
import { callExchange } from "./http-call.ts";
import { PollPlan } from "./poll-plan.ts";
import type { CandleRow, Row } from "./row.ts";
import type { RequestEnd } from "./source-record.ts";

export interface RestPollerDependencies {
  readonly clock: Clock;
  readonly random: Random;
  /** Rows of one answer, and the request, which names the markets that it had to hold. */
  readonly onRows: (rows: readonly Row[], request: RestRequest, receivedAtMs: number) => void;
  readonly onCandles: (rows: readonly CandleRow[], request: RestRequest, receivedAtMs: number) => void;
  readonly onEnded: (end: RequestEnd, durationMs: number) => void;
  /** An unexpected error while an answer was read. */
  readonly onError: (error: unknown) => void;
}

/** For the whole call, body included. */
const callMs = 10_000;
const inFlightMax = 4;
/** Requests may come together up to this much ahead of the average that an exchange allows. */
const burstMs = 1_000;
/** The pause after an exchange said "too often" without saying how long. */
const limitBackoff = { baseMs: 15_000, maxMs: 300_000 };
const failureBackoff = { baseMs: 5_000, maxMs: 60_000 };
/** A second more than the exchange asks for, because its clock and the server's differ. */
const pauseMarginMs = 1_000;

interface Call {
  readonly request: RestRequest;
  readonly startedAtMs: number;
  readonly abort: AbortController;
  hasTimedOut: boolean;
}

/**
 * Asks an exchange for markets within its limits: an average gap between requests, few at a time, the pauses that it
 * asks for, and longer ones after failures. It has no timers: its owner steps it.
 */
export class RestPoller implements AsyncDisposable {
  readonly #exchange: Exchange;
  readonly #endpoint: SourceEndpoint;
  readonly #dependencies: RestPollerDependencies;
  readonly #plan: PollPlan;
  readonly #calls = new Map<Call, Promise<void>>();
  /** At most two requests for each market, since a market is claimed by one turn at a time. */
  #queue: RestRequest[] = [];
  /** Requests for candles, which prices go before: the newest of each market. */
  readonly #later = new Map<Market | undefined, RestRequest>();
  /** When the average gap allows the next request. */
  #allowedAtMs: number;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #limits = 0;
  #isClosed = false;

  constructor(
    options: { readonly exchange: Exchange; readonly endpoint: SourceEndpoint; readonly markets: readonly Market[] },
    dependencies: RestPollerDependencies,
  ) {
    this.#exchange = options.exchange;
    this.#endpoint = options.endpoint;
    this.#dependencies = dependencies;
    this.#plan = new PollPlan(options.markets);
    this.#allowedAtMs = dependencies.clock.monotonic();
  }

  /** Milliseconds until the exchange may be asked again; 0 when it may be now. */
  pausedForMs(): number {
    return Math.max(0, this.#pausedUntilMs - this.#now());
  }

  isAbsent(market: Market): boolean {
    return this.#plan.isAbsent(market, this.#now());
  }

  /** The stream carries this market after all. */
  markPresent(market: Market): void {
    this.#plan.markPresent(market);
  }

  /** Has these markets asked for one by one, and soon. */
  askAlone(markets: readonly Market[]): void {
    this.#plan.askAlone(markets, this.#now());
  }

  /** Asks for candles when no request for prices waits; a pause of the exchange ends the wait. */
  askLater(request: RestRequest): void {
    this.#later.set(request.markets[0], request);
  }

  /** Ends requests that take too long, and requests those of `markets` that are due, each at its own interval. */
  step(markets: readonly { readonly market: Market; readonly everyMs: number }[]): void {
    const now = this.#now();
    for (const call of this.#calls.keys()) {
      if (now - call.startedAtMs <= callMs) continue;
      call.hasTimedOut = true;
      call.abort.abort();
    }
    if (this.pausedForMs() > 0) return;
    const due = markets.filter(({ market, everyMs }) => this.#plan.claim(market, everyMs, now));
    this.#queue.push(
      ...this.#requestsFor(
        due.map(({ market }) => market),
        now,
      ),
    );
    this.#start();
  }

  #now(): number {
    return this.#dependencies.clock.monotonic();
  }

  #requestsFor(due: readonly Market[], now: number): readonly RestRequest[] {
    const alone = due.filter((market) => this.#plan.isAlone(market, now));
    const together = due.filter((market) => !alone.includes(market));
    const groups = [...(together.length === 0 ? [] : [together]), ...alone.map((market) => [market])];
    return groups
      .flatMap((group) => this.#exchange.rest.requests(group))
      .filter((request) => this.#plan.claimPart(request, now));
  }

  #start(): void {
    const now = this.#now();
    while (this.#calls.size < inFlightMax && this.#allowedAtMs <= now && !this.#isClosed) {
      const request = this.#queue.shift() ?? this.#takeLater();
      if (request === undefined) return;
      this.#allowedAtMs = Math.max(this.#allowedAtMs, now - burstMs) + this.#exchange.rest.gapMs;
      const call: Call = { request, startedAtMs: now, abort: new AbortController(), hasTimedOut: false };
      this.#calls.set(call, this.#call(call));
    }
  }

  #takeLater(): RestRequest | undefined {
    const [first] = this.#later;
    if (first !== undefined) this.#later.delete(first[0]);
    return first?.[1];
  }

  async #call(call: Call): Promise<void> {
    const { clock, onError } = this.#dependencies;
    const { method, path } = call.request;
    const url = this.#endpoint.rest + path;
    const outcome = await callExchange({ method, url, signal: call.abort.signal }, () => clock.now());
    this.#calls.delete(call);
    if (this.#isClosed) return;
    if (call.request.part !== "candles") this.#plan.release(call.request);
    const durationMs = this.#now() - call.startedAtMs;
    try {
      if (outcome.kind === "answer") this.#evaluate(call.request, outcome.answer, durationMs);
      else if (outcome.kind === "oversized") this.#refused(call.request, { kind: "malformed" }, durationMs);
      else this.#failed(call.hasTimedOut ? "timeout" : "unreachable", durationMs);
    } catch (error) {
      onError(error);
    }
    this.#start();
  }

  #evaluate(request: RestRequest, answer: RestAnswer, durationMs: number): void {
    const outcome = this.#exchange.rest.read(request, answer);
    if (outcome.kind !== "rows" && outcome.kind !== "candles") {
      this.#refused(request, outcome, durationMs);
      return;
    }
    this.#failures = 0;
    this.#limits = 0;
    this.#dependencies.onEnded("rows", durationMs);
    if (outcome.kind === "rows") this.#dependencies.onRows(outcome.rows, request, answer.receivedAtMs);
    else this.#dependencies.onCandles(outcome.rows, request, answer.receivedAtMs);
  }

  #refused(request: RestRequest, error: RestFault, durationMs: number): void {
    const now = this.#now();
    const { onEnded, random } = this.#dependencies;
    switch (error.kind) {
      case "limited": {
        onEnded(error.banned ? "banned" : "limited", durationMs);
        const waitMs = error.waitMs ?? backoffDelayMs(this.#limits, limitBackoff, random);
        this.#limits += 1;
        this.#pause(waitMs + pauseMarginMs);
        return;
      }
      case "unavailable":
        this.#failed("unavailable", durationMs);
        return;
      default:
        onEnded(error.kind, durationMs);
        // Candles are asked for again at their next turn.
        if (request.part === "candles") return;
        // One market can fail a request for several: asked for one by one, it is found.
        if (request.markets.length > 1) this.#plan.askAlone(request.markets, now);
        else if (error.kind === "unknown-market") this.#plan.markAbsent(request.markets, now);
        else this.#plan.postpone(request.markets, now);
    }
  }

  /** The exchange is unreachable or unavailable: all of its requests pause. */
  #failed(end: RequestEnd, durationMs: number): void {
    this.#dependencies.onEnded(end, durationMs);
    const waitMs = backoffDelayMs(this.#failures, failureBackoff, this.#dependencies.random);
    this.#failures += 1;
    this.#pause(waitMs);
  }

  #pause(waitMs: number): void {
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, this.#now() + waitMs);
    for (const request of this.#queue) this.#plan.release(request);
    this.#queue = [];
    this.#later.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#queue = [];
    this.#later.clear();
    for (const call of this.#calls.keys()) call.abort.abort();
    await Promise.all(this.#calls.values());
  }
}
