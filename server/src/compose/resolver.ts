import type { Config } from "../config/index.ts";
import { createNames, createNamesEvents, type Names } from "../names/index.ts";
import { AppListener, listening } from "../net/index.ts";
import type { Dependencies } from "./dependencies.ts";

/**
 * Opens the resolver's door and begins to look for its programs; it needs a node and no store. Null where this process
 * has not the role, or no node to ask.
 */
export function openResolver(config: Config, dependencies: Dependencies): Names | null {
  const { clock, random, events, resources } = dependencies;
  const { host, port, chainRpcUrl: rpcUrl, commitment, nameProgram, handleProgram } = config.resolver;
  if (rpcUrl === null || !config.roles.includes("resolver")) return null;
  const names = createNames(
    { rpcUrl, commitment, nameProgram, handleProgram },
    {
      clock,
      random,
      post: fetch,
      events: createNamesEvents(dependencies),
    },
  );
  const listen = (): AppListener =>
    new AppListener({ hostname: host, port }, { fetch: (request) => names.fetch(request), events });
  resources.use(listening("resolver", port, listen));
  // A chain that cannot be reached now is asked again with the first name.
  names.start().catch((fault: unknown) => events.internalError("names", fault));
  return names;
}
