import { systemClock, systemRandom } from "@sluice/lib";
import { type Config, version } from "../config/index.ts";
import { createRequestIds } from "../http/index.ts";
import { createNames, createNamesEvents, httpNode, type Names, pooledNodes } from "../names/index.ts";
import { PlainListener } from "../net/index.ts";
import {
  createLog,
  createMetrics,
  createServerEvents,
  processDescriptors,
  watchDescriptors,
} from "../observe/index.ts";
import { createUpstreamEvents, createUpstreams, type Upstreams } from "../upstreams/index.ts";
import { type Dependencies, newProcessId } from "./dependencies.ts";
import { addressesOf, endpointsOf, opensResolver, resolvesFromPool } from "./endpoints.ts";
import { Drain, Health } from "./health.ts";
import { openMetricsListener } from "./metrics-listener.ts";
import { upstreamsOptions } from "./nodes.ts";
import { Certificates, openPort, trustedHeadersOf } from "./tls.ts";

/** What a name query may still take when the server ends. */
const drainMs = 1_000;

/**
 * Opens the resolver's endpoint; it needs a node and no store. Its paths are those of its document alone: whether it is
 * ready is asked at the metrics port. Null where this process does not have the role.
 */
export async function openResolver(
  config: Config,
  dependencies: Dependencies & { readonly upstreams: Pick<Upstreams, "pool"> },
): Promise<Names | null> {
  if (!opensResolver(config)) return null;
  const { clock, random, events, resources, upstreams } = dependencies;
  const { host, port, chainRpcUrl: rpcUrl, commitment, nameProgram, handleProgram } = config.resolver;
  const node =
    rpcUrl === null
      ? pooledNodes({ network: config.networkDefault, commitment }, { upstreams, clock })
      : httpNode({ rpcUrl }, { post: fetch });
  const names = createNames(
    { commitment, nameProgram, handleProgram },
    { clock, random, node, events: createNamesEvents(dependencies) },
  );
  const requestId = createRequestIds({ random });
  const listener = await openPort(
    { endpoint: "resolver", hostname: host, port, tls: config.tls.resolver },
    dependencies,
    ({ hostname, port }) => new PlainListener({ hostname, port }, { clock, fetch: names.fetch, requestId, events }),
  );
  resources.defer(() => listener.stop(drainMs));
  return names;
}

/** Looks for the programs of names, once nodes are followed. The first query tries again when none answers now. */
export function startResolver(names: Names | null, { events }: Pick<Dependencies, "events">): void {
  names?.start().catch((error: unknown) => events.internalError("names", error));
}

/** The resolver by itself: its endpoint and the one of metrics, and no store. */
export async function composeResolver(config: Config): Promise<AsyncDisposable> {
  const log = createLog({ level: config.logLevel });
  const clock = systemClock;
  const startedAt = clock.monotonic();
  await using opening = new AsyncDisposableStack();
  const metrics = opening.use(createMetrics({}, { clock }));
  const events = createServerEvents({ log, metrics });
  const descriptorWatch = watchDescriptors(processDescriptors(), { clock, events });
  if (descriptorWatch !== null) opening.use(descriptorWatch);
  const random = systemRandom;
  const upstreams = opening.use(
    createUpstreams(upstreamsOptions(config), {
      clock,
      random,
      onSlot: () => undefined,
      events: createUpstreamEvents({ log, metrics }),
    }),
  );
  if (resolvesFromPool(config)) upstreams.start();
  const drain = new Drain(config.drain, { clock, events });
  const health = opening.use(new Health(config, { clock, drain, events }));
  const shared = {
    clock,
    random,
    log,
    metrics,
    events,
    certificates: new Certificates({ clock, log, metrics, resources: opening }),
    proxies: trustedHeadersOf(config, { metrics }),
    processId: newProcessId(random),
    resources: opening,
    upstreams,
  };
  const names = await openResolver(config, shared);
  await openMetricsListener(config, { ...shared, health: async () => health });
  startResolver(names, { events });
  health.observe({ names });
  health.start();
  const resources = opening.move();
  events.serverStarted({
    version,
    mode: config.mode,
    startMs: Math.round(clock.monotonic() - startedAt),
    endpoints: addressesOf(endpointsOf(config)),
  });
  return { [Symbol.asyncDispose]: () => drain.end(resources) };
}
