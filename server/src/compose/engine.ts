import { ApiDocs } from "../admin/index.ts";
import { type Config, version } from "../config/index.ts";
import { createEngineEvents, type EngineService, openEngineService, upstreamChain } from "../engine/index.ts";
import type { ProbeSource } from "../http/index.ts";
import type { RevocationFeed } from "../keys/index.ts";
import { createLeaseEvents } from "../leases/index.ts";
import type { ChainLogs } from "../log/index.ts";
import {
  AppListener,
  type CertificateSource,
  devTls,
  FrontedPeers,
  fixedCertificate,
  frontHost,
  GrpcServer,
} from "../net/index.ts";
import type { Dependencies } from "./dependencies.ts";
import { describedServers, drainMsOf, engineUrl, gatewayPlace, opensEngine } from "./endpoints.ts";
import type { Gateway } from "./gateway.ts";
import { openBlockFlow } from "./ingest.ts";
import type { OpenedPool } from "./pool.ts";
import type { Stores } from "./stores.ts";
import { openFronts, openPort } from "./tls.ts";

interface EngineParts extends Dependencies {
  readonly health: ProbeSource;
  readonly stores: Stores;
  readonly gateway: Gateway;
  readonly revocations: RevocationFeed;
  readonly chainLogs: ChainLogs;
  readonly pool: OpenedPool | null;
}

/**
 * Opens the block engine, active or standing by, and its endpoints; null where this process does not have the role, or
 * there is no builder account or no node.
 */
export async function openBlockEngine(config: Config, dependencies: EngineParts): Promise<EngineService | null> {
  const { builder, commission, validators, region, simulators, tickMs } = config.engine;
  if (!opensEngine(config) || builder === null) return null;
  const { clock, random, log, processId, stores, gateway, revocations, resources } = dependencies;
  const { access, limits, requestId, trustedProxies, upstreams, slots } = gateway;
  const network = config.networkDefault;
  const grpcPeers = dependencies.proxies === null ? undefined : new FrontedPeers();
  const chain = upstreamChain(network, upstreams, slots);
  const events = createEngineEvents(dependencies);
  const engine = resources.use(
    await openEngineService(
      {
        network,
        version,
        tickMs,
        simulators,
        fee: { pubkey: builder, commission },
        validators,
        url: engineUrl(config),
        region,
        masterKey: config.masterKey,
        masterKeysPrevious: config.masterKeysPrevious,
        trustedProxies,
        grpcPeers,
        leaseMs: config.stores.leaseMs,
      },
      {
        clock,
        random,
        log,
        chain,
        openFlow: () => openBlockFlow(config, { ...dependencies, upstreams }),
        stores: stores.state.engine,
        leases: stores.state.leases,
        processId,
        ledger: stores.ledger,
        access,
        limits,
        served: gateway.served,
        requestId,
        events,
        leaseEvents: createLeaseEvents(dependencies, {
          network,
          job: "engine-book",
          nowMs: () => clock.monotonic(),
        }),
      },
    ),
  );
  revocations.subscribe(() => void engine.recheck());
  await openEndpoints(config, engine, { ...dependencies, grpcPeers });
  return engine;
}

async function openEndpoints(
  config: Config,
  engine: EngineService,
  dependencies: EngineParts & { readonly grpcPeers: FrontedPeers | undefined },
): Promise<void> {
  const { gateway, events, resources, pool, grpcPeers: peers } = dependencies;
  const hostname = config.bind;
  const { engineRest, engineGrpc, engineGrpcTls } = config.ports;
  // All stop together, so that a client that holds one open does not take the time of the others.
  const opened: { stop(deadlineMs: number): Promise<void> }[] = [];
  const drainMs = drainMsOf(config);
  resources.defer(async () => void (await Promise.all(opened.map((each) => each.stop(drainMs)))));
  const docs = new ApiDocs({ servers: describedServers(config) });
  const probes = { source: dependencies.health, role: "engine" };
  const page = { title: "block engine", version, gateway: gatewayPlace(config), probes };
  const rest = await openPort(
    { endpoint: "engineRest", hostname, port: engineRest, tls: config.tls.engineRest },
    dependencies,
    ({ peers, ...address }) =>
      new AppListener(
        { ...address, page },
        {
          clock: dependencies.clock,
          fetch: (request, bindings) =>
            docs.own("engine", request) ??
            (pool?.http.serves(request) === true ? pool.http : engine).fetch(request, bindings),
          sockets: engine.sockets,
          requestId: gateway.requestId,
          events,
          ...(peers === undefined ? {} : { peers }),
        },
      ),
  );
  opened.push(rest);
  const calls = { services: engine.services, isServing: () => engine.isServing(), clock: dependencies.clock };
  const secured = await tlsOf(config, dependencies);
  const listeners: readonly {
    readonly endpoint: string;
    readonly port: number;
    readonly tls: CertificateSource | null;
  }[] = [
    { endpoint: "engineGrpc", port: engineGrpc, tls: null },
    ...(secured === null ? [] : [{ endpoint: "engineGrpcTls", port: engineGrpcTls, tls: secured }]),
  ];
  for (const each of listeners) {
    if (peers === undefined) {
      opened.push(await GrpcServer.open({ ...each, hostname }, calls));
      continue;
    }
    const place = { hostname: frontHost, port: 0, peers };
    const server = await GrpcServer.open({ ...each, ...place }, calls);
    // Its TLS is its own, and begins behind the header.
    const options = { endpoint: each.endpoint, hostname, port: each.port, tls: null };
    opened.push(await openFronts(server, { place, ports: [{ options, innerPort: server.port }] }, dependencies));
  }
}

/** The operator's certificate, under `dev` one of an authority in the data directory; null opens no TLS endpoint. */
async function tlsOf({ tls, mode, stores }: Config, dependencies: EngineParts): Promise<CertificateSource | null> {
  if (tls.engineGrpc !== null) return dependencies.certificates.of(tls.engineGrpc);
  return mode === "dev" ? fixedCertificate(await devTls({ directory: stores.directory }, dependencies)) : null;
}
