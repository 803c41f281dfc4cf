import type { Network } from "@sluice/contract/tiers";
import type { Clock } from "@sluice/lib";
import { createLeaseEvents, LeaseHolder, leaseTimesOf, Succession } from "../leases/index.ts";
import type { Observe } from "../observe/index.ts";
import { PoolSampler, type SamplerDependencies } from "../pool/index.ts";
import type { LeaseStore } from "../state/index.ts";

const job = "pool-sampler";
/** A pool is updated some time after an epoch has begun; a minute is little beside ten. */
const looksEveryMs = 60_000;

export interface PoolSamplingOptions {
  readonly network: Network;
  /** How long a lease holds that nobody renews. */
  readonly leaseMs: number;
}

export interface PoolSamplingDependencies extends Observe {
  readonly clock: Clock;
  readonly processId: string;
  readonly leases: LeaseStore;
  readonly sampler: SamplerDependencies;
  readonly internalError: (where: string, error: unknown) => void;
}

/** Has one process of several sample the pool: the one with the lease. The others stand by until it ends. */
export async function openPoolSampling(
  { network, leaseMs }: PoolSamplingOptions,
  dependencies: PoolSamplingDependencies,
): Promise<AsyncDisposable> {
  const { clock, log, processId, leases, internalError } = dependencies;
  const lease = new LeaseHolder(
    { network, job, leaseMs },
    {
      store: leases,
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
      open: async () => new PoolSampler({ everyMs: looksEveryMs }, dependencies.sampler),
      roleChanged: () => undefined,
      internalError,
    },
  );
  await succession.begin();
  return succession;
}
