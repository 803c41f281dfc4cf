import type { AuctionLoss } from "@sluice/auction";
import { KeyedEmitter, type Random } from "@sluice/lib";
import type { Slot } from "@sluice/wire/identifiers";
import type { BundlePool } from "../model/bundle.ts";
import type { LossReports, LostBid } from "../model/service.ts";

export interface AuctionLossesDependencies {
  readonly pool: Pick<BundlePool, "live" | "onChange">;
  readonly random: Pick<Random, "bytes">;
  readonly internalError: (where: string, error: unknown) => void;
}

/**
 * The slots that live bundles have lost. A tick's loser may win the next tick of the same slot, so a loss is final when
 * the slot is over. The first loss of a bundle is reported to its searcher then, in time for a higher bid; later ones
 * are not reported, since a bundle may lose every slot of its life. The last one is kept until the bundle ends, so that
 * the report of its end can name it.
 */
export class AuctionLosses implements LossReports, Disposable {
  readonly #pool: AuctionLossesDependencies["pool"];
  /** Losses of the slot that ticks fill. */
  readonly #open = new Map<string, LostBid>();
  readonly #last = new Map<string, LostBid>();
  readonly #reports: KeyedEmitter<string, [LostBid]>;
  readonly #following: Disposable;
  readonly #secret: Uint8Array;

  constructor({ pool, random, internalError }: AuctionLossesDependencies) {
    this.#pool = pool;
    this.#secret = random.bytes(32);
    this.#reports = new KeyedEmitter((error) => internalError("a listener of lost bids", error));
    this.#following = pool.onChange(({ id, state }) => {
      // Other listeners of this end may still ask for the bundle's last loss.
      if (state !== "accepted" && this.#last.has(id)) queueMicrotask(() => this.#last.delete(id));
    });
  }

  /** Bundles that lost the latest tick of a slot. `tick` is another number for each tick of this process. */
  lost({ slot, tick }: { readonly slot: Slot; readonly tick: number }, losers: readonly AuctionLoss[]): void {
    if (losers.length === 0) return;
    const auctionId = this.#auctionId(slot, tick);
    for (const { bundle, lost } of losers) {
      this.#open.set(bundle.id, { id: bundle.id, slot, lost, auctionId, bid: bundle.tip });
    }
  }

  /** The same for all that lost one tick, and by the secret no name that a rival's bundle is found by. */
  #auctionId(slot: Slot, tick: number): string {
    return new Bun.CryptoHasher("sha256").update(`${tick} ${slot} `).update(this.#secret).digest("hex");
  }

  /** These bundles are in the block after all. */
  taken(ids: readonly string[]): void {
    for (const id of ids) this.#open.delete(id);
  }

  /** The slot is over, and its losses are final. */
  slotOver(): void {
    const bids = [...this.#open.values()];
    this.#open.clear();
    this.report(bids);
  }

  /** Reports the first loss of each bundle that is still accepted, and keeps its last one. */
  report(bids: readonly LostBid[]): void {
    for (const bid of bids) {
      const record = this.#pool.live(bid.id);
      if (record?.state !== "accepted") continue;
      const isFirst = !this.#last.has(bid.id);
      this.#last.set(bid.id, bid);
      if (!isFirst) continue;
      for (const searcherId of [record.searcherId, ...record.followers]) this.#reports.emit(searcherId, bid);
    }
  }

  of(id: string): LostBid | null {
    return this.#last.get(id) ?? null;
  }

  follow(searcherId: string, listener: (bid: LostBid) => void): Disposable {
    return this.#reports.add(searcherId, listener);
  }

  [Symbol.dispose](): void {
    this.#following[Symbol.dispose]();
    this.#reports.clear();
    this.#last.clear();
  }
}
