import type { AuctionLoss } from "@sluice/auction";
import type { Slot } from "@sluice/wire/identifiers";
import type { LostBid } from "../model/service.ts";

/**
 * Who lost the slot that ticks fill. A tick's loser may win the next tick of the same slot, so a loss is one when the slot
 * is over.
 */
export class Losses {
  readonly #bids = new Map<string, LostBid>();

  lost(slot: Slot, losers: readonly AuctionLoss[]): void {
    for (const { bundle, lost, auctionId } of losers) {
      this.#bids.set(bundle.id, { id: bundle.id, slot, lost, auctionId, bid: bundle.tip });
    }
  }

  /** These are in the block after all. */
  taken(ids: readonly string[]): void {
    for (const id of ids) this.#bids.delete(id);
  }

  /** The slot is over: who has lost it. */
  over(): readonly LostBid[] {
    const bids = [...this.#bids.values()];
    this.#bids.clear();
    return bids;
  }
}
