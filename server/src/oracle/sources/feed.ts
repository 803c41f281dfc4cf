import { oracleSymbols } from "@sluice/contract/oracle";
import type { Clock, Random } from "@sluice/lib";
import type { NodeEndpoint } from "../../chain/index.ts";
import type { SourceEvents } from "../model/events.ts";
import type { SourceFeed, SourceState } from "../model/ports.ts";
import { type SourceId, sourceIds, type Tick } from "../model/tick.ts";
import type { TradedMinute } from "../model/traded-minute.ts";
import {
  type AccountReader,
  type ChainPoolOptions,
  ChainPools,
  chainCadenceMs,
  createAccountReader,
} from "./chain-pools.ts";
import type { SourceEndpoint } from "./exchange.ts";
import { exchanges } from "./exchanges/index.ts";
import { Source, type SourceDependencies } from "./source.ts";
import { disabledHealth, type SourceHealth } from "./source-health.ts";

/**
 * The usual interval between ticks of a liquid market at each source, milliseconds; quotes are stale after three times
 * that.
 */
export const sourceCadenceMs: Readonly<Partial<Record<SourceId, number>>> = {
  ...Object.fromEntries(exchanges.map(({ id, cadenceMs }) => [id, cadenceMs])),
  chain: chainCadenceMs,
};

export interface SourcesOptions {
  /** Addresses used in place of an exchange's own. */
  readonly endpoints?: Partial<Record<SourceId, SourceEndpoint>>;
  /** Base symbols such as "BTC". An exchange is read for those that it lists. */
  readonly symbols: readonly string[];
  /** The sources to read; all when left out. */
  readonly enabled?: readonly SourceId[];
  /** Pools on the chain; none when left out. */
  readonly pools?: readonly ChainPoolOptions[];
}

export interface SourcesDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly events: SourceEvents;
  readonly onTick: (tick: Tick) => void;
  readonly onTraded: (minute: TradedMinute) => void;
  /** Reads accounts of the chain; without it no pool is read. */
  readonly readAccounts?: AccountReader;
}

/** Sources that run until they are disposed of. */
export interface Sources extends AsyncDisposable {
  /** Every source; those that are not read are `disabled`. */
  health(): readonly SourceHealth[];
}

interface Running extends AsyncDisposable {
  step(): void;
  health(): SourceHealth;
}

/** How often every source checks the clock. */
const stepMs = 250;

/** Starts to read the enabled sources. Returns at once; the first ticks arrive with the first answers. */
export function startSources(options: SourcesOptions, dependencies: SourcesDependencies): Sources {
  const running = new Map<SourceId, Running>();
  const isEnabled = (id: SourceId): boolean => options.enabled?.includes(id) ?? true;
  for (const exchange of exchanges) {
    const markets = exchange.markets.filter((market) => options.symbols.includes(market.base));
    if (!isEnabled(exchange.id) || markets.length === 0) continue;
    const endpoint = options.endpoints?.[exchange.id] ?? exchange.endpoint;
    running.set(exchange.id, new Source({ exchange, endpoint, markets }, dependencies));
  }
  const pools = (options.pools ?? []).filter((pool) => options.symbols.includes(pool.base));
  const { readAccounts } = dependencies;
  if (isEnabled("chain") && pools.length > 0 && readAccounts !== undefined)
    running.set("chain", new ChainPools({ pools }, { ...dependencies, readAccounts }));
  const step = (): void => {
    for (const source of running.values()) source.step();
  };
  const timer = dependencies.clock.every(stepMs, step);
  step();
  return {
    health: () => sourceIds.map((id) => running.get(id)?.health() ?? disabledHealth(id)),
    [Symbol.asyncDispose]: async () => {
      timer.cancel();
      await Promise.all([...running.values()].map((source) => source[Symbol.asyncDispose]()));
    },
  };
}

export interface ExchangesOptions {
  /** Addresses used in place of an exchange's own. */
  readonly endpoints: Readonly<Partial<Record<SourceId, SourceEndpoint>>>;
  /** The chain's own pools, for symbols that exchanges lack. */
  readonly pools: readonly ChainPoolOptions[];
  /** The node that their accounts are read from; null reads none. */
  readonly node: NodeEndpoint | null;
}

/** Starts to read the exchanges and pools; their ticks arrive with their first answers. */
export function startExchanges(options: ExchangesOptions, dependencies: SourceDependencies): SourceFeed {
  const { node, ...rest } = options;
  const sources = startSources(
    { ...rest, symbols: oracleSymbols },
    { ...dependencies, ...(node === null ? {} : { readAccounts: createAccountReader(node) }) },
  );
  return {
    states: () => sources.health().map(stateOf),
    [Symbol.asyncDispose]: () => sources[Symbol.asyncDispose](),
  };
}

/** A source's health as the endpoints show it; messages of a stream count like answers. */
function stateOf(health: SourceHealth): SourceState {
  const received = health.requests24h + health.messages24h;
  const failed = Math.min(health.errors24h, received);
  return {
    id: health.source,
    enabled: health.status !== "disabled",
    status: health.status,
    uptime24h: health.uptimePercent24h,
    responseMs: health.responseMs ?? health.delayMs,
    requests24h: received,
    symbols: [...new Set(health.markets.flatMap(({ base, state }) => (state === "absent" ? [] : [base])))].toSorted(),
    successRate: received === 0 ? 0 : (100 * (received - failed)) / received,
  };
}
