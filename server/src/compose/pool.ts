import { stakePoolPrograms } from "@sluice/wire/accounts/stake-pool";
import type { Config } from "../config/index.ts";
import { createEngineEvents, upstreamChain } from "../engine/index.ts";
import { createLeaseEvents, LeaseHolder, leaseTimesOf, Succession } from "../leases/index.ts";
import { createPoolEvents, createPoolHttp, type PoolHttp, PoolSampler, PoolService } from "../pool/index.ts";
import type { Dependencies } from "./dependencies.ts";
import { opensEngine } from "./endpoints.ts";
import type { Gateway } from "./gateway.ts";
import type { Stores } from "./stores.ts";

interface PoolParts extends Dependencies {
  readonly stores: Stores;
  readonly gateway: Gateway;
}

/** The stake pool of this process: its figures, and the part of the engine's port that answers with them. */
export interface OpenedPool {
  readonly service: PoolService;
  readonly http: PoolHttp;
}

const job = "pool-sampler";
/** A pool is updated some time after an epoch has begun; a minute is little beside ten. */
const looksEveryMs = 60_000;

/**
 * Opens the figures of the stake pool, which any process with the engine's REST port answers by itself; one of them
 * writes samples into the ledger.
 */
export async function openPool(
  config: Config,
  { stores, gateway, ...dependencies }: PoolParts,
): Promise<OpenedPool | null> {
  if (!opensEngine(config) || config.engine.builder === null) return null;
  const { clock, log } = dependencies;
  const { address, program } = config.stakePool;
  const network = config.networkDefault;
  const chain = upstreamChain(network, gateway.upstreams, gateway.slots);
  const programs = program === null ? stakePoolPrograms : [program];
  const events = createPoolEvents(dependencies);
  const pool = new PoolService(
    { network, identity: address === null ? null : { address, programs } },
    {
      clock,
      chain,
      bundles: stores.ledger.bundles,
      samples: stores.ledger.poolSamples,
      movements: { transactions: stores.ledger.chainReads.transactions, tokens: stores.ledger.tokenReads },
      events,
    },
  );
  void pool.begin();
  if (address !== null) {
    await openSampling(config, { ...dependencies, stores }, () => {
      return new PoolSampler(
        { everyMs: looksEveryMs },
        { read: () => pool.read(), sampled: () => pool.sampled(), ledger: stores.ledger, clock, events },
      );
    });
  }
  const { access, trustedProxies, requestId, served } = gateway;
  const { answered } = createEngineEvents(dependencies);
  const http = createPoolHttp({
    pool,
    access,
    trustedProxies,
    requestId,
    log,
    answered,
    records: { network, clock, served },
  });
  return { service: pool, http };
}

/** Has one process of several sample the pool: the one with the lease. */
async function openSampling(
  config: Config,
  dependencies: Dependencies & { readonly stores: Stores },
  open: () => PoolSampler,
): Promise<void> {
  const { clock, log, processId, stores, resources, events } = dependencies;
  const { leaseMs } = config.stores;
  const network = config.networkDefault;
  const lease = new LeaseHolder(
    { network, job, leaseMs },
    {
      store: stores.state.leases,
      clock,
      holder: processId,
      retryableError: (what, error) => log.warn({ what, error }, "an operation failed and is tried again"),
      events: createLeaseEvents(dependencies, { network, job, nowMs: () => clock.monotonic() }),
    },
  );
  const succession = new Succession<PoolSampler>(
    { ...leaseTimesOf(leaseMs), what: "sampling the stake pool", retryRenewals: 0 },
    {
      clock,
      lease,
      open: async () => open(),
      roleChanged: () => undefined,
      internalError: events.internalError,
    },
  );
  resources.use(succession);
  await succession.begin();
}
