import type { Config } from "../config/index.ts";
import type { UpstreamsOptions } from "../upstreams/index.ts";
import { opensEngine, opensGateway, opensIngest, opensResolver, opensStreams, resolvesFromPool } from "./endpoints.ts";

/** How the nodes of all networks are called. */
export const upstreamsOptions = (config: Config): UpstreamsOptions => ({
  networks: config.upstreams,
  deadlineMs: config.upstreamTimeoutMs,
  callBytesMax: config.nodeBodyBytesMax,
  slotLagMax: BigInt(config.cordonSlots),
  chains: {
    genesis: config.genesis.hashes,
    allowUnknown: config.genesis.allowUnknown,
    followsNodes: config.mode === "dev",
  },
});

/** Whether a role of this process calls nodes; otherwise none is connected to. */
export const followsNodes = (config: Config): boolean =>
  opensGateway(config) ||
  opensEngine(config) ||
  opensIngest(config) ||
  opensStreams(config) ||
  (opensResolver(config) && resolvesFromPool(config));
