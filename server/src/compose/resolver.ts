import { systemClock, systemRandom } from "@sluice/lib";
import type { Config } from "../config/index.ts";
import { createNames, createNamesEvents, type Names } from "../names/index.ts";
import { listening, PlainListener } from "../net/index.ts";
import { createLog, createMetrics, createServerEvents } from "../observe/index.ts";
import { type Dependencies, version } from "./dependencies.ts";
import { addressesOf, resolverEndpoint } from "./endpoints.ts";

/**
 * Opens the resolver's endpoint and starts to look for its programs; it needs a node and no store. Null where this
 * process does not have the role, or has no node.
 */
export function openResolver(config: Config, dependencies: Dependencies): Names | null {
  const { clock, random, events, resources } = dependencies;
  const { host, port, chainRpcUrl: rpcUrl, commitment, nameProgram, handleProgram } = config.resolver;
  if (rpcUrl === null || !config.roles.includes("resolver")) return null;
  const names = createNames(
    { rpcUrl, commitment, nameProgram, handleProgram },
    { clock, random, post: fetch, events: createNamesEvents(dependencies) },
  );
  const listen = (): PlainListener =>
    new PlainListener({ hostname: host, port }, { clock, fetch: (request) => names.fetch(request), events });
  resources.use(listening("resolver", port, listen));
  // The first name query tries again when the chain cannot be reached now.
  names.start().catch((error: unknown) => events.internalError("names", error));
  return names;
}

/** The resolver by itself: one endpoint, one node, no store. */
export async function composeResolver(
  config: Config & { readonly resolver: { readonly chainRpcUrl: string } },
): Promise<AsyncDisposable> {
  const log = createLog({ level: config.logLevel });
  const clock = systemClock;
  const startedAt = clock.monotonic();
  await using opening = new AsyncDisposableStack();
  const metrics = opening.use(createMetrics({}, { clock }));
  const events = createServerEvents({ log, metrics });
  openResolver(config, { clock, random: systemRandom, log, metrics, events, resources: opening });
  const resources = opening.move();
  events.serverStarted({
    version,
    mode: config.mode,
    startMs: Math.round(clock.monotonic() - startedAt),
    endpoints: addressesOf([resolverEndpoint(config)]),
  });
  return {
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
