import { counter, gauge, type Observe } from "../observe/index.ts";

export const limitMetrics = {
  replicas: gauge("sluice_replicas", "Processes that share limits through Redis, by their last known heartbeats"),
  sharingUp: gauge("sluice_sharing_up", "1 while limits are shared through Redis, 0 while each process has a share"),
  sharingLost: counter("sluice_sharing_lost_total", "Times that the limits shared through Redis became unreachable"),
} as const;

export interface ReplicasEvents {
  /** The shared store cannot be reached: from now on this process decides by its own share of each limit. */
  sharingLost(replicas: number): void;
  sharingRestored(replicas: number): void;
  /** Reported on every heartbeat that succeeds; logged when the number changes. */
  replicasCounted(replicas: number): void;
}

export function createLimitsEvents({ log, metrics }: Observe): ReplicasEvents {
  const families = metrics.register(limitMetrics);
  let known = 0;
  return {
    sharingLost: (replicas) => {
      families.sharingLost.with().add();
      families.sharingUp.with().set(0);
      log.warn({ replicas }, "limits are not shared: this process serves its own share of each");
    },
    sharingRestored: (replicas) => log.info({ replicas }, "limits are shared again"),
    replicasCounted: (replicas) => {
      families.replicas.with().set(replicas);
      families.sharingUp.with().set(1);
      if (replicas !== known) log.info({ replicas }, "the number of processes that share limits has changed");
      known = replicas;
    },
  };
}
