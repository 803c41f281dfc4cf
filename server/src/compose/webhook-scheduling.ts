import type { Config } from "../config/index.ts";
import { BlockReader } from "../events/index.ts";
import { LedgerBlocks } from "../history/index.ts";
import type { ChainLogs } from "../log/index.ts";
import {
  AccountReads,
  AccountStates,
  BlockMemory,
  createSchedulingEvents,
  EventBlocks,
  EventBodies,
  WebhookBodies,
  WebhookSchedulers,
} from "../webhooks/index.ts";
import type { Dependencies } from "./dependencies.ts";
import { opensIngest } from "./endpoints.ts";
import type { Pools } from "./ingest.ts";
import type { Stores } from "./stores.ts";

/** What makes deliveries of the chains, and the data of their events. */
export interface WebhookScheduling {
  readonly bodies: WebhookBodies;
}

/**
 * Has one process of several make the deliveries of each network's webhooks: the one with the lease, of those that have
 * the log open. Null where this process does not have the role.
 */
export async function openWebhookScheduling(
  config: Config,
  {
    stores,
    chainLogs,
    upstreams,
    ...dependencies
  }: Dependencies & { readonly stores: Stores; readonly chainLogs: ChainLogs; readonly upstreams: Pools },
): Promise<WebhookScheduling | null> {
  if (!opensIngest(config)) return null;
  const { clock, random, events, resources } = dependencies;
  const { state, ledger } = stores;
  const past = new LedgerBlocks({ chain: ledger.chainReads });
  const [reader, memory] = [new BlockReader(), new BlockMemory()];
  const poolOf: ConstructorParameters<typeof AccountReads>[0]["poolOf"] = (network) => upstreams.pool(network);
  const states = new AccountStates(new AccountReads({ clock, poolOf }));
  const blocks = new EventBlocks({ logOf: (network) => chainLogs.current(network), past, reader, memory });
  const schedulers = resources.use(
    new WebhookSchedulers(
      { shards: config.webhooks.shards, leaseMs: config.stores.leaseMs },
      {
        ...dependencies,
        events: createSchedulingEvents(dependencies),
        internalError: events.internalError,
        chainLogs,
        past,
        reader,
        memory,
        leases: state.leases,
        schedule: state.webhookSchedule,
        webhooks: state.webhooks,
        // Who delivers finds them in the store.
        listener: { committed: () => undefined },
        observe: (network, accounts, encoding) => {
          const slot = upstreams.pool(network)?.slotOf("confirmed") ?? 0n;
          void states.observe(accounts, { network, slot, encoding });
        },
        random,
      },
    ),
  );
  await schedulers.begin();
  return { bodies: new WebhookBodies(new EventBodies({ blocks, states })) };
}
