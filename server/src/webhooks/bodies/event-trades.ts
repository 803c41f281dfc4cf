import type { Network } from "@sluice/contract/tiers";
import type { ConfirmedBlock } from "@sluice/encode";
import type { TransactionEvent } from "../../events/index.ts";
import { askedMints, type TradeConditions, type TradeVerdict, tradeVerdict } from "../model/trade-conditions.ts";
import type { EventPrices } from "./event-prices.ts";
import type { NftCollections } from "./nft-collections.ts";

interface AskedTrades {
  readonly network: Network;
  readonly block: Pick<ConfirmedBlock, "slot" | "blockTime">;
  readonly conditions: TradeConditions;
}

/** Decides of a transaction what the block alone does not tell: collections of NFTs, and what trades were worth. */
export class EventTrades {
  readonly #collections: Pick<NftCollections, "of">;
  readonly #prices: Pick<EventPrices, "at">;

  constructor(dependencies: {
    readonly collections: Pick<NftCollections, "of">;
    readonly prices: Pick<EventPrices, "at">;
  }) {
    this.#collections = dependencies.collections;
    this.#prices = dependencies.prices;
  }

  /** Null while it cannot be known. */
  async decide({ view, parsed }: TransactionEvent, { network, block, conditions }: AskedTrades): Promise<TradeVerdict> {
    if (!view.succeeded) return false;
    const { slot, blockTime } = block;
    const asked = askedMints(conditions, parsed);
    const found = await Promise.all(
      asked.map(async (mint) => [mint, await this.#collections.of({ network, mint, slot })] as const),
    );
    const collections = new Map(found);
    const prices = conditions.defi?.leastUsd == null ? null : await this.#prices.at(network, blockTime);
    return tradeVerdict(conditions, parsed, { collectionOf: (mint) => collections.get(mint), prices });
  }
}
