import type { Config } from "../config/index.ts";
import type { ChainLogs } from "../log/index.ts";
import { createStreamsEvents, Flows } from "../streams/index.ts";
import type { Dependencies } from "./dependencies.ts";
import { opensStreams } from "./endpoints.ts";

/** The flow of blocks of every network with nodes; null where this process does not have the role. */
export async function openFlows(
  config: Config,
  { chainLogs, resources, ...dependencies }: Dependencies & { readonly chainLogs: ChainLogs },
): Promise<Flows | null> {
  if (!opensStreams(config)) return null;
  const flows = resources.use(new Flows({ events: createStreamsEvents(dependencies) }));
  await flows.follow(chainLogs);
  return flows;
}
