import type { Market, RestRequest } from "./exchange.ts";

/** A market that the exchange does not know is asked for again after this long: listings change. */
const absentMs = 10 * 60_000;
/** And one whose answer was refused or made no sense after this long. */
const refusedMs = 15_000;
/** Figures of 24 hours that cost a request of their own are asked for this often. */
const dayEveryMs = 60_000;

interface Turn {
  /** Monotonic times. */
  pollAtMs: number;
  absentUntilMs: number;
  /** Asked for by itself until then, since a request for several failed for one of them. */
  aloneUntilMs: number;
  dayAtMs: number;
  isInFlight: boolean;
}

const never = Number.NEGATIVE_INFINITY;

/** Whose turn it is to be asked for, and whether together with others. Pure: it is handed every moment. */
export class PollPlan {
  readonly #turns: ReadonlyMap<Market, Turn>;

  constructor(markets: readonly Market[]) {
    const turn = (): Turn => ({
      pollAtMs: never,
      absentUntilMs: never,
      aloneUntilMs: never,
      dayAtMs: never,
      isInFlight: false,
    });
    this.#turns = new Map(markets.map((market) => [market, turn()]));
  }

  isAbsent(market: Market, now: number): boolean {
    return (this.#turns.get(market)?.absentUntilMs ?? never) > now;
  }

  isAlone(market: Market, now: number): boolean {
    return (this.#turns.get(market)?.aloneUntilMs ?? never) > now;
  }

  /** Takes a market's turn when it has come. */
  claim(market: Market, everyMs: number, now: number): boolean {
    const turn = this.#turns.get(market);
    if (turn === undefined || turn.isInFlight || now < turn.pollAtMs || now < turn.absentUntilMs) return false;
    turn.isInFlight = true;
    turn.pollAtMs = now + everyMs;
    return true;
  }

  /** Ends the turns of a request's markets. */
  release(request: RestRequest): void {
    for (const turn of this.#of(request.markets)) turn.isInFlight = false;
  }

  /** Figures of the day have a pace of their own; what names prices is always due. */
  claimPart(request: RestRequest, now: number): boolean {
    if (request.part !== "day") return true;
    const turns = this.#of(request.markets);
    if (turns.every((turn) => now < turn.dayAtMs)) return false;
    for (const turn of turns) turn.dayAtMs = now + dayEveryMs;
    return true;
  }

  markAbsent(markets: readonly Market[], now: number): void {
    for (const turn of this.#of(markets)) turn.absentUntilMs = now + absentMs;
  }

  markPresent(market: Market): void {
    for (const turn of this.#of([market])) turn.absentUntilMs = never;
  }

  /** Has these asked for one by one, and soon. */
  askAlone(markets: readonly Market[], now: number): void {
    for (const turn of this.#of(markets)) {
      turn.aloneUntilMs = now + absentMs;
      turn.pollAtMs = now;
    }
  }

  postpone(markets: readonly Market[], now: number): void {
    for (const turn of this.#of(markets)) turn.pollAtMs = now + refusedMs;
  }

  #of(markets: readonly Market[]): readonly Turn[] {
    return markets.map((market) => this.#turns.get(market)).filter((turn) => turn !== undefined);
  }
}
