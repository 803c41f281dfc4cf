import type { Config } from "../config/index.ts";
import type { ProbeSource } from "../http/index.ts";
import { listening, PlainListener } from "../net/index.ts";
import type { Dependencies } from "./dependencies.ts";
import { metricsApp } from "./health.ts";

/**
 * Opens the port of metrics and of the process's health, which every process has.
 * @throws {ListenError} when its address is in use
 */
export async function openMetricsListener(
  config: Pick<Config, "metrics">,
  { resources, ...dependencies }: Dependencies & { readonly health: ProbeSource },
): Promise<PlainListener> {
  const { host, port } = config.metrics;
  const fetch = metricsApp(host, dependencies);
  const open = () => new PlainListener({ hostname: host, port }, { ...dependencies, fetch });
  return resources.use(await listening("metrics", port, open));
}
