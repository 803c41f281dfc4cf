import { type Clock, SingleFlight, type Timer } from "@sluice/lib";
import type { Slot } from "@sluice/wire/identifiers";
import type { Auctioneer } from "./auctioneer.ts";
import type { RpcFallback } from "./rpc-fallback.ts";

export interface AuctionSchedulerDependencies {
  readonly clock: Pick<Clock, "every">;
  readonly auctioneer: Pick<Auctioneer, "tick">;
  readonly fallback: Pick<RpcFallback, "send">;
  /** Whether any leader that takes bundles is connected. */
  readonly hasLeaders: () => boolean;
  readonly slot: () => Slot | null;
  readonly isHalted: () => boolean;
  readonly internalError: (where: string, error: unknown) => void;
}

/**
 * Runs an auction every `tickMs`, or the RPC fallback once a slot while no leader takes bundles. A tick that is due
 * while one runs is left out.
 */
export class AuctionScheduler implements AsyncDisposable {
  readonly #dependencies: AuctionSchedulerDependencies;
  readonly #timer: Timer;
  readonly #tick: SingleFlight<void>;
  #sentSlot: Slot | null = null;

  constructor({ tickMs }: { readonly tickMs: number }, dependencies: AuctionSchedulerDependencies) {
    this.#dependencies = dependencies;
    this.#tick = new SingleFlight(() => this.#work());
    this.#timer = dependencies.clock.every(
      tickMs,
      () => {
        if (this.#tick.running === null && !dependencies.isHalted()) void this.#tick.run();
      },
      { keepsAlive: true },
    );
  }

  async #work(): Promise<void> {
    const { auctioneer, fallback, hasLeaders, slot, internalError } = this.#dependencies;
    try {
      if (hasLeaders()) return await auctioneer.tick();
      const now = slot();
      if (now === null || now === this.#sentSlot) return;
      this.#sentSlot = now;
      await fallback.send(now);
    } catch (error) {
      internalError("tick", error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#timer.cancel();
    await this.#tick.running;
  }
}
