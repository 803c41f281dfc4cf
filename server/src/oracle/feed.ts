import { oracleSymbols } from "@sluice/contract/oracle";
import type { Clock, Random } from "@sluice/lib";
import type { OracleEvents } from "./events.ts";
import type { SourceState } from "./interfaces.ts";
import type { SourceFeed } from "./oracle.ts";
import {
  createAccountReader,
  type PoolOptions,
  type SourceEndpoint,
  type SourceHealth,
  startSources,
} from "./sources/index.ts";
import type { SourceId, Tick } from "./tick.ts";

/** Where a node answers, and what it is sent beside each call. */
export interface PoolNode {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface ExchangesOptions {
  /** Addresses that stand in for an exchange's own. */
  readonly endpoints: Readonly<Partial<Record<SourceId, SourceEndpoint>>>;
  /** The chain's own pools, for symbols that exchanges lack. */
  readonly pools: readonly PoolOptions[];
  /** The node that their accounts are read from; null reads none. */
  readonly node: PoolNode | null;
}

export interface ExchangesDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly events: Pick<
    OracleEvents,
    | "tickDropped"
    | "sourceObserved"
    | "sourceTicked"
    | "sourceStreamOpened"
    | "sourceStreamEnded"
    | "sourceRequestEnded"
    | "internalError"
  >;
  readonly onTick: (tick: Tick) => void;
}

/** Starts to read the exchanges; their ticks come when their first answers do. */
export function startExchanges(options: ExchangesOptions, dependencies: ExchangesDependencies): SourceFeed {
  const { clock, random, events, onTick } = dependencies;
  const sources = startSources(
    { endpoints: options.endpoints, symbols: oracleSymbols, pools: options.pools },
    {
      ...(options.node === null ? {} : { readAccounts: createAccountReader(options.node) }),
      clock,
      random,
      onTick,
      events: {
        sourceStatusChanged: (source, _from, to) => events.sourceObserved(source, to),
        sourceDropped: (source, reason) => events.tickDropped(source, reason),
        sourceFault: (_source, fault) => events.internalError("oracle source", fault),
        sourceTicked: (source, delayMs) => events.sourceTicked(source, delayMs),
        sourceStreamOpened: (source) => events.sourceStreamOpened(source),
        sourceStreamEnded: (source, reason) => events.sourceStreamEnded(source, reason),
        sourceRequestEnded: (source, end, durationMs) => events.sourceRequestEnded(source, end, durationMs),
      },
    },
  );
  return {
    states: () => sources.health().map(stateOf),
    [Symbol.asyncDispose]: () => sources[Symbol.asyncDispose](),
  };
}

/** A source's health in the words of the doors: messages of a stream are as good as answers. */
function stateOf(health: SourceHealth): SourceState {
  const heard = health.requests24h + health.messages24h;
  const failed = Math.min(health.errors24h, heard);
  return {
    id: health.source,
    enabled: health.status !== "disabled",
    status: health.status,
    uptime24h: health.uptimePercent24h,
    responseMs: health.responseMs ?? health.delayMs,
    requests24h: heard,
    successRate: heard === 0 ? 0 : (100 * (heard - failed)) / heard,
  };
}
