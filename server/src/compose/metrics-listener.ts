import type { Config } from "../config/index.ts";
import { createRequestIds, type ProbeSource, probeResponse, targetOf } from "../http/index.ts";
import { listening, PlainListener } from "../net/index.ts";
import type { Metrics } from "../observe/index.ts";
import type { Dependencies } from "./dependencies.ts";

interface MetricsParts extends Pick<Dependencies, "resources" | "clock" | "events" | "random"> {
  readonly metrics: Pick<Metrics, "render" | "contentType">;
  readonly health: () => Promise<ProbeSource>;
}

/**
 * Opens the port of metrics and of the process's health, which every process has.
 * @throws {ListenError} when its address is in use
 */
export async function openMetricsListener(
  config: Pick<Config, "metrics">,
  { resources, ...dependencies }: MetricsParts,
): Promise<PlainListener> {
  const { host, port } = config.metrics;
  const fetch = metricsApp(host, dependencies);
  const requestId = createRequestIds(dependencies);
  const open = () => new PlainListener({ hostname: host, port }, { ...dependencies, fetch, requestId });
  return resources.use(await listening("metrics", port, open));
}

const loopbackName = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * The operator's endpoint: metrics, and whether the process lives. On loopback it answers for loopback names alone: a
 * page of another origin whose name was pointed at this machine would read the metrics in the operator's browser.
 */
export function metricsApp(
  host: string,
  { metrics, health }: Pick<MetricsParts, "metrics" | "health">,
): (request: Request, bindings: { readonly requestId: string }) => Promise<Response> {
  const isOnLoopback = loopbackName.test(host) || host === "::1";
  return async (request, { requestId }) => {
    const { hostname, pathname } = new URL(request.url);
    if (isOnLoopback && !loopbackName.test(hostname)) {
      return new Response("this port answers for localhost alone; set METRICS_BIND for other hosts\n", { status: 421 });
    }
    if (pathname === "/metrics") {
      return new Response(await metrics.render(), { headers: { "Content-Type": metrics.contentType } });
    }
    if (pathname !== "/health" && pathname !== "/ready") return new Response("not found\n", { status: 404 });
    const asked = { method: request.method, target: targetOf(request.url) };
    const probed = probeResponse(asked, { source: await health(), role: null }, requestId);
    return probed ?? new Response("not found\n", { status: 404 });
  };
}
