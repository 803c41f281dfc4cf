import type { Config, Role } from "../config/index.ts";
import type { ReplicaGroup } from "../limits/index.ts";

/** An address at which this server listens. */
export interface Endpoint {
  readonly name: string;
  readonly url: string;
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

/** The roles of which this process opens an endpoint. */
export const openedRoles = (config: Config): readonly Role[] => {
  const opened = { gateway: opensGateway, resolver: opensResolver, oracle: opensOracle, engine: opensEngine };
  return config.roles.filter((role) => opened[role](config));
};

const opensEngineTls = (config: Config): boolean => config.mode === "dev" || config.tls.engineGrpc !== null;

/** A host that stands for all addresses is shown as the one that a person on this machine can open. */
const shownHost = (host: string): string => (host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host);

/** The certificate files of the ports that may have TLS before them. */
const tlsOf: Readonly<Partial<Record<keyof Config["ports"], keyof Config["tls"]>>> = {
  gateway: "gateway",
  pubsub: "gateway",
  oracle: "oracle",
  engineRest: "engineRest",
};

const url = (config: Config, name: keyof Config["ports"], scheme: "http" | "ws" = "http"): string => {
  const tls = tlsOf[name];
  const isSecure = name === "engineGrpcTls" || (tls !== undefined && config.tls[tls] !== null);
  return `${scheme}${isSecure ? "s" : ""}://${shownHost(config.bind)}:${config.ports[name]}`;
};

/** Null where no gateway runs, which serves the console. */
export const consoleUrl = (config: Config): string | null =>
  opensGateway(config) ? `${url(config, "gateway")}/` : null;
export const oracleUrl = (config: Config): string => url(config, "oracle");
export const engineRestUrl = (config: Config): string => url(config, "engineRest");

/** The address of the engine's gRPC endpoint: the operator's, or the one that validators of this machine find. */
export const engineUrl = (config: Config): string => config.engine.url ?? url(config, "engineGrpc");

export const resolverEndpoint = ({ resolver, tls }: Config): Endpoint => ({
  name: "resolver",
  url: `${tls.resolver === null ? "http" : "https"}://${shownHost(resolver.host)}:${resolver.port}`,
  protocol: "names, HTTP",
});

const engineEndpoints = (config: Config): Endpoint[] => {
  const tls = {
    name: "engineGrpcTls",
    url: url(config, "engineGrpcTls"),
    protocol: "bundles, gRPC over TLS",
  };
  return [
    { name: "engineRest", url: engineRestUrl(config), protocol: "bundles, REST and JSON-RPC" },
    { name: "engineGrpc", url: url(config, "engineGrpc"), protocol: "bundles, gRPC" },
    ...(opensEngineTls(config) ? [tls] : []),
  ];
};

/** Of which groups of processes that share rates a process is, by its roles. */
export function replicaGroupsOf(config: Config): ReplicaGroup[] {
  const ofGateway: ReplicaGroup[] = opensGateway(config) ? ["gateways"] : [];
  const ofEngine: ReplicaGroup[] = opensEngine(config) ? ["engines"] : [];
  const ofSenders: ReplicaGroup[] = ofGateway.length + ofEngine.length > 0 ? ["senders"] : [];
  return [...ofGateway, ...ofSenders, ...ofEngine, ...(opensOracle(config) ? (["oracles"] as const) : [])];
}

/** The addresses of endpoints by their names. */
export const addressesOf = (endpoints: readonly Endpoint[]): Record<string, string> =>
  Object.fromEntries(endpoints.map(({ name, url }) => [name, url]));

const metricsEndpoint = ({ metrics }: Pick<Config, "metrics">): Endpoint => ({
  name: "metrics",
  url: `http://${shownHost(metrics.host)}:${metrics.port}/metrics`,
  protocol: "Prometheus",
  forOperators: true,
});

/** All endpoints that a server with this configuration opens. */
export function endpointsOf(config: Config): Endpoint[] {
  return [
    ...(opensGateway(config) ? [{ name: "rpc", url: `${url(config, "gateway")}/rpc`, protocol: "JSON-RPC" }] : []),
    ...(opensResolver(config) ? [resolverEndpoint(config)] : []),
    ...(opensOracle(config)
      ? [{ name: "oracle", url: oracleUrl(config), protocol: "prices, HTTP and WebSocket" }]
      : []),
    ...(opensEngine(config) ? engineEndpoints(config) : []),
    ...(opensGateway(config) ? [{ name: "pubsub", url: url(config, "pubsub", "ws"), protocol: "Solana PubSub" }] : []),
    metricsEndpoint(config),
  ];
}
