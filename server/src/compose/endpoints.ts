import type { OpenApiName } from "@sluice/contract/openapi-names";
import { networks } from "@sluice/contract/tiers";
import type { Config, Role } from "../config/index.ts";
import type { GatewayPlace } from "../http/index.ts";
import type { ReplicaGroup } from "../limits/index.ts";

/** An address at which this server listens. */
export interface Endpoint {
  readonly name: string;
  /** What people and clients are told. */
  readonly url: string;
  /** For programs of this machine. */
  readonly listensAt: string;
  /** The protocol in a word or two, for people. */
  readonly protocol: string;
  /** Absent for an endpoint of customers. */
  readonly forOperators?: true;
}

/** Longest time, once the server ends, for the requests in flight of the engine's and of the oracle's endpoints. */
const drainMsMax = 5_000;
export const drainMsOf = ({ drain }: Config): number => Math.min(drainMsMax, drain.deadlineMs);

/** JSON-RPC, PubSub, administration and the console, which share ports. */
export const opensGateway = (config: Pick<Config, "roles">): boolean => config.roles.includes("gateway");

/** Whether names are read from the nodes of the default network, for want of a node of their own. */
export const resolvesFromPool = (config: Config): boolean =>
  config.resolver.chainRpcUrl === null && config.upstreams[config.networkDefault].length > 0;

export const opensResolver = (config: Config): boolean =>
  config.roles.includes("resolver") && (config.resolver.chainRpcUrl !== null || resolvesFromPool(config));

export const opensOracle = (config: Config): boolean =>
  config.roles.includes("oracle") && config.oracle.prices !== "off";

export const opensEngine = (config: Config): boolean =>
  config.roles.includes("engine") &&
  config.engine.builder !== null &&
  config.upstreams[config.networkDefault].length > 0;

/** Whether this process reads blocks of some network into the log of its chain. */
export const opensIngest = (config: Config): boolean =>
  config.roles.includes("ingest") && networks.some((network) => config.upstreams[network].length > 0);

/** Whether this process tells clients the blocks of some network. */
export const opensStreams = (config: Config): boolean =>
  config.roles.includes("streams") && networks.some((network) => config.upstreams[network].length > 0);

/** Whether this process makes and sends the deliveries of webhooks of some network. */
export const opensWebhooks = (config: Config): boolean =>
  config.roles.includes("webhooks") && networks.some((network) => config.upstreams[network].length > 0);

/** Whether this process takes the WebSockets of the gateway's ports. */
export const opensSockets = (config: Config): boolean => opensGateway(config) || opensStreams(config);

/** The roles that this process runs: of which it opens an endpoint, or reads or tells blocks. */
export const openedRoles = (config: Config): readonly Role[] => {
  const opened = {
    gateway: opensGateway,
    resolver: opensResolver,
    oracle: opensOracle,
    engine: opensEngine,
    ingest: opensIngest,
    streams: opensStreams,
    webhooks: opensWebhooks,
  };
  return config.roles.filter((role) => opened[role](config));
};

const opensEngineTls = (config: Config): boolean => config.mode === "dev" || config.tls.engineGrpc !== null;

/** A host that stands for all addresses is shown as the one that a person on this machine can open. */
const openableHost = (host: string): string => (isEveryAddress(host) ? "127.0.0.1" : host);
const isEveryAddress = (host: string): boolean => host === "0.0.0.0" || host === "::";

type PortName = keyof Config["ports"];

/** The certificate files of the ports that may have TLS before them. */
const tlsOf: Readonly<Partial<Record<PortName, keyof Config["tls"]>>> = {
  gateway: "gateway",
  pubsub: "gateway",
  oracle: "oracle",
  resolver: "resolver",
  yellowstone: "yellowstone",
  engineRest: "engineRest",
};

const hostOf = (config: Config, name: PortName): string => (name === "resolver" ? config.resolver.host : config.bind);

/** An address of this port under a host, with the scheme that the port speaks. */
function addressOf(config: Config, name: PortName, host: string): string {
  const tls = tlsOf[name];
  const isSecure = name === "engineGrpcTls" || (tls !== undefined && config.tls[tls] !== null);
  const bracketed = host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
  return `${name === "pubsub" ? "ws" : "http"}${isSecure ? "s" : ""}://${bracketed}:${config.ports[name]}`;
}

/** Where a program of this machine reaches a port. */
const listeningUrl = (config: Config, name: PortName): string =>
  addressOf(config, name, openableHost(hostOf(config, name)));

/** The operator's word for a port, if there is one; PubSub is on the gateway's port too. */
function namedUrl({ publicUrls }: Config, name: PortName): string | null {
  if (name === "pubsub") return publicUrls.pubsub ?? publicUrls.gateway?.replace(/^http/, "ws") ?? null;
  return name === "gateway" ||
    name === "oracle" ||
    name === "resolver" ||
    name === "yellowstone" ||
    name === "engineRest"
    ? publicUrls[name]
    : null;
}

/**
 * What people and clients are told in the place of where a port listens: the operator's word, else this port at the
 * host of PUBLIC_URL where it listens on every address. Null where it is told as it listens.
 */
function publicUrl(config: Config, name: PortName): string | null {
  const { gateway } = config.publicUrls;
  const named = namedUrl(config, name);
  if (named !== null || gateway === null || !isEveryAddress(hostOf(config, name))) return named;
  return addressOf(config, name, new URL(gateway).hostname);
}

const shownUrl = (config: Config, name: PortName): string => publicUrl(config, name) ?? listeningUrl(config, name);

/** The gateway of the whole installation, as endpoints point at its console and its page of codes. */
export const gatewayPlace = (config: Config): GatewayPlace => ({
  port: config.ports.gateway,
  url: config.publicUrls.gateway,
});

/** The servers that OpenAPI descriptions name; null where an address is relative to where the description is read. */
export const describedServers = (config: Config): Readonly<Record<OpenApiName, string | null>> => ({
  gateway: config.publicUrls.gateway,
  engine: opensEngine(config) ? publicUrl(config, "engineRest") : config.publicUrls.engineRest,
  oracle: opensOracle(config) ? publicUrl(config, "oracle") : config.publicUrls.oracle,
  resolver: opensResolver(config) ? publicUrl(config, "resolver") : config.publicUrls.resolver,
});

/** Null where no gateway runs, which serves the console. */
export const consoleUrl = (config: Config): string | null =>
  opensGateway(config) ? `${shownUrl(config, "gateway")}/` : null;
export const oracleUrl = (config: Config): string => shownUrl(config, "oracle");
export const engineRestUrl = (config: Config): string => shownUrl(config, "engineRest");

/**
 * The gRPC address that validators are told: the operator's for them, else what everybody is told. The validator of a
 * development chain is on this machine.
 */
export function engineUrl(config: Config): string {
  if (config.engine.url !== null) return config.engine.url;
  return config.mode === "dev"
    ? listeningUrl(config, "engineGrpc")
    : (config.publicUrls.engineGrpc ?? shownUrl(config, "engineGrpc"));
}

function endpoint(config: Config, port: PortName, terms: { name?: string; path?: string; protocol: string }): Endpoint {
  const { name = port, path = "", protocol } = terms;
  return { name, url: shownUrl(config, port) + path, listensAt: listeningUrl(config, port) + path, protocol };
}

export const resolverEndpoint = (config: Config): Endpoint => endpoint(config, "resolver", { protocol: "names, HTTP" });

/** `/ws`, on the gateway's port. */
function streamEndpoint(config: Config): Endpoint {
  const { url, listensAt, ...terms } = endpoint(config, "gateway", { name: "ws", path: "/ws", protocol: "streams" });
  return { ...terms, url: url.replace(/^http/, "ws"), listensAt: listensAt.replace(/^http/, "ws") };
}

/** The gRPC ports; where the operator names an address, it stands for one of them, and the other is the operator's. */
function grpcEndpoints(config: Config): Endpoint[] {
  const { engineGrpc: named } = config.publicUrls;
  const plain = endpoint(config, "engineGrpc", { protocol: "bundles, gRPC" });
  const secured = endpoint(config, "engineGrpcTls", { protocol: "bundles, gRPC over TLS" });
  const open = opensEngineTls(config) ? [plain, secured] : [plain];
  if (named === null) return open;
  const isTls = named.startsWith("https:");
  const told = isTls ? secured : plain;
  const listensAt = open.includes(told) ? told.listensAt : plain.listensAt;
  const others = open.filter((each) => each !== told);
  return [
    ...others.map((each) => ({ ...each, url: each.listensAt, forOperators: true as const })),
    { ...told, url: named, listensAt },
  ];
}

const engineEndpoints = (config: Config): Endpoint[] => [
  endpoint(config, "engineRest", { protocol: "bundles, REST and JSON-RPC" }),
  ...grpcEndpoints(config),
];

/** Of which groups of processes that share rates a process is, by its roles. */
export function replicaGroupsOf(config: Config): ReplicaGroup[] {
  // Streams take from the buckets of requests and of messages, as gateways do.
  const ofGateway: ReplicaGroup[] = opensGateway(config) || opensStreams(config) ? ["gateways"] : [];
  const ofEngine: ReplicaGroup[] = opensEngine(config) ? ["engines"] : [];
  const ofSenders: ReplicaGroup[] = opensGateway(config) || ofEngine.length > 0 ? ["senders"] : [];
  return [...ofGateway, ...ofSenders, ...ofEngine, ...(opensOracle(config) ? (["oracles"] as const) : [])];
}

/** The addresses of endpoints by their names. */
export const addressesOf = (endpoints: readonly Endpoint[]): Record<string, string> =>
  Object.fromEntries(endpoints.map(({ name, url }) => [name, url]));

function metricsEndpoint({ metrics }: Pick<Config, "metrics">): Endpoint {
  const url = `http://${openableHost(metrics.host)}:${metrics.port}/metrics`;
  return { name: "metrics", url, listensAt: url, protocol: "Prometheus", forOperators: true };
}

const geyserTerms = { protocol: "Yellowstone gRPC" } as const;

/** All endpoints that a server with this configuration opens. */
export function endpointsOf(config: Config): Endpoint[] {
  const rpc = { name: "rpc", path: "/rpc", protocol: "JSON-RPC" };
  return [
    ...(opensGateway(config) ? [endpoint(config, "gateway", rpc)] : []),
    ...(opensResolver(config) ? [resolverEndpoint(config)] : []),
    ...(opensOracle(config) ? [endpoint(config, "oracle", { protocol: "prices, HTTP and WebSocket" })] : []),
    ...(opensEngine(config) ? engineEndpoints(config) : []),
    ...(opensSockets(config) ? [endpoint(config, "pubsub", { protocol: "Solana PubSub" })] : []),
    ...(opensStreams(config) ? [streamEndpoint(config), endpoint(config, "yellowstone", geyserTerms)] : []),
    metricsEndpoint(config),
  ];
}
