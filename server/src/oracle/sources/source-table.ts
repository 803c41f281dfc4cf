import { type SourceId, sourceIds } from "../tick.ts";
import { chainCadenceMs } from "./chain-pools.ts";
import type { SourceEndpoint } from "./exchange.ts";
import { exchanges } from "./exchanges/index.ts";
import { staleAfterMs } from "./source-health.ts";

/** How old a source's tick may be before it is stale, milliseconds. */
export function sourceStaleAfterMs(source: SourceId): number {
  const exchange = exchanges.find(({ id }) => id === source);
  return staleAfterMs(exchange?.cadenceMs ?? chainCadenceMs);
}

/** Addresses of all exchanges under one address that stands in for them: `http://host:port` becomes `.../kraken`. */
export function endpointsUnder(base: string): Partial<Record<SourceId, SourceEndpoint>> {
  const rest = base.replace(/\/+$/, "");
  const ws = rest.replace(/^http/, "ws");
  return Object.fromEntries(
    sourceIds.filter((id) => id !== "chain").map((id) => [id, { rest: `${rest}/${id}`, ws: `${ws}/${id}` }]),
  );
}
