import type { Slot } from "@sluice/wire/identifiers";
import type { Auctioneer } from "./index.ts";
import type { RpcFallback } from "./rpc-fallback.ts";

export interface AuctionSchedulerDependencies {
  readonly auctioneer: Pick<Auctioneer, "tick">;
  readonly fallback: Pick<RpcFallback, "send">;
  /** Whether any leader takes bundles at all. */
  readonly hasLeaders: () => boolean;
  readonly slot: () => Slot | null;
  readonly isHalted: () => boolean;
  readonly internalError: (where: string, error: unknown) => void;
}

/** The engine's beat: an auction every so often, or, where no leader takes bundles, the ordinary way of single ones. */
export class AuctionScheduler implements AsyncDisposable {
  readonly #dependencies: AuctionSchedulerDependencies;
  readonly #timer: ReturnType<typeof setInterval>;
  #sentSlot: Slot | null = null;
  #underWay: Promise<unknown> | null = null;

  constructor(tickMs: number, dependencies: AuctionSchedulerDependencies) {
    this.#dependencies = dependencies;
    this.#timer = setInterval(() => this.#tick(), tickMs);
  }

  #tick(): void {
    if (this.#underWay !== null || this.#dependencies.isHalted()) return;
    this.#underWay = this.#work()
      .catch((error: unknown) => this.#dependencies.internalError("tick", error))
      .finally(() => {
        this.#underWay = null;
      });
  }

  async #work(): Promise<void> {
    const { auctioneer, fallback, hasLeaders, slot } = this.#dependencies;
    if (hasLeaders()) return await auctioneer.tick();
    const now = slot();
    if (now === null || now === this.#sentSlot) return;
    this.#sentSlot = now;
    await fallback.send(now);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#underWay;
  }
}
