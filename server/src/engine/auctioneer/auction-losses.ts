import type { BundlePool } from "../model/bundle.ts";
import type { LossReports, LostBid } from "../model/service.ts";

/**
 * The slots that live bundles have lost. The first loss of a bundle is told to its searcher, as soon as the slot is over:
 * who pays too little hears of it in time to pay more. Later ones are told no more, since a bundle may lose every slot of its
 * life; the last one is remembered until it ends, so that its end can say what it lost by.
 */
export class AuctionLosses implements LossReports, Disposable {
  readonly #pool: Pick<BundlePool, "live">;
  readonly #last = new Map<string, LostBid>();
  readonly #followers = new Map<string, Set<(bid: LostBid) => void>>();
  readonly #following: Disposable;

  constructor({ pool }: { readonly pool: Pick<BundlePool, "live" | "onChange"> }) {
    this.#pool = pool;
    this.#following = pool.onChange(({ id, state }) => {
      // Others that hear of this end as well may still ask what the bundle lost by.
      if (state !== "accepted" && this.#last.has(id)) queueMicrotask(() => this.#last.delete(id));
    });
  }

  note(bids: readonly LostBid[]): void {
    for (const bid of bids) {
      const record = this.#pool.live(bid.id);
      if (record?.state !== "accepted") continue;
      const isFirst = !this.#last.has(bid.id);
      this.#last.set(bid.id, bid);
      if (isFirst) for (const listener of this.#followers.get(record.searcherId) ?? []) listener(bid);
    }
  }

  of(id: string): LostBid | null {
    return this.#last.get(id) ?? null;
  }

  follow(searcherId: string, listener: (bid: LostBid) => void): Disposable {
    const listeners = this.#followers.get(searcherId) ?? new Set();
    this.#followers.set(searcherId, listeners.add(listener));
    return {
      [Symbol.dispose]: () => {
        listeners.delete(listener);
        if (listeners.size === 0 && this.#followers.get(searcherId) === listeners) this.#followers.delete(searcherId);
      },
    };
  }

  [Symbol.dispose](): void {
    this.#following[Symbol.dispose]();
    this.#followers.clear();
    this.#last.clear();
  }
}
