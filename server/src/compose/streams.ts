import type { IdlPrograms } from "@sluice/parser";
import type { Config } from "../config/index.ts";
import { LedgerBlocks } from "../history/index.ts";
import type { RevocationFeed } from "../keys/index.ts";
import type { ChainLogs } from "../log/index.ts";
import {
  AbsentStreams,
  type ConnectionPlaces,
  createStreamsEvents,
  Flows,
  MessagePacer,
  StreamEndpoint,
  type StreamMount,
} from "../streams/index.ts";
import type { Dependencies } from "./dependencies.ts";
import { opensStreams } from "./endpoints.ts";
import type { Stores } from "./stores.ts";

/** The flow of blocks of every network with nodes; null where this process does not have the role. */
export async function openFlows(
  config: Config,
  {
    chainLogs,
    stores,
    resources,
    programs,
    ...dependencies
  }: Dependencies & { readonly programs: IdlPrograms; readonly chainLogs: ChainLogs; readonly stores: Stores },
): Promise<Flows | null> {
  if (!opensStreams(config)) return null;
  const past = new LedgerBlocks({ chain: stores.ledger.chainReads });
  const flows = resources.use(new Flows({ events: createStreamsEvents(dependencies), past, programs }));
  await flows.follow(chainLogs);
  return flows;
}

type StreamEndpointParts = ConstructorParameters<typeof StreamEndpoint>[1];

interface StreamParts extends Dependencies {
  readonly gateway: Pick<StreamEndpointParts, "access" | "slots" | "requestId" | "served">;
  readonly flows: Flows | null;
  readonly revocations: Pick<RevocationFeed, "subscribe">;
  /** Shared with PubSub. */
  readonly places: ConnectionPlaces;
}

/** `/ws`; without the role it says so to whoever connects. */
export function mountStreams(
  config: Config,
  { gateway, flows, revocations, resources, events, ...dependencies }: StreamParts,
): StreamMount {
  if (flows === null) return new AbsentStreams(gateway);
  const { access, slots, requestId, served } = gateway;
  const endpoint = resources.use(
    new StreamEndpoint(
      { networkDefault: config.networkDefault },
      {
        ...dependencies,
        access,
        slots,
        requestId,
        served,
        flows,
        events: flows.events,
        refused: (code) => events.requestRefused("ws", code),
        pacer: new MessagePacer({ clock: dependencies.clock, access }),
      },
    ),
  );
  revocations.subscribe(() => endpoint.recheck());
  return endpoint;
}
