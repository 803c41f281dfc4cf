/**
 * enhanced: what transactions were, tokens, NFTs and wallets, over HTTP: in an envelope, and bare where helius-sdk
 * calls it; and the methods over digital assets of JSON-RPC. Fed by rpc, which has nodes and the ledger's past behind
 * it, by the ledger itself for wallets and assets, by parser, and by the documents that tokens point to; feeds clients
 * and the gateway. Records are kept in memory for the time that the specification states.
 */
import { enhancedLifetimeSeconds } from "@sluice/contract/enhanced";
import type { ChainReads, LedgerAssetReads } from "../ledger/index.ts";
import type { AssetAnswers } from "../rpc/index.ts";
import { AddressTransactions } from "./addresses/address-transactions.ts";
import { LedgerTransactions } from "./addresses/ledger-transactions.ts";
import { IndexedLeaves } from "./asset-index/compressed-assets.ts";
import { AssetLists, type AssetListsDependencies } from "./asset-lists/asset-lists.ts";
import { AssetMethods, type AssetMethodsDependencies } from "./asset-lists/asset-methods.ts";
import { AssetReader } from "./assets/asset-reader.ts";
import { type DasDependencies, DasMethods } from "./das/das-methods.ts";
import type { EnhancedEvents } from "./events.ts";
import { EnhancedApp, type EnhancedAppDependencies } from "./http/enhanced-app.ts";
import { sdkWalletRoutes } from "./http/sdk-wallet-routes.ts";
import { KeptAnswers, WalletReads } from "./http/wallet-reads.ts";
import { walletRoutes } from "./http/wallet-routes.ts";
import { Nfts } from "./nfts/nfts.ts";
import type { NodeCallDependencies } from "./node-calls.ts";
import type { DocumentSource } from "./off-chain/documents.ts";
import { SentenceNames, type SentenceNamesDependencies } from "./sentences/sentence-names.ts";
import { TextCache } from "./text-cache.ts";
import { ManyTokens } from "./tokens/many-tokens.ts";
import { Tokens, type TokensDependencies } from "./tokens/tokens.ts";
import { LedgerPages } from "./transactions/ledger-pages.ts";
import { ParsedTransactions, type ParsedTransactionsDependencies } from "./transactions/parsed-transactions.ts";
import { WalletAnalytics } from "./wallets/analytics.ts";
import { WalletBalances } from "./wallets/balances.ts";
import { WalletHistory } from "./wallets/history.ts";
import { Identities, type IdentitiesDependencies } from "./wallets/identities.ts";
import { PastBalances } from "./wallets/past-balances.ts";
import { WalletLedger, type WalletLedgerDependencies } from "./wallets/wallet-ledger.ts";

export { assetIndexMetrics, createAssetIndexEvents } from "./asset-index/events.ts";
export { AssetFills } from "./asset-index/fills.ts";
export { AssetIndexer } from "./asset-index/indexer.ts";
export { assetListMetrics, createAssetListEvents } from "./asset-lists/events.ts";
export { createEnhancedEvents, type EnhancedEvents, enhancedMetrics } from "./events.ts";
export { barePath, type EnhancedApp, enhancedPath, enhancedRoutes, sdkWalletPath } from "./http/enhanced-app.ts";
export type { DocumentSource } from "./off-chain/documents.ts";
export { openDocuments } from "./off-chain/open-documents.ts";
export type { UsdPrices } from "./wallets/prices.ts";

export interface EnhancedOptions {
  /** Characters of records that are kept; tokens, NFTs and wallets may take an eighth as many each beside them. */
  readonly keptCharactersMax?: number;
}

export type EnhancedDependencies = Omit<
  EnhancedAppDependencies,
  "transactions" | "addresses" | "tokens" | "nfts" | "routes"
> &
  NodeCallDependencies &
  WalletLedgerDependencies &
  IdentitiesDependencies &
  Pick<TokensDependencies, "chainOf"> &
  Pick<ParsedTransactionsDependencies, "programs"> &
  Pick<SentenceNamesDependencies, "nativeSymbol"> & {
    readonly events: EnhancedEvents;
    readonly chain: ChainReads;
    /** Where people look at a transaction. */
    readonly transactionUrl: (signature: string) => string;
    /** The index of assets, which alone has compressed ones; null where there is none. */
    readonly leaves: Pick<LedgerAssetReads, "byIds"> | null;
    /** What the documents behind URIs say. */
    readonly documents: DocumentSource;
  };

const keptCharacters = 32 * 1024 * 1024;
const keptEntriesMax = 50_000;

/** The enhanced API over the calls of a gateway and the ledger. */
export function createEnhanced(
  { keptCharactersMax = keptCharacters }: EnhancedOptions,
  dependencies: EnhancedDependencies,
): EnhancedApp {
  const { clock, documents } = dependencies;
  const cacheOf = (seconds: number, charactersMax: number): TextCache =>
    new TextCache({ lifetimeMs: seconds * 1_000, charactersMax, entriesMax: keptEntriesMax }, { clock });
  const { transactions: ofTransactions, token: ofTokens, nft: ofNfts, wallet: ofWallets } = enhancedLifetimeSeconds;
  const tokens = new Tokens({ ...dependencies, documents, cache: cacheOf(ofTokens, keptCharactersMax / 8) });
  const manyTokens = new ManyTokens({ ...dependencies, cache: cacheOf(ofTokens, keptCharactersMax / 8) });
  const names = new SentenceNames({ ...dependencies, tokens: manyTokens });
  const ofRecords = cacheOf(ofTransactions, keptCharactersMax);
  const transactions = new ParsedTransactions({ ...dependencies, names, cache: ofRecords });
  const compressed = dependencies.leaves === null ? null : new IndexedLeaves(dependencies.leaves);
  const assets = new AssetReader({ ...dependencies, compressed });
  const nfts = new Nfts({ ...dependencies, assets, documents, cache: cacheOf(ofNfts, keptCharactersMax / 8) });
  const ledger = new WalletLedger(dependencies);
  const pages = new LedgerPages(dependencies);
  const identities = new Identities(dependencies);
  const balances = new WalletBalances({ ...dependencies, tokens: manyTokens });
  const parts = { ...dependencies, ledger, pages, identities, balances, tokens: manyTokens, names };
  const history = new WalletHistory(parts);
  const reads = new WalletReads(dependencies);
  const walletParts = {
    ...parts,
    history,
    analytics: new WalletAnalytics(parts),
    past: new PastBalances(parts),
    reads,
    kept: new KeptAnswers({ ...dependencies, cache: cacheOf(ofWallets, keptCharactersMax / 8) }),
  };
  const fromLedger = new LedgerTransactions({ ...dependencies, ledger, history });
  const addresses = new AddressTransactions({ ...dependencies, transactions, fromLedger, reads });
  const routes = [...walletRoutes(walletParts), ...sdkWalletRoutes(walletParts)];
  return new EnhancedApp({ ...dependencies, transactions, tokens, nfts, addresses, routes });
}

/** Methods over digital assets: single ones from nodes and their documents, lists from the index and from nodes. */
export function createAssetMethods(
  dependencies: Omit<AssetListsDependencies, "assets"> &
    Pick<AssetMethodsDependencies, "events"> &
    Omit<DasDependencies, "assets">,
): AssetAnswers {
  const assets = new AssetReader({ ...dependencies, compressed: new IndexedLeaves(dependencies.reads) });
  const single = new DasMethods({ ...dependencies, assets });
  const lists = new AssetMethods({ ...dependencies, lists: new AssetLists({ ...dependencies, assets }) });
  return { answer: (call) => (single.has(call.method) ? single : lists).answer(call) };
}
