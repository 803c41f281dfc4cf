import type { LeafMetadata } from "@sluice/parser";
import type { IndexedAsset } from "../../ledger/index.ts";
import { type Asset, assetWithout } from "../assets/asset.ts";
import { assetOfText } from "./asset-text.ts";

/** An asset of the index in the model of all assets; null where nothing says what it is. */
export function assetOfIndex({ asset: id, holding, leaf, description }: IndexedAsset): Asset | null {
  const ownership = {
    model: "single",
    owner: holding.owner === "" ? null : holding.owner,
    delegate: holding.delegate === "" ? null : holding.delegate,
    isFrozen: holding.frozen,
    tokenAccount: holding.tokenAccount === "" ? null : holding.tokenAccount,
  } as const;
  if (leaf === null) {
    if (description === null) return null;
    const told = assetOfText(description.body);
    const model = told.ownership.model;
    return { ...told, ownership: { ...ownership, model }, isBurnt: holding.burnt };
  }
  const { tree, sequence, dataHash, creatorHash, leafHash: assetHash } = leaf;
  return {
    ...assetWithout,
    ...(description === null ? { isMutable: false } : describedLeaf(description.body)),
    ...{ id, ownership, isBurnt: holding.burnt, interface: "V1_NFT", source: "bubblegum" },
    compression: { tree, leafIndex: Number(leaf.leafIndex), sequence, dataHash, creatorHash, assetHash },
  };
}

/** Metadata as `leafRow` wrote them: whole numbers of uses are texts. */
type WrittenMetadata = Omit<LeafMetadata, "uses"> & {
  readonly uses: { readonly method: number; readonly remaining: string; readonly total: string } | null;
};

const useMethods = ["Burn", "Multiple", "Single"] as const;

function describedLeaf(body: string) {
  const metadata: WrittenMetadata = JSON.parse(body);
  const { name, symbol, uri, tokenStandard, collection, creators, editionNonce, isMutable, uses } = metadata;
  return {
    ...{ name, symbol, uri, tokenStandard, editionNonce, isMutable },
    creators: creators.map(({ address, verified, share }) => ({ address, share, isVerified: verified })),
    collection: collection === null ? null : { address: collection.key, isVerified: collection.verified },
    royalty: {
      basisPoints: metadata.sellerFeeBasisPoints,
      primarySaleHappened: metadata.primarySaleHappened,
    },
    uses:
      uses === null
        ? null
        : {
            method: useMethods[uses.method] ?? "Single",
            remaining: BigInt(uses.remaining),
            total: BigInt(uses.total),
          },
  };
}
