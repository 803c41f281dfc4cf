import type { Clock } from "@sluice/lib";
import type { SourceEvents } from "../model/events.ts";
import type { SourceId, Tick } from "../model/tick.ts";
import { DayCounters } from "./day-counters.ts";
import type { Market } from "./exchange.ts";
import type { DropReason } from "./row.ts";
import { type MarketHealth, RecentMean, type SourceHealth, type SourceStatus, staleAfterMs } from "./source-health.ts";

/** How a call to an exchange ended. */
export type RequestEnd =
  | "rows"
  | "limited"
  | "banned"
  | "unknown-market"
  | "refused"
  | "unavailable"
  | "malformed"
  | "unreachable"
  | "timeout";

/** Why a stream's connection ended, or its attempt. */
export type StreamEnd =
  | "connect-timeout"
  | "connect-failed"
  | "no-ticket"
  | "closed-by-exchange"
  | "silent"
  | "no-rows"
  | "frozen"
  | "flood"
  | "oversized"
  | "replaced"
  | "stopped";

/** What a source is at one moment. */
export interface SourceSummary {
  readonly isStreaming: boolean;
  readonly markets: readonly { readonly market: Market; readonly asOfMs: number | null; readonly isAbsent: boolean }[];
}

export interface SourceRecordOptions {
  readonly source: SourceId;
  readonly cadenceMs: number;
  /** Whether a stream is the way that it should be read by. */
  readonly hasStream: boolean;
}

/** Ends of requests that count as errors; a rate limit or a delisted market does not. */
const errorEnds: ReadonlySet<RequestEnd> = new Set([
  "banned",
  "refused",
  "unavailable",
  "malformed",
  "unreachable",
  "timeout",
]);
/** Ends of connections that are not errors. */
const expectedEnds: ReadonlySet<StreamEnd> = new Set(["replaced", "stopped"]);

/** Counts the events of one source, for its health and for the metrics. */
export class SourceRecord {
  readonly #options: SourceRecordOptions;
  readonly #clock: Clock;
  readonly #events: SourceEvents;
  readonly #counters = new DayCounters();
  readonly #drops: Partial<Record<DropReason, number>> = {};
  readonly #delay = new RecentMean();
  readonly #response = new RecentMean();
  #status: SourceStatus = "down";
  #observedAtMs: number;
  #lastTickAtMs: number | null = null;

  constructor(options: SourceRecordOptions, dependencies: { clock: Clock; events: SourceEvents }) {
    this.#options = options;
    this.#clock = dependencies.clock;
    this.#events = dependencies.events;
    this.#observedAtMs = dependencies.clock.monotonic();
  }

  messageReceived(): void {
    this.#count("messages");
  }

  dropped(reason: DropReason): void {
    this.#drops[reason] = (this.#drops[reason] ?? 0) + 1;
    this.#count("errors");
    this.#events.sourceDropped(this.#options.source, reason);
  }

  /** A subscription was refused. */
  refused(): void {
    this.#count("errors");
  }

  ticked(tick: Tick): void {
    const delayMs = tick.receivedAtMs - tick.asOfMs;
    this.#delay.add(delayMs);
    this.#lastTickAtMs = tick.receivedAtMs;
    this.#count("ticks");
    this.#events.sourceTicked(this.#options.source, delayMs);
  }

  requestEnded(end: RequestEnd, durationMs: number): void {
    this.#count("requests");
    if (errorEnds.has(end)) this.#count("errors");
    if (end !== "unreachable" && end !== "timeout") this.#response.add(durationMs);
    this.#events.sourceRequestEnded(this.#options.source, end, durationMs);
  }

  streamEnded(reason: StreamEnd): void {
    if (!expectedEnds.has(reason)) {
      this.#count("restarts");
      this.#count("errors");
    }
    this.#events.sourceStreamEnded(this.#options.source, reason);
  }

  /** Counts the time since the last check, and reports a change of status. */
  observe(summary: SourceSummary): void {
    const now = this.#clock.monotonic();
    const status = this.#statusOf(summary);
    this.#counters.elapse(now - this.#observedAtMs, this.#status !== "down", now);
    this.#observedAtMs = now;
    if (status === this.#status) return;
    const before = this.#status;
    this.#status = status;
    this.#events.sourceStatusChanged(this.#options.source, before, status);
  }

  health(summary: SourceSummary, pausedForMs: number): SourceHealth {
    const now = this.#clock.monotonic();
    const markets = summary.markets.map((each) => this.#marketHealth(each));
    const status = this.#statusOf(summary);
    return {
      source: this.#options.source,
      status,
      transport: status === "down" ? "none" : summary.isStreaming ? "stream" : "rest",
      uptimePercent24h: this.#counters.uptimePercent(now),
      delayMs: this.#delay.value,
      responseMs: this.#response.value,
      requests24h: this.#counters.sum("requests", now),
      messages24h: this.#counters.sum("messages", now),
      ticks24h: this.#counters.sum("ticks", now),
      errors24h: this.#counters.sum("errors", now),
      restarts24h: this.#counters.sum("restarts", now),
      drops: { ...this.#drops },
      lastTickAtMs: this.#lastTickAtMs,
      pausedForMs,
      markets,
    };
  }

  /**
   * Down without any fresh market; active with most of them fresh, by the stream where there is one. Absent markets
   * count for nothing.
   */
  #statusOf(summary: SourceSummary): SourceStatus {
    const states = summary.markets.map((each) => this.#marketHealth(each).state).filter((state) => state !== "absent");
    const fresh = states.filter((state) => state === "fresh").length;
    if (fresh === 0) return "down";
    const isPreferred = summary.isStreaming || !this.#options.hasStream;
    return isPreferred && fresh * 2 > states.length ? "active" : "degraded";
  }

  #marketHealth({ market, asOfMs, isAbsent }: SourceSummary["markets"][number]): MarketHealth {
    const { base, quote, name } = market;
    if (isAbsent) return { base, quote, name, state: "absent", ageMs: null };
    if (asOfMs === null) return { base, quote, name, state: "unheard", ageMs: null };
    const ageMs = Math.max(0, this.#clock.now() - asOfMs);
    const state = ageMs <= staleAfterMs(this.#options.cadenceMs) ? "fresh" : "stale";
    return { base, quote, name, state, ageMs };
  }

  #count(name: string): void {
    this.#counters.count(name, this.#clock.monotonic());
  }
}
