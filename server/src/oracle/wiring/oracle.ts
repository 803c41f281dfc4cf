import { oracleSources, oracleSymbols } from "@sluice/contract/oracle";
import type { Clock } from "@sluice/lib";
import type { Access } from "../../access/index.ts";
import type { Allowance } from "../../credits/index.ts";
import type { AggregateOptions } from "../aggregate/options.ts";
import { RoundEngine } from "../aggregate/round-engine.ts";
import { type OracleBindings, OracleHttp } from "../http/http.ts";
import { MonthUsage } from "../http/month-usage.ts";
import type { Variant } from "../http/oracle-error.ts";
import { RequestStats } from "../http/request-stats.ts";
import { resourceRoutes } from "../http/resources.ts";
import type { OracleServices } from "../http/route.ts";
import { streamRoute, v1Routes } from "../http/v1-routes.ts";
import { meanConfidence, v2Routes } from "../http/v2-routes.ts";
import type { OracleEvents, SourceEvents } from "../model/events.ts";
import type { FeedListener, OracleLedger, SourceFeed, SourceState } from "../model/ports.ts";
import type { Round } from "../model/round.ts";
import { sourceCadenceMs } from "../sources/index.ts";
import { DayWindow } from "../store/day-window.ts";
import { CachedHistory, History } from "../store/history.ts";
import { PriceStore } from "../store/price-store.ts";
import { type PriceSummary, summarisePrices } from "../store/price-summary.ts";
import { Recorder } from "../store/recorder.ts";
import { TradedVolumes } from "../store/traded-volumes.ts";
import { readWarmStart } from "../store/warm-start.ts";
import { OracleStream } from "../stream/stream.ts";
import { TickLog } from "../tick-log/tick-log.ts";
import { PriceWatch } from "./price-watch.ts";

export interface OracleOptions {
  /** The end of the product (Unix ms), and the address of its successor; null while undecided. */
  readonly sunsetMs: number | null;
  readonly successorUrl: string | null;
  /** The directory of the tick log and its size; null keeps none. */
  readonly tickLog?: { readonly directory: string; readonly bytesMax: number } | null;
  /** How long a client of the stream may take to authenticate. */
  readonly authMs?: number;
}

export interface OracleDependencies {
  readonly clock: Clock;
  readonly access: Access;
  readonly allowances: Readonly<Record<Variant, Allowance>>;
  readonly ledger: OracleLedger;
  /** The moment from which all candles are kept, Unix milliseconds; without it and for null that is for ever. */
  readonly candlesKeptSince?: () => number | null;
  readonly requestId: () => string;
  readonly events: Omit<OracleEvents, keyof SourceEvents>;
  /** Whether another process records prices; unless given none does. */
  readonly standsBy?: () => boolean;
  readonly startFeed: (listener: FeedListener) => SourceFeed;
}

/** The oracle of one process: its prices, its endpoints and its history. */
export interface Oracle extends AsyncDisposable {
  fetch(request: Request, bindings?: OracleBindings): Response | Promise<Response>;
  readonly stream: OracleStream;
  /** Resolves when the last day was read back and the sources were started. Never rejects. */
  readonly started: Promise<void>;
  sources(): readonly SourceState[];
  /** The requests that an account has used of a variant's present month. */
  requestsUsed(accountId: string, variant: Variant): Promise<{ readonly month: string; readonly used: bigint }>;
  health(): OracleHealth;
  /** A summary of all symbols, for people; no newer than a tier of this update frequency is served. */
  summary(frequencySeconds: number): readonly PriceSummary[];
}

/** How many symbols have a price now, and how many of the sources that are read give prices by their preferred way. */
export interface OracleHealth {
  readonly priced: number;
  readonly symbols: number;
  readonly active: number;
  readonly sources: number;
}

/** The options of rounds, for a replay of the tick log. */
export const oracleReplayOptions: AggregateOptions = { symbols: oracleSymbols, cadenceMs: sourceCadenceMs };

export function createOracle(options: OracleOptions, dependencies: OracleDependencies): Oracle {
  return new RunningOracle(options, dependencies);
}

class RunningOracle implements Oracle {
  readonly #dependencies: OracleDependencies;
  readonly #startedAtMs: number;
  readonly #priceStore: PriceStore;
  readonly #day = new DayWindow();
  readonly #volumes: TradedVolumes;
  readonly #recorder: Recorder;
  readonly #engine: RoundEngine;
  readonly #tickLog: TickLog | null;
  readonly #http: OracleHttp;
  /** Symbols whose last round was a price. */
  readonly #priced = new Set<string>();
  #feed: SourceFeed | null = null;
  #isClosed = false;
  readonly stream: OracleStream;
  readonly started: Promise<void>;

  constructor(options: OracleOptions, dependencies: OracleDependencies) {
    const { clock, access, allowances, ledger, requestId, events } = dependencies;
    this.#dependencies = dependencies;
    this.#startedAtMs = clock.monotonic();
    this.#priceStore = new PriceStore({ clock });
    const dropped: OracleEvents["rowsDropped"] = (...rows) => events.rowsDropped(...rows);
    this.#volumes = new TradedVolumes({
      clock,
      day: this.#day,
      recorded: (source, outcome) => events.volumeRecorded(source, outcome),
    });
    const standsBy = dependencies.standsBy ?? (() => false);
    this.#recorder = new Recorder({ clock, ledger, volumes: this.#volumes, dropped, standsBy });
    this.#tickLog = openTickLog(options, dependencies);
    const stats = new RequestStats({ clock });
    const services = this.#services(stats);
    const v1 = v1Routes(services);
    const routes = [...v1, streamRoute, ...resourceRoutes(v1), ...v2Routes(services)];
    const shared = { clock, access, requestId, events };
    const usage = {
      v1: new MonthUsage({ clock, allowance: allowances.v1 }),
      v2: new MonthUsage({ clock, allowance: allowances.v2 }),
    };
    this.#http = new OracleHttp(options, { ...shared, allowances, usage, stats, routes });
    this.stream = new OracleStream(options, { ...shared, priceStore: this.#priceStore, allowance: allowances.v1 });
    const watch = new PriceWatch(events);
    this.#engine = new RoundEngine(oracleReplayOptions, {
      clock,
      onMark: ({ inputs, rounds, rates, atMs }) => {
        this.#tickLog?.mark(inputs, rounds);
        watch.observe(rounds, rates, atMs);
        for (const input of inputs) if (input.kind === "tick") this.#recorder.tick(input.tick);
        for (const round of rounds) this.#take(round);
      },
    });
    this.started = this.#start();
  }

  fetch(request: Request, bindings?: OracleBindings): Response | Promise<Response> {
    return this.#http.fetch(request, bindings);
  }

  sources(): readonly SourceState[] {
    return this.#feed?.states() ?? [];
  }

  requestsUsed(accountId: string, variant: Variant): Promise<{ readonly month: string; readonly used: bigint }> {
    return this.#dependencies.allowances[variant].spent(accountId);
  }

  health(): OracleHealth {
    const read = this.sources().filter(({ status }) => status !== "disabled");
    return {
      priced: this.#priced.size,
      symbols: oracleSymbols.length,
      active: read.filter(({ status }) => status === "active").length,
      sources: read.length,
    };
  }

  summary(frequencySeconds: number): readonly PriceSummary[] {
    const nowMs = this.#dependencies.clock.now();
    return summarisePrices({ priceStore: this.#priceStore, day: this.#day }, { frequencySeconds, nowMs });
  }

  /** Sources start after the last day was read, because minutes must be added in the order of time. */
  async #start(): Promise<void> {
    const { clock, ledger, events, startFeed } = this.#dependencies;
    try {
      const warm = await readWarmStart(ledger, clock.now());
      for (const { symbol, ...minute } of warm.minutes) this.#day.put(symbol, minute);
      for (const { symbol, ...last } of warm.last) this.#priceStore.remember(symbol, last);
      this.#recorder.recover(warm.recovered);
      this.#volumes.recall(warm.volumes);
    } catch (error) {
      events.internalError("oracle", error);
    }
    if (this.#isClosed) return;
    this.#feed = startFeed({
      onTick: (tick) => this.#engine.accept(tick),
      onTraded: (minute) => this.#volumes.accept(minute),
    });
  }

  #take(round: Round): void {
    const { events } = this.#dependencies;
    if (round.kind === "refused") {
      events.roundMade(round.symbol, round.reason);
      this.#priceStore.accept(round);
      if (!this.#priced.delete(round.symbol)) return;
      const served = this.#priceStore.served(round.symbol, 1);
      if (served.kind === "none") this.stream.withdraw(served);
      return;
    }
    events.roundMade(round.symbol, "price");
    this.#priced.add(round.symbol);
    this.#day.add(round);
    const whole = this.#day.complete(round);
    this.#recorder.round(whole);
    const quotation = this.#priceStore.accept(whole);
    if (quotation !== null) this.stream.publish(quotation);
  }

  #services(stats: RequestStats): OracleServices {
    const { clock, allowances, ledger, candlesKeptSince = () => null } = this.#dependencies;
    const history = new History({ ledger, unwritten: this.#recorder });
    return {
      priceStore: this.#priceStore,
      history: new CachedHistory({ clock, history }),
      candlesKeptSince,
      sources: () => this.sources(),
      info: (id) => oracleSources[id],
      feeds: (updateFrequencySeconds) => {
        const priced = oracleSymbols.flatMap((symbol) => {
          const served = this.#priceStore.served(symbol, updateFrequencySeconds);
          return served.kind === "price" ? [served.quotation] : [];
        });
        return { active: priced.length, confidence: meanConfidence(priced) };
      },
      stats,
      uptimeSeconds: () => Math.floor((clock.monotonic() - this.#startedAtMs) / 1_000),
      allowances,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.started;
    await this.#feed?.[Symbol.asyncDispose]();
    await this.#engine[Symbol.asyncDispose]();
    await this.#tickLog?.[Symbol.asyncDispose]();
    await this.#recorder[Symbol.asyncDispose]();
  }
}

function openTickLog({ tickLog }: OracleOptions, { clock, events }: OracleDependencies): TickLog | null {
  if (tickLog === undefined || tickLog === null) return null;
  const failed = (error: unknown): void => events.internalError("oracle tick log", error);
  return new TickLog(tickLog, { clock, failed });
}
