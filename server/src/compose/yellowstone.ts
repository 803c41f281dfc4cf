import { yellowstoneBounds } from "@sluice/contract/yellowstone";
import { type Config, version } from "../config/index.ts";
import type { ProbeSource } from "../http/index.ts";
import type { RevocationFeed } from "../keys/index.ts";
import { FrontedPeers, frontHost, GrpcServer } from "../net/index.ts";
import { createYellowstoneEvents, type Flows, YellowstoneEndpoint } from "../streams/index.ts";
import type { Dependencies } from "./dependencies.ts";
import { drainMsOf } from "./endpoints.ts";
import type { Gateway } from "./gateway.ts";
import { yellowstoneNodes } from "./nodes.ts";
import { openFronts } from "./tls.ts";

interface YellowstoneParts extends Dependencies {
  readonly gateway: Gateway;
  readonly revocations: RevocationFeed;
  readonly flows: Flows | null;
  readonly health: ProbeSource;
}

/** Of one connection: as many as the highest tier has in all. */
const streamsMax = 1_024;

/** Opens Yellowstone gRPC where this process tells streams; null elsewhere. */
export async function openYellowstone(
  config: Config,
  dependencies: YellowstoneParts,
): Promise<YellowstoneEndpoint | null> {
  const { clock, random, flows, gateway, revocations, resources, proxies, certificates } = dependencies;
  if (flows === null) return null;
  const { access, requestId, served, trustedProxies } = gateway;
  const peers = proxies === null ? undefined : new FrontedPeers();
  const endpoint = resources.use(
    new YellowstoneEndpoint(
      {
        networkDefault: config.networkDefault,
        trustedProxies,
        version,
        peers,
        heldBytesMax: config.stores.log.accountBytesMax,
      },
      {
        clock,
        random,
        access,
        flows,
        places: gateway.places,
        nodes: (network) => yellowstoneNodes(gateway.upstreams, network),
        events: createYellowstoneEvents(dependencies),
        requestId,
        served,
      },
    ),
  );
  revocations.subscribe(() => void endpoint.recheck());
  const port = config.ports.yellowstone;
  const tls = config.tls.yellowstone === null ? null : certificates.of(config.tls.yellowstone);
  const calls = { services: [endpoint.service], isServing: () => flows.isOpen.some((isOpen) => isOpen), clock };
  const bounds = { messageBytesMax: yellowstoneBounds.requestBytes, concurrentStreamsMax: streamsMax };
  const options = { endpoint: "yellowstone", hostname: config.bind, port };
  const drainMs = drainMsOf(config);
  if (peers === undefined) {
    const server = await GrpcServer.open({ ...options, ...bounds, tls }, calls);
    resources.defer(() => server.stop(drainMs));
    return endpoint;
  }
  const place = { hostname: frontHost, port: 0, peers };
  const server = await GrpcServer.open({ ...options, ...bounds, ...place, tls }, calls);
  // Its TLS is its own, and begins behind the header.
  const fronts = await openFronts(
    server,
    { place, ports: [{ options: { ...options, tls: null }, innerPort: server.port }] },
    dependencies,
  );
  resources.defer(() => fronts.stop(drainMs));
  return endpoint;
}
