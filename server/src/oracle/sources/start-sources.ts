import type { Clock, Random } from "@sluice/lib";
import { type SourceId, sourceIds, type Tick } from "../tick.ts";
import { type AccountReader, ChainPools, type PoolOptions } from "./chain-pools.ts";
import type { SourceEndpoint } from "./exchange.ts";
import { exchanges } from "./exchanges/index.ts";
import { Source } from "./source.ts";
import type { SourceEvents } from "./source-events.ts";
import { disabledHealth, type SourceHealth } from "./source-health.ts";

export interface SourcesOptions {
  /** Addresses that stand in for an exchange's own. */
  readonly endpoints?: Partial<Record<SourceId, SourceEndpoint>>;
  /** What is priced: "BTC". An exchange is read for those that it lists. */
  readonly symbols: readonly string[];
  /** The sources to read; all when left out. */
  readonly enabled?: readonly SourceId[];
  /** Pools of the chain's own; none when left out. */
  readonly pools?: readonly PoolOptions[];
}

export interface SourcesDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly events: SourceEvents;
  readonly onTick: (tick: Tick) => void;
  /** Reads accounts of the chain; without it no pool is read. */
  readonly readAccounts?: AccountReader;
}

/** Sources that run until they are disposed of. */
export interface Sources extends AsyncDisposable {
  /** Every source there is, those that are not read as `disabled`. */
  health(): readonly SourceHealth[];
}

interface Running extends AsyncDisposable {
  step(): void;
  health(): SourceHealth;
}

/** How often every source looks at the clock. */
const stepMs = 250;

/** Starts to read the enabled sources. Returns at once; the first ticks come when the first answers do. */
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
  const timer = setInterval(step, stepMs);
  step();
  return {
    health: () => sourceIds.map((id) => running.get(id)?.health() ?? disabledHealth(id)),
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer);
      await Promise.all([...running.values()].map((source) => source[Symbol.asyncDispose]()));
    },
  };
}
