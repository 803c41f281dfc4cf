import { type SourceId, sourceIds } from "../tick.ts";
import { chainCadenceMs } from "./chain-pools.ts";
import type { SourceEndpoint } from "./exchange.ts";
import { exchanges } from "./exchanges/index.ts";

/** How often each source says something new of a liquid market, milliseconds; it is stale after three times that. */
export const sourceCadenceMs: Readonly<Partial<Record<SourceId, number>>> = {
  ...Object.fromEntries(exchanges.map(({ id, cadenceMs }) => [id, cadenceMs])),
  chain: chainCadenceMs,
};

/** Addresses of all exchanges under one address that stands in for them: `http://host:port` becomes `.../kraken`. */
export function endpointsUnder(base: string): Partial<Record<SourceId, SourceEndpoint>> {
  const rest = base.replace(/\/+$/, "");
  const ws = rest.replace(/^http/, "ws");
  return Object.fromEntries(
    sourceIds.filter((id) => id !== "chain").map((id) => [id, { rest: `${rest}/${id}`, ws: `${ws}/${id}` }]),
  );
}
