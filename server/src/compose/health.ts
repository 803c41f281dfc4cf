import type { HealthRecord } from "@sluice/contract/schemas";
import { type Clock, sleep } from "@sluice/lib";
import type { Config } from "../config/index.ts";
import type { EngineService } from "../engine/index.ts";
import type { Metrics, ServerEvents } from "../observe/index.ts";
import { version } from "./dependencies.ts";
import type { Gateway } from "./gateway.ts";

/**
 * The end of a server. First only /health reports it: calls are served as before until load balancers that read /health
 * send no more. Then the listeners close, each with a deadline for calls in flight, and after them what they serve.
 */
export class Drain {
  readonly #delayMs: number;
  readonly #dependencies: { readonly clock: Clock; readonly events: ServerEvents };
  #hasBegun = false;

  constructor(
    options: { readonly delayMs: number },
    dependencies: { readonly clock: Clock; readonly events: ServerEvents },
  ) {
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
 * The answer of GET /health: `down` once the end has begun, `degraded` while no node of the default network is healthy
 * or the engine is degraded.
 */
export function healthSource(
  config: Config,
  dependencies: {
    readonly clock: Clock;
    readonly gateway: Gateway;
    readonly engine: EngineService | null;
    readonly drain: Drain;
  },
): () => HealthRecord {
  const { clock, gateway, engine, drain } = dependencies;
  const startedAtMs = clock.monotonic();
  return () => {
    const nodes = gateway.upstreams.pool(config.networkDefault)?.health() ?? [];
    const nodesStatus = nodes.some((node) => node.healthy) ? "ok" : "degraded";
    const { role, status } = engine?.status() ?? { status: "ok" };
    const isOk = nodesStatus === "ok" && status !== "degraded";
    return {
      status: drain.hasBegun ? "down" : isOk ? "ok" : "degraded",
      version,
      uptimeSeconds: Math.floor((clock.monotonic() - startedAtMs) / 1_000),
      parts: { nodes: nodesStatus, ...(engine === null ? {} : { engine: role ?? status }) },
    };
  };
}

/** The operator's endpoint: metrics, and whether the process lives. */
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
