import { describeMethod, type ParameterKind, type RpcMethodSpec } from "./method-spec.ts";

/**
 * Methods over digital assets, of which parameters stand by name. Source: the types of helius-sdk 3.2, and Metaplex's
 * Digital Asset Standard. The server answers them from its index and its nodes; no node has them.
 */

const address: ParameterKind = { kind: "address" };
const text: ParameterKind = { kind: "text" };
const boolean: ParameterKind = { kind: "boolean" };
const object: ParameterKind = { kind: "object" };
const any: ParameterKind = { kind: "any" };
const whole = (max: bigint): ParameterKind => ({ kind: "integer", min: 0n, max });

/** Members by which every list is paged and sorted. */
const page = {
  page: { kind: "integer", min: 1n, max: 100_001n },
  limit: { kind: "integer", min: 1n, max: 1_000n },
  before: text,
  after: text,
  cursor: text,
  sortBy: object,
} as const satisfies Readonly<Record<string, ParameterKind>>;

const method = (name: string, config: Readonly<Record<string, ParameterKind>>): RpcMethodSpec =>
  // What a key sees of it is the index's, which moves by itself.
  describeMethod(name, [], { cache: "never", config, route: "assets", named: true });

/** Assets by their ids, and token accounts. */
export const assetMethods: readonly RpcMethodSpec[] = [
  method("getAsset", { id: address, options: object, displayOptions: object }),
  method("getAssetBatch", { ids: { kind: "addresses", max: 1_000 }, options: object, displayOptions: object }),
  method("getTokenAccounts", {
    ...{ owner: address, mint: address, page: page.page, limit: page.limit },
    ...{ cursor: text, before: text, after: text, options: object, displayOptions: object },
  }),
];

/** Lists of assets, their signatures and their proofs. */
export const assetListMethods: readonly RpcMethodSpec[] = [
  method("getAssetsByOwner", { ownerAddress: address, ...page, displayOptions: object, options: object }),
  method("getAssetsByGroup", { groupKey: text, groupValue: address, ...page, options: object }),
  method("getAssetsByCreator", { creatorAddress: address, onlyVerified: boolean, ...page, options: object }),
  method("getAssetsByAuthority", { authorityAddress: address, ...page, options: object }),
  method("searchAssets", {
    ...{ ownerAddress: address, tokenType: text, creatorAddress: address, creatorVerified: boolean },
    ...{ authorityAddress: address, ownerType: text, grouping: any, tree: address, jsonUri: text },
    ...{ compressed: boolean, compressible: boolean, delegate: address, supply: whole(2n ** 53n - 1n) },
    ...{ frozen: boolean, burnt: boolean, interface: text, royaltyTargetType: text, royaltyTarget: address },
    ...{ royaltyAmount: whole(65_535n), ...page, options: object },
  }),
  method("getSignaturesForAsset", {
    id: address,
    page: page.page,
    limit: page.limit,
    before: text,
    after: text,
  }),
  method("getNftEditions", { mint: address, page: page.page, limit: page.limit }),
  method("getAssetProof", { id: address }),
  method("getAssetProofBatch", { ids: { kind: "addresses", max: 100 } }),
];
