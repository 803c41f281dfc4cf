import type { Decimal } from "../model/decimal.ts";
import type { SourceId, Tick } from "../model/tick.ts";
import type { Market } from "./exchange.ts";
import type { DayFigures, DropReason, Observation } from "./row.ts";

/** The way by which a row arrived; each way has its own order and witness. */
export type Way = "stream" | "rest";

export type Verdict =
  /** Something new to publish; `isTrade` when the last trade's price is another. */
  | { readonly kind: "news"; readonly isTrade: boolean }
  /** Nothing in it is news: it stands still, so that the source vouches for no later moment than before. */
  | { readonly kind: "repeat" }
  /** The exchange counts trades that its ticker does not show. */
  | { readonly kind: "frozen" }
  | { readonly kind: "dropped"; readonly reason: DropReason };

interface Channel {
  seenAtMs: number;
  sequence: bigint | null;
  tradeId: bigint | null;
  timeMs: number | null;
  witness: string;
}

interface Last {
  readonly price: Decimal;
  asOfMs: number;
  readonly tradeId: bigint | null;
}

/** A book older than the last trade by more than this says nothing about it. */
const bookLagMsMax = 3_000;
/** Figures of 24 hours stay useful for this long after the way that brought them fell silent. */
const dayMsMax = 10 * 60_000;
/**
 * When news came by another way since, a row that came by this way longer ago does not show whether the market moves.
 */
const comparableMs = 20_000;
/** Beyond the last movement heartbeats alone vouch for this long; answers have shown by then whether the book moves. */
const heartbeatMsMax = 30_000;
/** How long a heartbeat may be ahead of the ticker before the ticker counts as frozen. */
const aheadMsMax = 5_000;
/**
 * Our own clock was set when it goes back by more; what was stamped before says nothing about the order of what
 * follows.
 */
const clockBackMsMax = 5_000;

/**
 * What is known of one market of one source. Rows bring the last trade, the best orders and the figures of 24 hours,
 * some together and some apart, in any order and by two ways; this puts them into one tick. Pure: it is handed every
 * moment.
 */
export class MarketState {
  readonly market: Market;
  readonly #source: SourceId;
  readonly #channels = new Map<string, Channel>();
  #last: Last | null = null;
  #book: { readonly bid: Decimal | null; readonly ask: Decimal | null; readonly asOfMs: number } | null = null;
  #day: { readonly figures: DayFigures; readonly receivedAtMs: number } | null = null;
  #heartbeatSequence: bigint | null = null;
  #aheadSinceMs: number | null = null;
  #pendingAtMs: number | null = null;
  #receivedAtMs = 0;
  /** By which way and in which part the last news came. */
  #newsKey = "";
  #newsAtMs = 0;
  #published: Tick | null = null;

  constructor(market: Market, source: SourceId) {
    this.market = market;
    this.#source = source;
  }

  /** The newest tick that was taken, or null. */
  get published(): Tick | null {
    return this.#published;
  }

  observe(way: Way, row: Observation, receivedAtMs: number): Verdict {
    if (receivedAtMs < this.#receivedAtMs - clockBackMsMax) this.#forget();
    this.#receivedAtMs = receivedAtMs;
    const key = `${way}:${row.part}`;
    const seen = this.#channels.get(key);
    if (seen !== undefined) {
      if (row.sequence !== null && seen.sequence !== null && row.sequence < seen.sequence)
        return { kind: "dropped", reason: "out-of-order" };
      if (row.timeMs !== null && seen.timeMs !== null && row.timeMs < seen.timeMs)
        return { kind: "dropped", reason: "older" };
    }
    const asOfMs = asOf(row, seen, receivedAtMs);
    const { sequence, tradeId, timeMs, witness } = row;
    this.#channels.set(key, { seenAtMs: receivedAtMs, sequence, tradeId, timeMs, witness });
    if (row.day !== null) this.#day = { figures: this.#merged(row.day), receivedAtMs };
    const isComparable = seen !== undefined && (key === this.#newsKey || receivedAtMs - seen.seenAtMs <= comparableMs);
    if (isComparable ? seen.witness === witness : this.#isKnown(row)) return { kind: "repeat" };
    const before = this.#last;
    if (this.#take(row, asOfMs)) {
      this.#pendingAtMs = receivedAtMs;
      this.#newsKey = key;
      this.#newsAtMs = receivedAtMs;
      return { kind: "news", isTrade: before !== null && before.price !== this.#last?.price };
    }
    // What came by the other way was newer, or the row holds only figures of the day.
    return { kind: "repeat" };
  }

  /** An exchange's word on the newest trade: it is still the one we know, or the ticker has fallen behind. */
  heartbeat(beat: { tradeId: bigint; sequence: bigint; timeMs: number }, receivedAtMs: number): Verdict {
    const before = this.#heartbeatSequence;
    this.#heartbeatSequence = beat.sequence;
    const last = this.#last;
    if (last === null || last.tradeId === null) return { kind: "repeat" };
    if (beat.tradeId > last.tradeId) {
      this.#aheadSinceMs ??= receivedAtMs;
      return { kind: receivedAtMs - this.#aheadSinceMs > aheadMsMax ? "frozen" : "repeat" };
    }
    this.#aheadSinceMs = null;
    // An engine that stands still repeats its sequence; one at work raises it with every order.
    if (beat.tradeId < last.tradeId || before === null || beat.sequence <= before) return { kind: "repeat" };
    if (beat.timeMs <= last.asOfMs || receivedAtMs - this.#newsAtMs > heartbeatMsMax) return { kind: "repeat" };
    last.asOfMs = beat.timeMs;
    this.#pendingAtMs = receivedAtMs;
    return { kind: "news", isTrade: false };
  }

  /** A new connection begins: the exchange may count from anywhere. */
  startSession(): void {
    for (const [key, channel] of this.#channels) if (key.startsWith("stream:")) channel.sequence = null;
    this.#heartbeatSequence = null;
    this.#aheadSinceMs = null;
  }

  /** The tick of what came in since the last one was taken; null when nothing did, or no last trade is known. */
  take(): Tick | null {
    const receivedAtMs = this.#pendingAtMs;
    const last = this.#last;
    if (receivedAtMs === null || last === null) return null;
    this.#pendingAtMs = null;
    const book = this.#book !== null && this.#book.asOfMs >= last.asOfMs - bookLagMsMax ? this.#book : null;
    const asOfMs = Math.max(last.asOfMs, book?.asOfMs ?? 0, this.#published?.asOfMs ?? 0);
    const day = this.#day !== null && receivedAtMs - this.#day.receivedAtMs <= dayMsMax ? this.#day.figures : null;
    const bid = book?.bid ?? null;
    const ask = book?.ask ?? null;
    this.#published = {
      source: this.#source,
      base: this.market.base,
      quote: this.market.quote,
      price: within(last.price, bid, ask),
      bid,
      ask,
      open24h: day?.open ?? null,
      high24h: day?.high ?? null,
      low24h: day?.low ?? null,
      baseVolume24h: day?.baseVolume ?? null,
      quoteVolume24h: day?.quoteVolume ?? null,
      asOfMs: Math.min(asOfMs, receivedAtMs),
      receivedAtMs,
    };
    return this.#published;
  }

  /** Whether a row's prices are those that are known already, by whatever way they came. */
  #isKnown(row: Observation): boolean {
    const hasLast = row.last === null || row.last === this.#last?.price;
    const hasBook =
      (row.bid === null && row.ask === null) || (row.bid === this.#book?.bid && row.ask === this.#book.ask);
    return hasLast && hasBook && row.part !== "day";
  }

  /** Takes over the parts that are not older than what is known; false when none is. */
  #take(row: Observation, asOfMs: number): boolean {
    let isNews = false;
    if (row.last !== null && asOfMs >= (this.#last?.asOfMs ?? 0)) {
      this.#last = { price: row.last, asOfMs, tradeId: row.tradeId };
      isNews = true;
    }
    if (row.part !== "last" && row.part !== "day" && asOfMs >= (this.#book?.asOfMs ?? 0)) {
      this.#book = { bid: row.bid, ask: row.ask, asOfMs };
      isNews = true;
    }
    return isNews;
  }

  #forget(): void {
    this.#channels.clear();
    this.#last = null;
    this.#book = null;
    this.#day = null;
    this.#aheadSinceMs = null;
    this.#published = null;
  }

  /** A way that leaves a figure out does not unsay it. */
  #merged(figures: DayFigures): DayFigures {
    const before = this.#day?.figures;
    return {
      open: figures.open ?? before?.open ?? null,
      high: figures.high ?? before?.high ?? null,
      low: figures.low ?? before?.low ?? null,
      baseVolume: figures.baseVolume ?? before?.baseVolume ?? null,
      quoteVolume: figures.quoteVolume ?? before?.quoteVolume ?? null,
    };
  }
}

/**
 * The moment for which a row vouches: its own time; where that is the last trade's and the trade is the one seen
 * before, the row moved since and speaks for now; where there is none, its arrival.
 */
function asOf(row: Observation, seen: Channel | undefined, receivedAtMs: number): number {
  if (row.timeMs === null) return receivedAtMs;
  const isSameTrade = row.timeMeans === "trade" && row.tradeId !== null && seen?.tradeId === row.tradeId;
  return isSameTrade ? receivedAtMs : row.timeMs;
}

function within(price: Decimal, bid: Decimal | null, ask: Decimal | null): Decimal {
  if (bid !== null && price < bid) return bid;
  return ask !== null && price > ask ? ask : price;
}
