import type { MetaplexUses, TokenStandard } from "@sluice/wire/accounts/metaplex";

/**
 * One digital asset, whatever program keeps it: what the answers of DAS methods, `GET /nft` and the index of assets are
 * made from. Amounts are in smallest units.
 */

/** What an asset is, by the names of DAS. */
export type AssetInterface =
  | "V1_NFT"
  | "V1_PRINT"
  | "ProgrammableNFT"
  | "FungibleAsset"
  | "FungibleToken"
  | "MplCoreAsset"
  | "MplCoreCollection"
  | "Custom";

/** Where an asset's facts are kept. `none` is a mint that nothing describes. */
export type AssetSource = "token_metadata" | "token_2022" | "mpl_core" | "bubblegum" | "none";

export interface AssetCreator {
  readonly address: string;
  readonly isVerified: boolean;
  /** Per cent of the royalties. */
  readonly share: number;
}

export interface AssetCollection {
  readonly address: string;
  readonly isVerified: boolean;
}

export interface AssetRoyalty {
  readonly basisPoints: number;
  readonly primarySaleHappened: boolean;
}

/**
 * Who holds an asset. `token` is for what many may hold: it has no owner. An asset that is burnt, or whose holder
 * cannot be told, has none either.
 */
export interface AssetOwnership {
  readonly model: "single" | "token";
  readonly owner: string | null;
  readonly delegate: string | null;
  readonly isFrozen: boolean;
  /** The token account that holds it; null for what has none. */
  readonly tokenAccount: string | null;
}

/** The leaf of a compressed asset; hashes are base58. */
export interface AssetCompression {
  readonly tree: string;
  readonly leafIndex: number;
  readonly sequence: bigint;
  readonly dataHash: string;
  readonly creatorHash: string;
  readonly assetHash: string;
}

export type AssetEdition =
  | { readonly kind: "master"; readonly supply: bigint | null; readonly maxSupply: bigint | null }
  | { readonly kind: "print"; readonly parent: string | null; readonly number: bigint };

/** The mint of an asset that has one. */
export interface AssetToken {
  readonly program: string;
  readonly decimals: number;
  readonly supply: bigint;
  readonly mintAuthority: string | null;
  readonly freezeAuthority: string | null;
  /** Data of a Token-2022 mint from byte 166 on, undecoded; empty for other mints. */
  readonly extensions: readonly { readonly name: string; readonly value: Uint8Array }[];
}

export interface Asset {
  /** The mint, the account of MPL Core, or the id of a leaf. */
  readonly id: string;
  readonly interface: AssetInterface;
  readonly source: AssetSource;
  /** Texts are empty where nothing says them. */
  readonly name: string;
  readonly symbol: string;
  readonly uri: string;
  readonly tokenStandard: TokenStandard | null;
  readonly updateAuthority: string | null;
  readonly creators: readonly AssetCreator[];
  readonly collection: AssetCollection | null;
  readonly royalty: AssetRoyalty;
  readonly ownership: AssetOwnership;
  /** Null for what is not compressed. */
  readonly compression: AssetCompression | null;
  readonly edition: AssetEdition | null;
  readonly editionNonce: number | null;
  readonly uses: MetaplexUses | null;
  readonly isMutable: boolean;
  readonly isBurnt: boolean;
  /** Null for what has no mint. */
  readonly token: AssetToken | null;
  /** What the chain itself says in pairs: the plugin of MPL Core, or the further metadata of a Token-2022 mint. */
  readonly attributes: readonly { readonly key: string; readonly value: string }[];
  /** Plugins of MPL Core, by name. */
  readonly plugins: readonly string[];
  /** Of a collection of MPL Core a text of all that its assets take from it; null for what passes nothing on. */
  readonly passedOn: string | null;
}

const nonFungible: ReadonlySet<AssetInterface> = new Set(["V1_NFT", "V1_PRINT", "ProgrammableNFT", "MplCoreAsset"]);

/** Whether an asset is one of its kind: no token of many units, and no collection of MPL Core. */
export const isNft = (asset: Pick<Asset, "interface">): boolean => nonFungible.has(asset.interface);

/** What is said of assets that have none of these facts. */
export const assetWithout = {
  name: "",
  symbol: "",
  uri: "",
  tokenStandard: null,
  updateAuthority: null,
  creators: [],
  collection: null,
  royalty: { basisPoints: 0, primarySaleHappened: false },
  compression: null,
  edition: null,
  editionNonce: null,
  uses: null,
  token: null,
  attributes: [],
  plugins: [],
  passedOn: null,
} as const satisfies Partial<Asset>;
