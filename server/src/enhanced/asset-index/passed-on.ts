import type { IndexedAsset } from "../../ledger/index.ts";
import type { Asset } from "../assets/asset.ts";
import { assetOfIndex } from "./indexed-asset.ts";

/**
 * Of assets that were read, the collections of MPL Core of which the index has another state of what their assets take
 * from them, or none. A collection's account stands in every call for one of its assets, and rarely changes.
 *
 * @param known - what the index has of the assets
 */
export function changedCollections(
  read: ReadonlyMap<string, Asset | null>,
  known: ReadonlyMap<string, IndexedAsset>,
): readonly string[] {
  const changed: string[] = [];
  for (const [id, asset] of read) {
    if (asset === null || asset.passedOn === null) continue;
    const indexed = known.get(id);
    const before = indexed === undefined ? null : (assetOfIndex(indexed)?.passedOn ?? null);
    if (before !== asset.passedOn) changed.push(id);
  }
  return changed;
}
