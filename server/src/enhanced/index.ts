/**
 * enhanced: what transactions were, tokens, and NFTs, over HTTP: in an envelope, and bare where helius-sdk calls it.
 * Fed by rpc, which has nodes and the ledger's past behind it, and by parser; feeds clients. Records are kept in memory
 * for the time that the specification states.
 */
import { enhancedLifetimeSeconds } from "@sluice/contract/enhanced";
import type { LedgerAssetReads } from "../ledger/index.ts";
import { AddressTransactions } from "./addresses/address-transactions.ts";
import { IndexedLeaves } from "./asset-index/compressed-assets.ts";
import { AssetLists, type AssetListsDependencies } from "./asset-lists/asset-lists.ts";
import { AssetMethods, type AssetMethodsDependencies } from "./asset-lists/asset-methods.ts";
import { AssetReader } from "./assets/asset-reader.ts";
import type { EnhancedEvents } from "./events.ts";
import { EnhancedApp, type EnhancedAppDependencies } from "./http/enhanced-app.ts";
import { Nfts } from "./nfts/nfts.ts";
import type { NodeCallDependencies } from "./node-calls.ts";
import { TextCache } from "./text-cache.ts";
import { Tokens, type TokensDependencies } from "./tokens/tokens.ts";
import { ParsedTransactions } from "./transactions/parsed-transactions.ts";

export { assetIndexMetrics, createAssetIndexEvents } from "./asset-index/events.ts";
export { AssetFills } from "./asset-index/fills.ts";
export { AssetIndexer } from "./asset-index/indexer.ts";
export { assetListMetrics, createAssetListEvents } from "./asset-lists/events.ts";
export { createEnhancedEvents, enhancedMetrics } from "./events.ts";
export { barePath, enhancedPath, enhancedRoutes } from "./http/enhanced-app.ts";

export interface EnhancedOptions {
  /** Characters of records that are kept; tokens and NFTs may take an eighth as many each beside them. */
  readonly keptCharactersMax?: number;
}

export type EnhancedDependencies = Omit<EnhancedAppDependencies, "transactions" | "addresses" | "tokens" | "nfts"> &
  NodeCallDependencies &
  Pick<TokensDependencies, "chainOf"> & {
    readonly events: EnhancedEvents;
    /** The index of assets, which alone has compressed ones; null where there is none. */
    readonly leaves: Pick<LedgerAssetReads, "byIds"> | null;
  };

const keptCharacters = 32 * 1024 * 1024;
const keptEntriesMax = 50_000;

/** The enhanced API over the calls of a gateway. */
export function createEnhanced(
  { keptCharactersMax = keptCharacters }: EnhancedOptions,
  dependencies: EnhancedDependencies,
): EnhancedApp {
  const { clock } = dependencies;
  const cacheOf = (seconds: number, charactersMax: number): TextCache =>
    new TextCache({ lifetimeMs: seconds * 1_000, charactersMax, entriesMax: keptEntriesMax }, { clock });
  const { transactions: ofTransactions, token: ofTokens, nft: ofNfts } = enhancedLifetimeSeconds;
  const transactions = new ParsedTransactions({ ...dependencies, cache: cacheOf(ofTransactions, keptCharactersMax) });
  const tokens = new Tokens({ ...dependencies, cache: cacheOf(ofTokens, keptCharactersMax / 8) });
  const compressed = dependencies.leaves === null ? null : new IndexedLeaves(dependencies.leaves);
  const assets = new AssetReader({ ...dependencies, compressed });
  const nfts = new Nfts({ ...dependencies, assets, cache: cacheOf(ofNfts, keptCharactersMax / 8) });
  const addresses = new AddressTransactions({ ...dependencies, transactions });
  return new EnhancedApp({ ...dependencies, transactions, tokens, nfts, addresses });
}

/** Methods over digital assets, from the index and from nodes. */
export function createAssetMethods(
  dependencies: Omit<AssetListsDependencies, "assets"> & Pick<AssetMethodsDependencies, "events">,
): AssetMethods {
  const assets = new AssetReader({ ...dependencies, compressed: new IndexedLeaves(dependencies.reads) });
  return new AssetMethods({ ...dependencies, lists: new AssetLists({ ...dependencies, assets }) });
}
