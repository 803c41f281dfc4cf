import type { CommitmentName } from "@sluice/contract/rpc";
import { type Network, networks } from "@sluice/contract/tiers";
import type { Clock, Timer } from "@sluice/lib";
import type { UpstreamEvents } from "./events.ts";
import type { Upstreams } from "./upstreams.ts";

type Listener = (network: Network, commitment: CommitmentName, slot: bigint) => void;

/** Passes each slot notice of the nodes to all subscribers. */
export class SlotNotices {
  readonly #listeners = new Set<Listener>();

  notify(network: Network, commitment: CommitmentName, slot: bigint): void {
    for (const listener of this.#listeners) listener(network, commitment, slot);
  }

  subscribe(listener: Listener): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }
}

const healthEveryMs = 2_000;

/** Reports each node's health and what is believed every two seconds, until the timer is cancelled. */
export function reportHealth(
  upstreams: Pick<Upstreams, "pool">,
  {
    clock,
    events,
  }: {
    readonly clock: Pick<Clock, "every">;
    readonly events: Pick<UpstreamEvents, "upstreamObserved" | "beliefObserved">;
  },
): Timer {
  return clock.every(healthEveryMs, () => {
    for (const network of networks) {
      const pool = upstreams.pool(network);
      if (pool === null) continue;
      const slots = {
        processed: pool.slotOf("processed"),
        confirmed: pool.slotOf("confirmed"),
        finalized: pool.slotOf("finalized"),
      };
      events.beliefObserved({ network, slots, isDisputed: pool.isDisputed });
      for (const { label, out, slot, slotLag } of pool.health()) {
        const health = out === null ? "healthy" : slot === null ? "down" : "cordoned";
        const lag = slotLag === null ? null : Number(slotLag);
        events.upstreamObserved({ network, upstream: label, health, slotLag: lag, reason: out });
      }
    }
  });
}
