import type { AddressSet, Clock, Random } from "@sluice/lib";
import type { Access } from "../../access/index.ts";
import type { RateLimiter } from "../../limits/index.ts";
import type { CallHost, GrpcService } from "../calls/index.ts";
import type { EngineEvents } from "../model/events.ts";
import type { BlockEngineService } from "../model/service.ts";
import { createSearcherServices, type LinkedKeys } from "../searchers/index.ts";
import { createSignIn, tokenKeysOf } from "../sign-in/index.ts";
import type { ValidatorRegistry } from "../validators/index.ts";

export interface ServicesDependencies {
  readonly clock: Clock;
  readonly random: Random;
  /** Access to the engine's network. */
  readonly access: Access;
  readonly limits: RateLimiter;
  readonly trustedProxies: AddressSet;
  readonly requestId: () => string;
  readonly desk: BlockEngineService;
  readonly validatorDesk: ValidatorRegistry;
  readonly region: string;
  readonly linked: LinkedKeys;
  readonly events: EngineEvents;
}

export interface Services {
  readonly services: readonly GrpcService[];
  recheck(): Promise<void>;
}

/** Every service of the gRPC doors. `seed` is that of the key that tokens are signed with. */
export function openServices(seed: Uint8Array, dependencies: ServicesDependencies): Services {
  const { clock, random, access, limits, trustedProxies, requestId, desk, validatorDesk, events } = dependencies;
  const host: CallHost = { requestId, trustedProxies, events };
  const { mayValidate } = validatorDesk;
  const { service, bearers } = createSignIn(tokenKeysOf(seed), { clock, random, limits, host, mayValidate });
  const searchers = createSearcherServices({
    clock,
    host,
    desk,
    access,
    limits,
    bearers,
    linked: dependencies.linked,
    region: dependencies.region,
  });
  return {
    services: [...searchers.services, service, ...validatorDesk.services(host, bearers)],
    recheck: () => searchers.recheck(),
  };
}
