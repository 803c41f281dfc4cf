import { SluiceError } from "@sluice/contract/errors";
import type { ConsoleEndpoint, HealthRecord } from "@sluice/contract/schemas";
import type { Clock } from "@sluice/lib";
import {
  type ConsolePages,
  chainPosition,
  consoleBundleStory,
  consoleBundles,
  consolePrices,
  consoleUpstreams,
  consoleUsage,
  createConsole,
} from "../admin/index.ts";
import type { Config } from "../config/index.ts";
import type { Engine, EngineService } from "../engine/index.ts";
import { GatewayDoor, PubSubDoor } from "../gateway/index.ts";
import { problemResponse } from "../http/index.ts";
import type { RevocationFeed } from "../keys/index.ts";
import type { Names } from "../names/index.ts";
import { type AppMount, listening } from "../net/index.ts";
import type { Log, Metrics } from "../observe/index.ts";
import type { Oracle } from "../oracle/index.ts";
import type { Drain } from "./drain.ts";
import { opensEngine, opensEngineTls } from "./engine.ts";
import type { Gateway } from "./gateway.ts";
import { opensOracle } from "./oracle.ts";
import type { Stores } from "./stores.ts";
import { version } from "./version.ts";

/** A door that listens. */
export interface OpenDoor {
  readonly name: string;
  readonly url: string;
  /** What it speaks, in a word or two. */
  readonly protocol: string;
}

interface Parts {
  readonly clock: Clock;
  readonly log: Log;
  readonly gateway: Gateway;
  readonly stores: Stores;
}

/** Addresses that stand for every address are shown as the one that a person on this machine can open. */
const shownHost = (host: string): string => (host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host);

export const consoleUrl = (config: Config): string => `http://${shownHost(config.bind)}:${config.ports.gateway}/`;

export const resolverUrl = (config: Config): string =>
  `http://${shownHost(config.resolver.host)}:${config.resolver.port}`;

const oracleUrl = (config: Config): string => `http://${shownHost(config.bind)}:${config.ports.oracle}`;

export function openDoors(config: Config): OpenDoor[] {
  const host = shownHost(config.bind);
  return [
    { name: "rpc", url: `http://${host}:${config.ports.gateway}/rpc`, protocol: "JSON-RPC" },
    ...(config.roles.includes("resolver") && config.resolver.chainRpcUrl !== null
      ? [{ name: "resolver", url: resolverUrl(config), protocol: "names, HTTP" }]
      : []),
    ...(opensOracle(config)
      ? [{ name: "oracle", url: oracleUrl(config), protocol: "prices, HTTP and WebSocket" }]
      : []),
    ...(opensEngine(config) ? engineDoors(config) : []),
    { name: "pubsub", url: `ws://${host}:${config.ports.pubsub}`, protocol: "Solana PubSub" },
    {
      name: "metrics",
      url: `http://${shownHost(config.metrics.host)}:${config.ports.metrics}/metrics`,
      protocol: "Prometheus",
    },
  ];
}

const engineRestUrl = (config: Config): string => `http://${shownHost(config.bind)}:${config.ports.engineRest}`;

function engineDoors(config: Config): OpenDoor[] {
  const { bind, ports } = config;
  const host = shownHost(bind);
  const tls = {
    name: "engineGrpcTls",
    url: `https://${host}:${ports.engineGrpcTls}`,
    protocol: "bundles, gRPC over TLS",
  };
  return [
    { name: "engineRest", url: engineRestUrl(config), protocol: "bundles, REST and JSON-RPC" },
    { name: "engineGrpc", url: `http://${host}:${ports.engineGrpc}`, protocol: "bundles, gRPC" },
    ...(opensEngineTls(config) ? [tls] : []),
  ];
}

/** The console's REST over the parts that it shows. */
export function wireConsole(
  config: Config,
  parts: Parts & {
    doors: readonly OpenDoor[];
    openAccount: () => string | null;
    closing: AbortSignal;
    names: Names | null;
    oracle: Oracle | null;
    engine: EngineService | null;
  },
) {
  const { clock, log, gateway, stores, openAccount, closing, names, oracle, engine } = parts;
  return createConsole(
    { network: config.networkDefault, version, closing },
    {
      state: stores.state,
      clock,
      log,
      requestId: gateway.requestId,
      openAccount,
      names,
      prices:
        oracle === null
          ? null
          : () =>
              consolePrices(oracle, {
                origin: config.oracle.prices === "market" ? "market" : "live",
                door: oracleUrl(config),
                nowMs: clock.now(),
              }),
      bundles:
        engine === null
          ? null
          : {
              list: (viewer) =>
                consoleBundles(requireActive(engine), viewer, { door: engineRestUrl(config), nowMs: clock.now() }),
              story: (viewer, id) => consoleBundleStory(requireActive(engine), viewer, { id, nowMs: clock.now() }),
            },
      access: gateway.access.on(config.networkDefault),
      doors: (): ConsoleEndpoint[] =>
        parts.doors.map(({ name, url, protocol }) => ({ name, address: url, protocol, status: "open" })),
      upstreams: () => consoleUpstreams(gateway.upstreams),
      chainPosition: () => chainPosition(gateway.upstreams, config.networkDefault),
      usage: async (accountId) => consoleUsage(await stores.ledger.requests.lastHour(accountId)),
      creditsUsed: (accountId) => gateway.credits.spent(accountId),
    },
  );
}

function requireActive({ active }: EngineService): Engine {
  if (active !== null) return active;
  throw new SluiceError("OVERLOADED", { message: "The block engine stands by here; another process runs it." });
}

interface GatewayParts extends Parts {
  readonly engine: EngineService | null;
  readonly consoleApp: AppMount["fetch"];
  readonly administration: readonly AppMount[];
  readonly revocations: Pick<RevocationFeed, "subscribe">;
  readonly drain: Pick<Drain, "hasBegun">;
  readonly pages: () => Promise<ConsolePages>;
}

/** Opens the gateway's ports: JSON-RPC, PubSub, health, the console's REST and pages. */
export function openGatewayDoor(config: Config, parts: GatewayParts): GatewayDoor {
  const { gateway, clock, consoleApp, administration, pages } = parts;
  const shared = { networkDefault: config.networkDefault, trustedProxies: gateway.trustedProxies };
  const pubsub = new PubSubDoor(shared, {
    ...gateway,
    target: (network, lost) => gateway.upstreams.pool(network)?.pubsubNode(lost) ?? null,
    isServing: (network, label) => gateway.upstreams.pool(network)?.isIn(label) ?? false,
  });
  parts.revocations.subscribe(() => pubsub.recheck());
  const showPage: AppMount["fetch"] = async (request, { requestId }) =>
    (await pages()).answer(request) ?? problemResponse("NOT_FOUND", { requestId });
  const open = (): GatewayDoor =>
    new GatewayDoor(
      { ...shared, hostname: config.bind, port: config.ports.gateway, pubsubPort: config.ports.pubsub },
      {
        ...gateway,
        apps: [{ prefix: "/api/v1/console", fetch: consoleApp }, ...administration, { prefix: "/", fetch: showPage }],
        sockets: [pubsub],
        pubsub,
        health: healthSource(config, parts, clock.monotonic()),
      },
    );
  return listening("gateway", config.ports.gateway, open);
}

/**
 * What GET /health tells balancers: down as soon as the server is to end, degraded while no node of the network is well, or
 * the engine says that it is.
 */
function healthSource(
  config: Config,
  { gateway, clock, engine, drain }: GatewayParts,
  startedAtMs: number,
): () => HealthRecord {
  return () => {
    const nodes = gateway.upstreams.pool(config.networkDefault)?.health() ?? [];
    const nodesWell = nodes.some((node) => node.healthy) ? "ok" : "degraded";
    const { role, status } = engine?.status() ?? { status: "ok" };
    const parts = { nodes: nodesWell, ...(engine === null ? {} : { engine: role ?? status }) } as const;
    const isWell = nodesWell === "ok" && status !== "degraded";
    return {
      status: drain.hasBegun ? "down" : isWell ? "ok" : "degraded",
      version,
      uptimeSeconds: Math.floor((clock.monotonic() - startedAtMs) / 1_000),
      parts,
    };
  };
}

/** The operator's own door: metrics, and whether the process lives. */
export function metricsApp(metrics: Metrics): (request: Request) => Promise<Response> {
  return async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/metrics") {
      return new Response(await metrics.render(), { headers: { "Content-Type": metrics.contentType } });
    }
    if (pathname === "/health") return Response.json({ status: "ok", version });
    return new Response("not found\n", { status: 404 });
  };
}
