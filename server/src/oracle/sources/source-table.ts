import type { SourceId } from "../tick.ts";
import { chainCadenceMs } from "./chain-pools.ts";
import { exchanges } from "./exchanges/index.ts";

/** How often each source says something new of a liquid market, milliseconds; it is stale after three times that. */
export const sourceCadenceMs: Readonly<Partial<Record<SourceId, number>>> = {
  ...Object.fromEntries(exchanges.map(({ id, cadenceMs }) => [id, cadenceMs])),
  chain: chainCadenceMs,
};
