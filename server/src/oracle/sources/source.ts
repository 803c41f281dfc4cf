import type { Clock, Random } from "@sluice/lib";
import type { SourceEvents } from "../model/events.ts";
import type { Tick } from "../model/tick.ts";
import type { TradedMinute } from "../model/traded-minute.ts";
import { CandleReads } from "./candle-reads.ts";
import type { Exchange, Market, RestRequest, SourceEndpoint, StreamMessage } from "./exchange.ts";
import { MarketState, type Way } from "./market-state.ts";
import { readCandle } from "./read-candle.ts";
import { readHeartbeat, readRow } from "./read-row.ts";
import { RestPoller } from "./rest-poller.ts";
import type { CandleRow, DropReason, Heartbeat, Row } from "./row.ts";
import type { SourceHealth } from "./source-health.ts";
import { type RequestEnd, SourceRecord, type StreamEnd } from "./source-record.ts";
import { StreamSupervisor, type StreamSupervisorDependencies } from "./stream-supervisor.ts";

export interface SourceOptions {
  readonly exchange: Exchange;
  readonly endpoint: SourceEndpoint;
  /** The markets of the exchange to read; at least one. */
  readonly markets: readonly Market[];
}

export interface SourceDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly events: SourceEvents;
  readonly onTick: (tick: Tick) => void;
  readonly onTraded: (minute: TradedMinute) => void;
}

/** A market without news on the stream for this long is requested. */
const quietMs = 10_000;
/** A stream without news for this long, while answers show trades, is reconnected. */
const noRowsMs = 60_000;
/** Between two ticks of one market; what comes faster is put together. */
const tickGapMs = 100;

interface Tracked {
  readonly market: Market;
  readonly state: MarketState;
  /** Monotonic; the time of the last news on the stream. */
  streamNewsAtMs: number;
  /** Monotonic; when an answer last showed a trade that the stream had not. */
  unreportedTradeAtMs: number;
  tickedAtMs: number;
}

/**
 * One exchange, read by its stream, and by requests for whatever the stream is silent about: at the start, while it is
 * down, when one market stays out, and for figures that it lacks. Fed by the exchange; feeds ticks to `onTick`. It has
 * no timers: its owner steps it a few times a second.
 */
export class Source implements AsyncDisposable {
  readonly #exchange: Exchange;
  readonly #dependencies: SourceDependencies;
  readonly #tracked: readonly Tracked[];
  readonly #byName: ReadonlyMap<string, Tracked>;
  readonly #record: SourceRecord;
  readonly #poller: RestPoller;
  readonly #candles: CandleReads;
  readonly #streams: StreamSupervisor;
  readonly #candleStreams: StreamSupervisor | null;
  #isClosed = false;

  constructor(options: SourceOptions, dependencies: SourceDependencies) {
    const { exchange, endpoint, markets } = options;
    const { clock, events } = dependencies;
    this.#exchange = exchange;
    this.#dependencies = dependencies;
    const never = Number.NEGATIVE_INFINITY;
    this.#tracked = markets.map((market) => ({
      market,
      state: new MarketState(market, exchange.id),
      streamNewsAtMs: never,
      unreportedTradeAtMs: never,
      tickedAtMs: never,
    }));
    this.#byName = new Map(
      this.#tracked.flatMap((each) =>
        [each.market.name, each.market.streamName, ...each.market.aliases].map((name) => [name, each] as const),
      ),
    );
    this.#record = new SourceRecord(
      { source: exchange.id, cadenceMs: exchange.cadenceMs, hasStream: true },
      { clock, events },
    );
    this.#candles = new CandleReads({ exchange, markets });
    this.#poller = new RestPoller(
      { exchange, endpoint, markets },
      {
        ...dependencies,
        onRows: (rows, request, receivedAtMs) => this.#answered(rows, request, receivedAtMs),
        onCandles: (rows, request, receivedAtMs) => this.#answeredCandles(rows, request, receivedAtMs),
        onEnded: (end, durationMs) => this.#record.requestEnded(end, durationMs),
        onError: (error) => events.sourceFault(exchange.id, error),
      },
    );
    const reported = {
      ...dependencies,
      onDropped: (reason: DropReason) => this.#record.dropped(reason),
      onOpened: () => events.sourceStreamOpened(exchange.id),
      onEnded: (reason: StreamEnd) => this.#record.streamEnded(reason),
      onTicketAsked: (end: RequestEnd, durationMs: number) => this.#record.requestEnded(end, durationMs),
    };
    this.#streams = new StreamSupervisor(
      { rules: exchange.stream, endpoint, markets, flow: "rows" },
      {
        ...reported,
        onMessage: (message) => this.#receive(this.#streams, message),
        onStarted: () => this.#streamStarted(),
      },
    );
    this.#candleStreams = this.#openCandleStreams(options, reported);
  }

  /** Looks at the clock: deadlines, reconnects, polls, ticks that waited. Never throws. */
  step(): void {
    if (this.#isClosed) return;
    try {
      const now = this.#dependencies.clock.monotonic();
      this.#streams.step();
      this.#candleStreams?.step();
      const candles = this.#candles.due(this.#dependencies.clock.now(), (market) => this.#poller.isAbsent(market));
      for (const request of candles) this.#poller.askLater(request);
      this.#poller.step(this.#due(now));
      for (const each of this.#tracked) this.#publish(each, now);
      this.#checkStream(now);
      this.#record.observe(this.#summary());
    } catch (error) {
      this.#dependencies.events.sourceFault(this.#exchange.id, error);
    }
  }

  health(): SourceHealth {
    return this.#record.health(this.#summary(), this.#poller.pausedForMs());
  }

  #summary() {
    return {
      isStreaming: this.#streams.isSubscribed,
      markets: this.#tracked.map(({ market, state }) => ({
        market,
        asOfMs: state.published?.asOfMs ?? null,
        isAbsent: this.#poller.isAbsent(market),
      })),
    };
  }

  /** What is to be asked for now, and how often. */
  #due(now: number): { market: Market; everyMs: number }[] {
    const { pollMs, besideStreamMs } = this.#exchange.rest;
    return this.#tracked.flatMap(({ market, streamNewsAtMs }) => {
      if (now - streamNewsAtMs > quietMs) return [{ market, everyMs: pollMs }];
      return besideStreamMs === null ? [] : [{ market, everyMs: besideStreamMs }];
    });
  }

  /** Replaces a live connection without news of markets that move. */
  #checkStream(now: number): void {
    const since = this.#streams.subscribedAtMs;
    if (since === null || now - since <= noRowsMs) return;
    const reportedAtMs = Math.max(...this.#tracked.map((each) => each.streamNewsAtMs));
    const unreportedAtMs = Math.max(...this.#tracked.map((each) => each.unreportedTradeAtMs));
    if (now - reportedAtMs > noRowsMs && now - unreportedAtMs <= noRowsMs) this.#streams.restart("no-rows");
  }

  #streamStarted(): void {
    for (const { state } of this.#tracked) state.startSession();
  }

  #openCandleStreams(
    { exchange, endpoint, markets }: SourceOptions,
    reported: Omit<StreamSupervisorDependencies, "onMessage" | "onStarted">,
  ): StreamSupervisor | null {
    const rules = exchange.candleStream;
    if (rules === undefined) return null;
    const streams: StreamSupervisor = new StreamSupervisor(
      { rules, endpoint, markets, flow: "candles" },
      // Candles have no order that a new connection would begin anew.
      { ...reported, onMessage: (message) => this.#receive(streams, message), onStarted: () => {} },
    );
    return streams;
  }

  #receive(streams: StreamSupervisor, message: StreamMessage): void {
    if (this.#isClosed) return;
    this.#record.messageReceived();
    try {
      this.#process(streams, message);
    } catch (error) {
      this.#dependencies.events.sourceFault(this.#exchange.id, error);
    }
  }

  #process(streams: StreamSupervisor, message: StreamMessage): void {
    const receivedAtMs = this.#dependencies.clock.now();
    switch (message.kind) {
      case "rows":
        for (const reason of message.drops ?? []) this.#record.dropped(reason);
        for (const row of message.rows) this.#observe("stream", row, receivedAtMs);
        return;
      case "candles":
        for (const row of message.rows) this.#observeCandle("stream", row, receivedAtMs);
        return;
      case "heartbeat":
        this.#beat(message.heartbeat, receivedAtMs);
        return;
      case "reconnect":
        streams.replaceSoon();
        return;
      case "malformed":
        this.#record.dropped(message.reason);
        return;
      case "refused":
        this.#record.refused();
        return;
      case "control":
      case "welcome":
    }
  }

  #answered(rows: readonly Row[], request: RestRequest, receivedAtMs: number): void {
    const named = new Set(rows.map((row) => this.#observe("rest", row, receivedAtMs)));
    const missing = request.markets.filter((market) => !named.has(market));
    // An answer may omit a market or use another name for it: a request for it alone shows which.
    if (missing.length > 0 && request.markets.length > 1) this.#poller.askAlone(missing);
  }

  #answeredCandles(rows: readonly CandleRow[], request: RestRequest, receivedAtMs: number): void {
    for (const row of rows) this.#observeCandle("rest", row, receivedAtMs);
    for (const market of request.markets) this.#candles.read(market, receivedAtMs);
  }

  #observeCandle(way: Way, row: CandleRow, receivedAtMs: number): void {
    const tracked = this.#byName.get(row.name);
    const reading = readCandle(row, receivedAtMs);
    if (tracked === undefined || !reading.ok) {
      this.#record.dropped(reading.ok ? "unknown-market" : reading.reason);
      return;
    }
    const { base, quote } = tracked.market;
    const { onTraded, events } = this.#dependencies;
    events.sourceTraded(this.#exchange.id, way);
    onTraded({ source: this.#exchange.id, base, quote, ...reading.value });
  }

  /** Passes a row to its market and returns the market; null for a market that was not requested. */
  #observe(way: Way, row: Row, receivedAtMs: number): Market | null {
    const tracked = this.#byName.get(row.name);
    if (tracked === undefined) {
      this.#record.dropped("unknown-market");
      return null;
    }
    const reading = readRow(row, receivedAtMs);
    if (!reading.ok) {
      this.#record.dropped(reading.reason);
      return tracked.market;
    }
    const now = this.#dependencies.clock.monotonic();
    const verdict = tracked.state.observe(way, reading.value, receivedAtMs);
    if (verdict.kind === "dropped") this.#record.dropped(verdict.reason);
    if (verdict.kind !== "news") return tracked.market;
    if (way === "stream") {
      tracked.streamNewsAtMs = now;
      this.#poller.markPresent(tracked.market);
    } else if (verdict.isTrade) tracked.unreportedTradeAtMs = now;
    this.#publish(tracked, now);
    return tracked.market;
  }

  #beat(heartbeat: Heartbeat, receivedAtMs: number): void {
    const tracked = this.#byName.get(heartbeat.name);
    const reading = readHeartbeat(heartbeat, receivedAtMs);
    if (tracked === undefined || !reading.ok) {
      this.#record.dropped(reading.ok ? "unknown-market" : reading.reason);
      return;
    }
    const verdict = tracked.state.heartbeat(reading.value, receivedAtMs);
    if (verdict.kind === "frozen") this.#streams.restart("frozen");
    if (verdict.kind === "news") this.#publish(tracked, this.#dependencies.clock.monotonic());
  }

  #publish(tracked: Tracked, now: number): void {
    if (now - tracked.tickedAtMs < tickGapMs) return;
    const tick = tracked.state.take();
    if (tick === null) return;
    tracked.tickedAtMs = now;
    this.#record.ticked(tick);
    this.#dependencies.onTick(tick);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await Promise.all([this.#streams, this.#candleStreams, this.#poller].map((each) => each?.[Symbol.asyncDispose]()));
  }
}
