import type { Network } from "@sluice/contract/tiers";
import type { IdlPrograms } from "@sluice/parser";
import type { Config } from "../config/index.ts";
import { BlockReader } from "../events/index.ts";
import { LedgerBlocks } from "../history/index.ts";
import type { ChainLogs } from "../log/index.ts";
import { PricesAsOf, symbolsOfMints } from "../oracle/index.ts";
import {
  AccountReads,
  AccountStates,
  BlockMemory,
  createDeliveryEvents,
  createSchedulingEvents,
  type DeliveryControl,
  DeliveryService,
  EventBlocks,
  EventBodies,
  EventPrices,
  EventTrades,
  NftCollections,
  WebhookBodies,
  WebhookSchedulers,
  WebhookSecrets,
} from "../webhooks/index.ts";
import type { Dependencies } from "./dependencies.ts";
import { opensGateway, opensWebhooks } from "./endpoints.ts";
import type { Gateway } from "./gateway.ts";
import { vaultOf } from "./secrets.ts";
import type { Stores } from "./stores.ts";
import { WebhookCharges } from "./webhook-charges.ts";

interface WebhookDependencies extends Dependencies {
  readonly programs: IdlPrograms;
  readonly stores: Stores;
  readonly gateway: Gateway;
  readonly chainLogs: ChainLogs;
}

/** The deliveries of webhooks: made and sent where this process has the role, and always within reach of owners. */
export interface DeliveryParts {
  readonly control: DeliveryControl;
  readonly secrets: WebhookSecrets;
  /** Whether the log of each network is open; null where this process delivers nothing. */
  readonly isOpen: readonly boolean[] | null;
  /** Webhooks were created or changed by this process. */
  changed(): void;
}

/** Null where this process neither delivers nor serves owners. */
export async function openWebhookDelivery(
  config: Config,
  dependencies: WebhookDependencies,
): Promise<DeliveryParts | null> {
  const delivers = opensWebhooks(config);
  if (!delivers && !opensGateway(config)) return null;
  const { clock, random, log, stores, gateway, chainLogs, resources, processId } = dependencies;
  const { state, ledger } = stores;
  const chain = chainParts(config, dependencies);
  const secrets = new WebhookSecrets({ random, vault: vaultOf(config, random) });
  const followed = (): readonly Network[] => chainLogs.networks;
  const service = resources.use(
    new DeliveryService(
      {
        worker: delivers ? { worker: processId, networks: followed, leaseMs: config.stores.leaseMs } : null,
        receivers: { allowHttp: config.webhooks.allowHttp, allowedRanges: config.webhooks.allowPrivateCidrs },
      },
      {
        clock,
        random,
        log,
        store: state.webhookDeliveries,
        webhooks: state.webhooks,
        bodies: chain.bodies,
        charges: new WebhookCharges({ clock, accounts: state.accounts, credits: gateway.credits }),
        secrets,
        ledger,
        events: createDeliveryEvents(dependencies),
      },
    ),
  );
  if (delivers) {
    await openSchedulers(config, { ...dependencies, chain, service });
    await service.start();
  }
  return {
    control: service.control,
    secrets,
    get isOpen() {
      return delivers ? followed().map((network) => chainLogs.current(network) !== null) : null;
    },
    changed: () => service.changed(),
  };
}

/** What reads the blocks that events are of. */
function chainParts(
  config: Config,
  { clock, programs, stores, gateway: { upstreams }, chainLogs }: WebhookDependencies,
) {
  const past = new LedgerBlocks({ chain: stores.ledger.chainReads });
  const [reader, memory] = [new BlockReader(programs), new BlockMemory()];
  const poolOf: ConstructorParameters<typeof AccountReads>[0]["poolOf"] = (network) => upstreams.pool(network);
  const reads = new AccountReads({ clock, poolOf });
  const states = new AccountStates(reads);
  const prices = new EventPrices({
    prices: new PricesAsOf({ clock, ledger: stores.ledger }),
    symbolsOf: (network) =>
      symbolsOfMints({
        genesisHash: upstreams.pool(network)?.chain?.genesis ?? null,
        pools: network === config.networkDefault ? config.oracle.pools : [],
      }),
  });
  const trades = new EventTrades({ collections: new NftCollections(reads), prices });
  const blocks = new EventBlocks({ logOf: (network) => chainLogs.current(network), past, reader, memory });
  const bodies = new WebhookBodies(new EventBodies({ blocks, states, trades }));
  return { past, reader, memory, states, prices, bodies };
}

/**
 * Has one process of several make the deliveries of each network's webhooks: the one with the lease, of those that have
 * the log open.
 */
async function openSchedulers(
  config: Config,
  {
    stores: { state },
    gateway: { upstreams },
    chain: { past, reader, memory, states, prices },
    service,
    ...dependencies
  }: WebhookDependencies & { readonly chain: ReturnType<typeof chainParts>; readonly service: DeliveryService },
): Promise<void> {
  const { clock, events, resources } = dependencies;
  const schedulers = resources.use(
    new WebhookSchedulers(
      { shards: config.webhooks.shards, leaseMs: config.stores.leaseMs },
      {
        ...dependencies,
        events: createSchedulingEvents(dependencies),
        internalError: events.internalError,
        past,
        reader,
        memory,
        prices,
        leases: state.leases,
        schedule: state.webhookSchedule,
        webhooks: state.webhooks,
        listener: {
          committed: ({ deliveries }) => {
            const createdAt = clock.now();
            service.appended(deliveries.map((delivery) => ({ ...delivery, ...neverTried, createdAt })));
          },
        },
        observe: (network, accounts, encoding) => {
          const slot = upstreams.pool(network)?.slotOf("confirmed") ?? 0n;
          void states.observe(accounts, { network, slot, encoding });
        },
      },
    ),
  );
  await schedulers.begin();
}

/** What a delivery is like that was just made. */
const neverTried = {
  attempts: 0,
  dueAt: 0,
  lastAttemptAt: null,
  lastStatusCode: null,
  lastError: null,
  detail: null,
} as const;
