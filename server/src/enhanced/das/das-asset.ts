import type { JsonObject, JsonValue } from "@sluice/encode";
import type { Asset } from "../assets/asset.ts";
import type { MasterMints } from "../assets/editions.ts";

/** Assets in the form of the Digital Asset Standard. Source: the types of helius-sdk 3.2. */

const schema = "https://schema.metaplex.com/nft1.0.json";
/** Basis points of the whole. */
const whole = 10_000;

/** What is told of an asset beside what it is. */
export interface DasOptions {
  /** Whether a collection that nobody has verified is told as well. */
  readonly showUnverifiedCollections: boolean;
  /** Name, symbol and such of the collection; null where it is not asked for or not known. */
  readonly collectionMetadata: JsonObject | null;
  /** Of the masters of prints. */
  readonly masters: MasterMints;
}

export const plainOptions: DasOptions = {
  showUnverifiedCollections: false,
  collectionMetadata: null,
  masters: new Map(),
};

/** One asset as methods of DAS answer it; whole numbers are exact. */
export function dasAsset(asset: Asset, options: DasOptions = plainOptions): JsonObject {
  const { updateAuthority, creators, uses } = asset;
  return {
    interface: asset.interface,
    id: asset.id,
    content: contentOf(asset),
    authorities: updateAuthority === null ? [] : [{ address: updateAuthority, scopes: ["full"] }],
    compression: compressionOf(asset),
    grouping: groupingOf(asset, options),
    royalty: royaltyOf(asset),
    creators: creators.map(({ address, share, isVerified }) => ({ address, share, verified: isVerified })),
    ownership: ownershipOf(asset),
    ...(uses === null ? {} : { uses: { use_method: uses.method, remaining: uses.remaining, total: uses.total } }),
    supply: supplyOf(asset, options),
    mutable: asset.isMutable,
    burnt: asset.isBurnt,
    ...tokenInfoOf(asset),
  };
}

function contentOf({ uri, name, symbol, tokenStandard, attributes }: Asset): JsonObject {
  const told = attributes.map(({ key, value }) => ({ trait_type: key, value }));
  return {
    $schema: schema,
    json_uri: uri,
    files: [],
    metadata: {
      ...(told.length === 0 ? {} : { attributes: told }),
      name,
      symbol,
      ...(tokenStandard === null ? {} : { token_standard: tokenStandard }),
    },
    links: {},
  };
}

function compressionOf({ compression }: Asset): JsonObject {
  if (compression === null) {
    const none = { data_hash: "", creator_hash: "", asset_hash: "", tree: "", seq: 0, leaf_id: 0 };
    return { eligible: false, compressed: false, ...none };
  }
  const { dataHash, creatorHash, assetHash, tree, sequence, leafIndex } = compression;
  return {
    eligible: false,
    compressed: true,
    ...{ data_hash: dataHash, creator_hash: creatorHash, asset_hash: assetHash, tree },
    ...{ seq: sequence, leaf_id: leafIndex },
  };
}

function groupingOf(
  { collection }: Asset,
  { showUnverifiedCollections, collectionMetadata }: DasOptions,
): JsonObject[] {
  if (collection === null || (!collection.isVerified && !showUnverifiedCollections)) return [];
  return [
    {
      group_key: "collection",
      group_value: collection.address,
      ...(showUnverifiedCollections ? { verified: collection.isVerified } : {}),
      ...(collectionMetadata === null ? {} : { collection_metadata: collectionMetadata }),
    },
  ];
}

function royaltyOf({ royalty: { basisPoints, primarySaleHappened } }: Asset): JsonObject {
  return {
    royalty_model: "creators",
    target: null,
    percent: basisPoints / whole,
    basis_points: basisPoints,
    primary_sale_happened: primarySaleHappened,
    locked: false,
  };
}

function ownershipOf({ ownership: { isFrozen, delegate, model, owner } }: Asset): JsonObject {
  return {
    frozen: isFrozen,
    delegated: delegate !== null,
    delegate,
    ownership_model: model,
    owner: owner ?? "",
  };
}

function supplyOf({ edition, editionNonce }: Asset, { masters }: DasOptions): JsonObject | null {
  if (edition === null) return null;
  const nonce = editionNonce === null ? {} : { edition_nonce: editionNonce };
  if (edition.kind === "print") {
    const mint = masters.get(edition.parent ?? "");
    return { edition_number: edition.number, ...(mint === undefined ? {} : { master_edition_mint: mint }), ...nonce };
  }
  return { print_max_supply: edition.maxSupply, print_current_supply: edition.supply, ...nonce };
}

function tokenInfoOf({ token, symbol }: Asset): { readonly token_info?: JsonValue } {
  if (token === null) return {};
  return {
    token_info: {
      ...(symbol === "" ? {} : { symbol }),
      supply: token.supply,
      decimals: token.decimals,
      token_program: token.program,
      ...(token.mintAuthority === null ? {} : { mint_authority: token.mintAuthority }),
      ...(token.freezeAuthority === null ? {} : { freeze_authority: token.freezeAuthority }),
    },
  };
}
