import type { Network } from "@sluice/contract/tiers";
import type { Config, YellowstoneAddress } from "../config/index.ts";
import type { Upstreams, UpstreamsOptions } from "../upstreams/index.ts";
import {
  opensEngine,
  opensGateway,
  opensIngest,
  opensResolver,
  opensStreams,
  opensWebhooks,
  resolvesFromPool,
} from "./endpoints.ts";

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
  opensWebhooks(config) ||
  (opensResolver(config) && resolvesFromPool(config));

/** Where the nodes of a network offer Yellowstone gRPC, those that were added at run time too. */
export const yellowstoneNodes = (
  upstreams: Pick<Upstreams, "nodes">,
  network: Network,
): readonly YellowstoneAddress[] =>
  upstreams.nodes().flatMap((node) => (node.network === network ? (node.options.yellowstone ?? []) : []));
