import { minuteMs, minuteOf } from "../model/traded-minute.ts";
import { candleMinutesMax, type Exchange, type Market, type RestRequest } from "./exchange.ts";

/** After a minute ended, its candle is final within so long. */
const settleMs = 3_000;
/** How many ended minutes every request asks for, so that what one of them missed the next one brings. */
const repeatedMinutes = 2;

interface Turn {
  /** Unix milliseconds; the next request, and the first minute that it asks for; null for as far back as there is. */
  nextAtMs: number;
  fromMs: number | null;
}

/**
 * Which candles are asked for, and when: as far back as one request reaches at first, and the newest minutes from then
 * on; what could not be read while an exchange was out is asked for afterwards. Pure: it is handed every moment.
 */
export class CandleReads {
  readonly #exchange: Exchange;
  readonly #turns: ReadonlyMap<Market, Turn>;

  constructor(options: { readonly exchange: Exchange; readonly markets: readonly Market[] }) {
    this.#exchange = options.exchange;
    this.#turns = new Map(options.markets.map((market) => [market, { nextAtMs: 0, fromMs: null }]));
  }

  /** Takes the turns that have come; `isAbsent` tells which markets the exchange does not list. */
  due(nowMs: number, isAbsent: (market: Market) => boolean): readonly RestRequest[] {
    const requests: RestRequest[] = [];
    for (const [market, turn] of this.#turns) {
      // A clock that was set back must not end the reading until it has caught up.
      const { everyMs } = this.#exchange.rest.candles;
      if (nowMs < turn.nextAtMs && turn.nextAtMs - nowMs <= 2 * everyMs) continue;
      turn.nextAtMs = Math.floor((nowMs - settleMs) / everyMs + 1) * everyMs + settleMs;
      if (!isAbsent(market)) requests.push(this.#request(market, turn, nowMs));
    }
    return requests;
  }

  /** The answer to a request for a market's candles was read at this time. */
  read(market: Market, nowMs: number): void {
    const turn = this.#turns.get(market);
    if (turn !== undefined) turn.fromMs = minuteOf(nowMs) - repeatedMinutes * minuteMs;
  }

  #request(market: Market, { fromMs }: Turn, nowMs: number): RestRequest {
    const furthest = minuteOf(nowMs) - (candleMinutesMax - 1) * minuteMs;
    const span = { fromMs: Math.min(minuteOf(nowMs), Math.max(fromMs ?? furthest, furthest)), nowMs };
    const path = this.#exchange.rest.candles.path(market, span);
    return { method: "GET", path, markets: [market], part: "candles" };
  }
}
