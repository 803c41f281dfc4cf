import { stakePoolPrograms } from "@sluice/wire/accounts/stake-pool";
import { tipPrograms } from "@sluice/wire/accounts/tips";
import type { Config } from "../config/index.ts";
import { createEngineEvents, upstreamChain } from "../engine/index.ts";
import { createPoolEvents, createPoolHttp, type PoolHttp, PoolService } from "../pool/index.ts";
import type { Dependencies } from "./dependencies.ts";
import { opensEngine } from "./endpoints.ts";
import type { Gateway } from "./gateway.ts";
import { openPoolSampling } from "./pool-sampling.ts";
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
  const { address, program, tipProgram } = config.stakePool;
  const network = config.networkDefault;
  const chain = upstreamChain(network, gateway.upstreams, gateway.slots);
  const programs = program === null ? stakePoolPrograms : [program];
  const identity = address === null ? null : { address, programs, tipProgram: tipProgram ?? tipPrograms.distribution };
  const events = createPoolEvents(dependencies);
  const pool = new PoolService(
    { network, identity },
    {
      clock,
      chain,
      bundles: stores.ledger.bundles,
      samples: stores.ledger.poolSamples,
      held: stores.ledger.chainReads,
      movements: { ...stores.ledger.chainReads, tokens: stores.ledger.tokenReads },
      events,
    },
  );
  dependencies.resources.use(pool.begin());
  if (address !== null) {
    const sampling = await openPoolSampling(
      { network, leaseMs: config.stores.leaseMs },
      {
        ...dependencies,
        leases: stores.state.leases,
        internalError: dependencies.events.internalError,
        sampler: {
          ...{ clock, events, ledger: stores.ledger },
          hasNode: () => chain.newestSlot("processed") !== null,
          read: () => pool.readAnew(),
          sampled: () => pool.sampled(),
        },
      },
    );
    dependencies.resources.use(sampling);
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
