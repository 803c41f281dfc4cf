import type { LeafChange, LeafMetadata } from "@sluice/parser";
import {
  type AssetDescription,
  type AssetHolding,
  type AssetRow,
  type BlockCall,
  type IndexedAsset,
  readingPlace,
  type TreeNodeRow,
} from "../../ledger/index.ts";
import type { Asset } from "../assets/asset.ts";
import { masterEditionOf } from "../assets/editions.ts";
import { assetText } from "./asset-text.ts";

/** Rows of the index: from readings of accounts, and from changes of leaves. */

/** When an asset was read, and what made it be read. */
export interface ReadingPlace {
  /** As far as the node was. */
  readonly slot: bigint;
  readonly isFinal: boolean;
  /** The slot in which the asset was changed; 0 where nobody knows. */
  readonly changedSlot: bigint;
}

const nobody: AssetHolding = { owner: "", delegate: "", frozen: false, burnt: true, tokenAccount: "", supply: 0n };

/**
 * The row of a reading. An asset that has gone is burnt; what it was stands as it did.
 *
 * @param known - what the index has of it
 */
export function readingRow(
  id: string,
  asset: Asset | null,
  { slot, isFinal, changedSlot, known }: ReadingPlace & { readonly known: IndexedAsset | undefined },
): AssetRow {
  const head = { asset: id, place: readingPlace(slot, isFinal), changedSlot, signature: "", operation: "read" };
  if (asset === null || isRemainder(asset, known)) {
    return { ...head, holding: nobody, leaf: null, description: null, edition: null };
  }
  const { owner, delegate, isFrozen, tokenAccount } = asset.ownership;
  return {
    ...head,
    holding: {
      ...{ owner: owner ?? "", delegate: delegate ?? "", frozen: isFrozen, burnt: asset.isBurnt },
      ...{ tokenAccount: tokenAccount ?? "", supply: asset.token?.supply ?? 1n },
    },
    leaf: null,
    description: descriptionOf(asset),
    edition: editionOf(asset),
  };
}

function editionOf(asset: Asset): AssetRow["edition"] {
  const account = masterEditionOf(asset);
  return account === null || asset.edition === null ? null : { kind: asset.edition.kind, account };
}

/** Of an NFT that is burnt its mint may remain, without a unit and without what described it. */
function isRemainder({ source, token }: Asset, known: IndexedAsset | undefined): boolean {
  const before = known?.description?.interface;
  const wasNft = before !== undefined && before !== "FungibleToken" && before !== "FungibleAsset";
  return wasNft && source === "none" && token?.supply === 0n;
}

function descriptionOf(asset: Asset): AssetDescription {
  const { creators, collection, name, uri: jsonUri, updateAuthority } = asset;
  return {
    ...{ interface: asset.interface, name, jsonUri, authority: updateAuthority ?? "" },
    ...{ collection: collection?.address ?? "", collectionVerified: collection?.isVerified ?? false },
    creators: creators.map(({ address }) => address),
    creatorsVerified: creators.filter(({ isVerified }) => isVerified).map(({ address }) => address),
    royalty: asset.royalty.basisPoints,
    body: assetText(asset),
  };
}

/** The last of the flags of a leaf of the second version are about transfers; these two freeze it. */
const frozenFlags = 3;

/** The row of a change of a leaf. */
export function leafRow(
  { slot, blockhash, transactionIndex, signature, position }: BlockCall,
  of: LeafChange,
): AssetRow {
  const { leaf, change, metadata, operation } = of;
  const owner = leaf?.owner ?? "";
  return {
    asset: of.asset,
    place: { slot, transactionIndex, position, blockhash },
    changedSlot: slot,
    ...{ signature, operation },
    holding: {
      owner,
      delegate: leaf === null || leaf.delegate === owner ? "" : leaf.delegate,
      frozen: ((leaf?.second?.flags ?? 0) & frozenFlags) !== 0,
      burnt: operation === "burn" || operation === "burnV2",
      tokenAccount: "",
      supply: leaf === null ? 0n : 1n,
    },
    leaf: {
      tree: change.tree,
      leafIndex: BigInt(change.leafIndex),
      sequence: change.sequence,
      dataHash: leaf?.dataHash ?? "",
      creatorHash: leaf?.creatorHash ?? "",
      leafHash: leaf?.leafHash ?? "",
    },
    description: metadata === null ? null : leafDescription(metadata),
    edition: null,
  };
}

function leafDescription(metadata: LeafMetadata): AssetDescription {
  const { name, uri: jsonUri, collection, creators, sellerFeeBasisPoints: royalty } = metadata;
  return {
    ...{ interface: "V1_NFT", name, jsonUri, authority: "", royalty },
    ...{ collection: collection?.key ?? "", collectionVerified: collection?.verified ?? false },
    creators: creators.map(({ address }) => address),
    creatorsVerified: creators.filter(({ verified }) => verified).map(({ address }) => address),
    body: JSON.stringify(metadata, (_name, value: unknown) => (typeof value === "bigint" ? value.toString() : value)),
  };
}

/** The nodes that a change wrote. */
export function nodeRows(
  { slot, blockhash, transactionIndex, position }: BlockCall,
  { change }: LeafChange,
): TreeNodeRow[] {
  const place = { slot, transactionIndex, position, blockhash };
  const { tree, sequence } = change;
  return change.nodes.map(({ index: node, hash }) => ({ tree, node, sequence, place, hash }));
}
