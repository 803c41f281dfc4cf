import type { ErrorCode } from "@sluice/contract/errors";
import type { NftMetadataRecord } from "@sluice/contract/schemas";
import { type Asset, type AssetEdition, isNft } from "../assets/asset.ts";
import type { AssetReader } from "../assets/asset-reader.ts";
import type { EnhancedEvents } from "../events.ts";
import type { Asking } from "../node-calls.ts";
import { type DocumentSource, documentWaitMs } from "../off-chain/documents.ts";
import { isSettled, offChainRecord } from "../off-chain/record.ts";
import type { TextCache } from "../text-cache.ts";

export interface NftsDependencies {
  readonly assets: Pick<AssetReader, "read">;
  readonly documents: DocumentSource;
  readonly cache: TextCache;
  /** Names the chain that a network is now; null while it is not known. */
  readonly chainOf: (network: Asking["network"]) => string | null;
  readonly events: EnhancedEvents;
}

export type NftAnswer =
  | { readonly ok: true; readonly text: string; readonly kept: boolean }
  /** `message` is null where the code says it all. */
  | { readonly ok: false; readonly code: ErrorCode; readonly message: string | null };

/** NFTs as their accounts say. */
export class Nfts {
  readonly #dependencies: NftsDependencies;

  constructor(dependencies: NftsDependencies) {
    this.#dependencies = dependencies;
  }

  async read(asking: Asking, id: string): Promise<NftAnswer> {
    const { assets, documents, cache, chainOf, events } = this.#dependencies;
    const chain = chainOf(asking.network);
    const key = `${asking.network} ${chain} ${id}`;
    const kept = chain === null ? null : cache.get(key);
    if (kept !== null) {
      events.answered("nft", "kept");
      return { ok: true, text: kept, kept: true };
    }
    const read = await assets.read(asking, [id]);
    if (!read.ok) {
      events.readFailed(read.code);
      return { ...read, message: null };
    }
    const asset = read.assets.get(id);
    if (asset === undefined || !isNft(asset)) {
      events.readFailed("NFT_NOT_FOUND");
      return { ok: false, code: "NFT_NOT_FOUND", message: asset === undefined ? null : otherAssets(asset) };
    }
    events.answered("nft", "chain");
    const document = await documents.read(asset.uri, documentWaitMs, asking.keyId);
    const text = JSON.stringify({
      ...recordOf(asset),
      off_chain: offChainRecord(document),
    } satisfies NftMetadataRecord);
    if (chain !== null && isSettled(document)) cache.keep(key, text);
    return { ok: true, text, kept: false };
  }
}

/** What an asset is that is no NFT. */
function otherAssets({ id, interface: kind }: Asset): string {
  return kind === "MplCoreCollection"
    ? `${id} is a collection of MPL Core and no NFT`
    : `${id} is a token of many units and no NFT`;
}

function recordOf(asset: Asset): Omit<NftMetadataRecord, "off_chain"> {
  const { id, name, symbol, uri, creators, collection, royalty, ownership, compression, edition } = asset;
  return {
    mint: id,
    interface: asset.interface,
    metadata_source: asset.source,
    name,
    symbol,
    uri,
    token_standard: asset.tokenStandard,
    update_authority: asset.updateAuthority,
    is_mutable: asset.isMutable,
    is_burnt: asset.isBurnt,
    collection: collection === null ? null : { address: collection.address, verified: collection.isVerified },
    creators: creators.map(({ address, isVerified, share }) => ({ address, verified: isVerified, share })),
    royalty: {
      basis_points: royalty.basisPoints,
      percent: royalty.basisPoints / 10_000,
      primary_sale_happened: royalty.primarySaleHappened,
    },
    edition: edition === null ? null : editionOf(edition),
    compression:
      compression === null
        ? null
        : {
            tree: compression.tree,
            leaf_index: compression.leafIndex,
            sequence: `${compression.sequence}`,
            data_hash: compression.dataHash,
            creator_hash: compression.creatorHash,
            asset_hash: compression.assetHash,
          },
    ownership: {
      owner: ownership.owner,
      delegate: ownership.delegate,
      is_frozen: ownership.isFrozen,
      token_account: ownership.tokenAccount,
    },
    attributes: [...asset.attributes],
    plugins: [...asset.plugins],
    token_program: asset.token?.program ?? null,
  };
}

function editionOf(edition: AssetEdition): NonNullable<NftMetadataRecord["edition"]> {
  const text = (value: bigint | null): string | null => (value === null ? null : `${value}`);
  return edition.kind === "master"
    ? { kind: "master", supply: text(edition.supply), max_supply: text(edition.maxSupply), number: null, parent: null }
    : { kind: "print", supply: null, max_supply: null, number: `${edition.number}`, parent: edition.parent };
}
