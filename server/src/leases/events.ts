import type { Network } from "@sluice/contract/tiers";
import { counter, gauge, type Observe } from "../observe/index.ts";
import type { LeaseJob } from "./job.ts";

const labels = ["network", "job"] as const;

export const leaseMetrics = {
  held: gauge("sluice_lease_held", "1 where this process holds the lease of a job, 0 where it stands by", labels),
  epoch: gauge("sluice_lease_epoch", "The epoch of a lease, which rises with each holder", labels),
  beatAge: gauge("sluice_lease_beat_age_seconds", "Time since a beat of the holder was last seen or made here", labels),
  takeovers: counter(
    "sluice_lease_takeovers_total",
    "Times that this process took a lease over from a holder that did not give it up",
    labels,
  ),
} as const;

/** Of one lease. */
export interface LeaseEvents {
  /** This process holds it, or no longer does. */
  held(isHeld: boolean): void;
  /** The lease as it was last seen, and its beat when. Monotonic milliseconds. */
  beatSeen(epoch: bigint, atMs: number): void;
  /** Taken from a holder that had stopped beating. */
  takenOver(epoch: bigint): void;
}

/** Registers the metrics of leases and gives the functions that feed those of one. */
export function createLeaseEvents(
  { log, metrics }: Observe,
  { network, job, nowMs }: { readonly network: Network; readonly job: LeaseJob; readonly nowMs: () => number },
): LeaseEvents {
  const { held, epoch, beatAge, takeovers } = metrics.register(leaseMetrics);
  return {
    held: (isHeld) => held.with(network, job).set(isHeld ? 1 : 0),
    beatSeen: (seenEpoch, atMs) => {
      epoch.with(network, job).set(Number(seenEpoch));
      beatAge.with(network, job).set(Math.max(0, nowMs() - atMs) / 1_000);
    },
    takenOver: (newEpoch) => {
      takeovers.with(network, job).add();
      log.warn({ network, job, epoch: String(newEpoch) }, "a lease was taken over from a holder that went silent");
    },
  };
}
