import { stakePoolPrograms } from "@sluice/wire/accounts/stake-pool";
import type { Config } from "../config/index.ts";
import type { EngineChain } from "../engine/index.ts";
import { createPoolEvents, createPoolHttp, type PoolHttp, PoolService } from "../pool/index.ts";
import type { Dependencies } from "./dependencies.ts";
import type { Gateway } from "./gateway.ts";
import type { Stores } from "./stores.ts";

interface PoolParts extends Dependencies {
  readonly stores: Stores;
  readonly gateway: Gateway;
  readonly chain: EngineChain;
  readonly answered: (route: string, status: number) => void;
}

/** Opens the figures of the stake pool, which any process with the engine's REST port answers by itself. */
export function openPool(config: Config, { stores, gateway, ...dependencies }: PoolParts): PoolHttp {
  const { clock, log } = dependencies;
  const { address, program } = config.stakePool;
  const network = config.networkDefault;
  const programs = program === null ? stakePoolPrograms : [program];
  const pool = new PoolService(
    { network, identity: address === null ? null : { address, programs } },
    { ...dependencies, bundles: stores.ledger.bundles, events: createPoolEvents(dependencies) },
  );
  void pool.begin();
  const { access, trustedProxies, requestId, served } = gateway;
  const { answered } = dependencies;
  return createPoolHttp({
    pool,
    access,
    trustedProxies,
    requestId,
    log,
    answered,
    records: { network, clock, served },
  });
}
