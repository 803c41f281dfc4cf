import { ManualClock, seededRandom } from "@sluice/lib";
import { type RunningMarket, startMarket } from "../../../../../devnet/market/market.ts";
import { marketAssets } from "../../../../../devnet/market/model/assets.ts";
import { defaultOptions } from "../../../../../devnet/market/options.ts";
import type { SourceEvents } from "../../model/events.ts";
import type { FeedListener } from "../../model/ports.ts";
import type { Tick } from "../../model/tick.ts";
import type { TradedMinute } from "../../model/traded-minute.ts";
import { exchanges } from "../exchanges/index.ts";
import { Source } from "../source.ts";
import type { SourceHealth } from "../source-health.ts";

interface Sleeper {
  readonly untilMs: number;
  readonly wake: () => void;
}

/** All eight exchanges of the development market and a source for each, under one clock that only a test moves. */
export class World implements AsyncDisposable {
  readonly clock: ManualClock;
  readonly market: RunningMarket;
  readonly sources: readonly Source[];
  readonly ticks: Tick[] = [];
  readonly traded: TradedMinute[] = [];
  readonly faults: unknown[] = [];
  #sleepers: Sleeper[] = [];

  constructor(options: {
    readonly symbols: readonly string[];
    readonly startMs: number;
    /** A clock that others read as well; by itself a world has one of its own. */
    readonly clock?: ManualClock;
    readonly listener?: FeedListener;
  }) {
    const clock = options.clock ?? new ManualClock(options.startMs);
    this.clock = clock;
    this.market = startMarket(
      { ...defaultOptions, seed: "sources", tickMs: 0, symbols: options.symbols },
      {
        clock: {
          now: () => clock.now(),
          sleep: (ms) => new Promise((wake) => this.#sleepers.push({ untilMs: clock.now() + ms, wake })),
          every: () => ({ [Symbol.dispose]() {} }),
        },
      },
    );
    const events: SourceEvents = {
      sourceStatusChanged: () => {},
      sourceTicked: () => {},
      sourceDropped: () => {},
      sourceTraded: () => {},
      sourceStreamOpened: () => {},
      sourceStreamEnded: () => {},
      sourceRequestEnded: () => {},
      sourceFault: (_source, fault) => this.faults.push(fault),
    };
    this.sources = exchanges.map((exchange, index) => {
      const markets = exchange.markets.filter(({ base }) => options.symbols.includes(base));
      const random = seededRandom(index);
      const endpoint = this.market.exchanges[exchange.id];
      const { listener } = options;
      const onTick = listener?.onTick ?? ((tick: Tick): void => void this.ticks.push(tick));
      const onTraded = listener?.onTraded ?? ((minute: TradedMinute): void => void this.traded.push(minute));
      return new Source({ exchange, endpoint, markets }, { clock, random, events, onTick, onTraded });
    });
  }

  health(): readonly SourceHealth[] {
    return this.sources.map((source) => source.health());
  }

  /** What an asset is worth now, in US dollars. */
  usd(base: string): number {
    const index = marketAssets.findIndex(({ symbol }) => symbol === base);
    return this.market.truth.usd(index, Math.floor(this.clock.now() / 1_000));
  }

  async fault(body: object): Promise<void> {
    const response = await fetch(`${this.market.adminUrl}/faults`, { method: "POST", body: JSON.stringify(body) });
    if (response.status !== 201) throw new Error(await response.text());
  }

  /** Ends every stream that is open, once. */
  async cutStreams(): Promise<void> {
    await fetch(`${this.market.adminUrl}/close`, { method: "POST", body: JSON.stringify({ how: "reset" }) });
  }

  /** Clears all faults and lets every source recover. */
  async heal(): Promise<void> {
    await fetch(`${this.market.adminUrl}/faults`, { method: "DELETE" });
  }

  /** Seconds pass: the exchanges send their news each second, the sources look at the clock four times as often. */
  async pass(seconds: number): Promise<void> {
    for (let quarter = 0; quarter < seconds * 4; quarter++) {
      this.clock.advance(250);
      if (quarter % 4 === 0) this.market.tick();
      for (const source of this.sources) source.step();
      const due = this.#sleepers.filter(({ untilMs }) => untilMs <= this.clock.now());
      this.#sleepers = this.#sleepers.filter((sleeper) => !due.includes(sleeper));
      for (const { wake } of due) wake();
      for (let turns = 0; turns < 3; turns++) await this.#turn();
    }
  }

  /** The time that sockets on this machine need for a request and its answer. */
  async #turn(): Promise<void> {
    await (await fetch(`${this.market.adminUrl}/nothing`)).text();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { wake } of this.#sleepers) wake();
    await Promise.all(this.sources.map((source) => source[Symbol.asyncDispose]()));
    await this.market[Symbol.asyncDispose]();
  }
}
