import type { Network } from "@sluice/contract/tiers";
import { type LedgerAssetReads, LedgerUnavailableError } from "../../ledger/index.ts";
import type { Asset } from "../assets/asset.ts";
import type { CompressedAssets } from "../assets/asset-reader.ts";
import { assetOfIndex } from "./indexed-asset.ts";

/** Compressed assets by their ids, which have no account of their own. */
export class IndexedLeaves implements CompressedAssets {
  readonly #reads: Pick<LedgerAssetReads, "byIds">;

  constructor(reads: Pick<LedgerAssetReads, "byIds">) {
    this.#reads = reads;
  }

  async find(network: Network, ids: readonly string[]): Promise<ReadonlyMap<string, Asset>> {
    try {
      const found = new Map<string, Asset>();
      for (const [id, indexed] of await this.#reads.byIds(network, ids)) {
        const asset = indexed.leaf === null ? null : assetOfIndex(indexed);
        if (asset !== null) found.set(id, asset);
      }
      return found;
    } catch (error) {
      // What the ledger does not tell now is as what it does not have: readings of accounts go on without it.
      if (error instanceof LedgerUnavailableError) return new Map();
      throw error;
    }
  }
}
