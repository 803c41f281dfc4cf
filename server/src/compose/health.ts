import type { HealthRecord, ServerStatus } from "@sluice/contract/schemas";
import { type Network, networks } from "@sluice/contract/tiers";
import { type Clock, sleep } from "@sluice/lib";
import type { Config } from "../config/index.ts";
import type { EngineService } from "../engine/index.ts";
import type { Metrics, ServerEvents } from "../observe/index.ts";
import type { UpstreamHealth } from "../upstreams/index.ts";
import { version } from "./dependencies.ts";
import { endpointsOf } from "./endpoints.ts";

interface DrainDependencies {
  readonly clock: Pick<Clock, "after">;
  readonly events: Pick<ServerEvents, "serverStopping" | "serverStopped">;
}

/** What the state of the gateway is read from. */
interface HealthOfGateway {
  readonly upstreams: { pool(network: Network): { health(): readonly UpstreamHealth[] } | null };
  readonly credits: { readonly isFailing: boolean; readonly isAdvancing: boolean };
}

/**
 * The end of a server. First only /ready reports it: calls are served as before until load balancers that read /ready
 * send no more. Then the listeners close, each with a deadline for calls in flight, and after them what they serve.
 */
export class Drain {
  readonly #delayMs: number;
  readonly #dependencies: DrainDependencies;
  #hasBegun = false;

  constructor(options: { readonly delayMs: number }, dependencies: DrainDependencies) {
    this.#delayMs = options.delayMs;
    this.#dependencies = dependencies;
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  async end(resources: AsyncDisposable): Promise<void> {
    const { clock, events } = this.#dependencies;
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      events.serverStopping("asked to end");
      if (this.#delayMs > 0) await sleep(clock, this.#delayMs);
    }
    await resources[Symbol.asyncDispose]();
    events.serverStopped();
  }
}

/**
 * The record of GET /health and GET /ready: `down` once the end has begun and while every call would be refused, since
 * no node of the default network may be called or can be reached, or since credits cannot be had; `degraded` while no
 * node is healthy or the engine is degraded.
 */
export function healthSource(
  config: Pick<Config, "networkDefault" | "roles">,
  dependencies: {
    readonly clock: Pick<Clock, "monotonic">;
    readonly gateway: HealthOfGateway;
    readonly engine: Pick<EngineService, "status"> | null;
    readonly drain: Drain;
  },
): () => HealthRecord {
  const { clock, gateway, engine, drain } = dependencies;
  const startedAtMs = clock.monotonic();
  return () => {
    const { role, status } = engine?.status() ?? { status: "ok" };
    const parts = {
      server: drain.hasBegun ? "down" : "ok",
      nodes: nodesStatus(gateway.upstreams.pool(config.networkDefault)?.health() ?? []),
      credits: creditsStatus(gateway.credits),
      ...(engine === null ? {} : { engine: role ?? status }),
    } as const;
    const takesCalls = config.roles.includes("gateway");
    const isDown = parts.server === "down" || (takesCalls && (parts.nodes === "down" || parts.credits === "down"));
    const isOk = parts.nodes === "ok" && parts.credits === "ok" && status !== "degraded";
    return {
      status: isDown ? "down" : isOk ? "ok" : "degraded",
      version,
      uptimeSeconds: Math.floor((clock.monotonic() - startedAtMs) / 1_000),
      parts,
    };
  };
}

/** While accounts are served from advances not every call is refused. */
function creditsStatus({ isFailing, isAdvancing }: HealthOfGateway["credits"]): "ok" | "degraded" | "down" {
  if (!isFailing) return "ok";
  return isAdvancing ? "degraded" : "down";
}

function nodesStatus(nodes: readonly UpstreamHealth[]): "ok" | "degraded" | "down" {
  if (nodes.some(({ healthy }) => healthy)) return "ok";
  return nodes.some(({ mayServe, speaks }) => mayServe && speaks) ? "degraded" : "down";
}

/** What `sluice status` shows: the process, its health, its endpoints and how many of each network's nodes serve. */
export function serverStatus(config: Config, dependencies: Parameters<typeof healthSource>[1]): () => ServerStatus {
  const health = healthSource(config, dependencies);
  const { gateway } = dependencies;
  return () => {
    const { status, version: running, uptimeSeconds, parts } = health();
    return {
      status,
      version: running,
      mode: config.mode,
      pid: process.pid,
      uptime_seconds: uptimeSeconds,
      roles: [...config.roles],
      parts,
      endpoints: endpointsOf(config).map(({ name, url }) => ({ name, url })),
      nodes: networks.flatMap((network) => {
        const nodes = gateway.upstreams.pool(network)?.health() ?? [];
        const serving = nodes.filter(({ healthy }) => healthy).length;
        return nodes.length === 0 ? [] : [{ network, serving, of: nodes.length }];
      }),
    };
  };
}

const loopbackName = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * The operator's endpoint: metrics, and whether the process lives. On loopback it answers for loopback names alone: a
 * page of another origin whose name was pointed at this machine would read the metrics in the operator's browser.
 */
export function metricsApp(metrics: Metrics, host: string): (request: Request) => Promise<Response> {
  const isOnLoopback = loopbackName.test(host) || host === "::1";
  return async (request) => {
    const { hostname, pathname } = new URL(request.url);
    if (isOnLoopback && !loopbackName.test(hostname)) {
      return new Response("this port answers for localhost alone; set METRICS_BIND for other hosts\n", { status: 421 });
    }
    if (pathname === "/metrics") {
      return new Response(await metrics.render(), { headers: { "Content-Type": metrics.contentType } });
    }
    if (pathname === "/health") return Response.json({ status: "ok", version });
    return new Response("not found\n", { status: 404 });
  };
}
