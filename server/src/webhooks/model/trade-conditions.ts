import type { WebhookFilters } from "@sluice/contract/schemas";
import type { Leg, LiquidityFacts, NftFacts, ParsedTransaction, SwapFacts, TransactionType } from "@sluice/parser";
import { type Decimal, decimal, parseDecimal } from "../../oracle/index.ts";
import type { TokenPrices } from "./token-prices.ts";

/** Whether a condition holds; null where it takes more to say than is at hand. */
export type TradeVerdict = boolean | null;

export interface NftCondition {
  /** Short names of markets, in lower case; null for any. */
  readonly marketplaces: ReadonlySet<string> | null;
  readonly collection: string | null;
  readonly types: ReadonlySet<TransactionType>;
}

type DefiKind = "swap" | "add_liquidity" | "remove_liquidity";

export interface DefiCondition {
  /** Short names of programs, in lower case; null for any. */
  readonly protocols: ReadonlySet<string> | null;
  readonly kinds: ReadonlySet<DefiKind>;
  /** US dollars; null where no value is asked for. */
  readonly leastUsd: Decimal | null;
}

/** What a webhook asks of trades. Where it asks for both, both must hold. */
export interface TradeConditions {
  readonly nft: NftCondition | null;
  readonly defi: DefiCondition | null;
}

/** What conditions ask beyond the transaction itself. */
export interface TradeKnowledge {
  /** The verified collection of an NFT, null for none; undefined while it is not known. */
  readonly collectionOf: (mint: string) => string | null | undefined;
  /** Null while prices cannot be read. */
  readonly prices: TokenPrices | null;
}

const nftTypes = { sale: "NFT_SALE", listing: "NFT_LISTING", bid: "NFT_BID" } as const;
/** More than anything is worth. */
const usdMax = decimal("1e23");

const lowerCase = (names: readonly string[] | undefined): ReadonlySet<string> | null =>
  names === undefined ? null : new Set(names.map((name) => name.toLowerCase()));

/** Null for filters that ask nothing of trades. */
export function tradeConditionsOf({ nft, defi }: WebhookFilters): TradeConditions | null {
  if (nft === undefined && defi === undefined) return null;
  return {
    nft: nft === undefined ? null : nftConditionOf(nft),
    defi: defi === undefined ? null : defiConditionOf(defi),
  };
}

function nftConditionOf({ marketplaces, collection, event_types }: NonNullable<WebhookFilters["nft"]>): NftCondition {
  const kinds = event_types ?? (["sale", "listing", "bid"] as const);
  return {
    marketplaces: lowerCase(marketplaces),
    collection: collection ?? null,
    types: new Set(kinds.map((kind) => nftTypes[kind])),
  };
}

function defiConditionOf({
  protocols,
  event_types,
  min_usd_value,
}: NonNullable<WebhookFilters["defi"]>): DefiCondition {
  const kinds = event_types ?? (["swap", "add_liquidity", "remove_liquidity"] as const);
  const least = min_usd_value === undefined ? null : (parseDecimal(String(min_usd_value)) ?? usdMax);
  return { protocols: lowerCase(protocols), kinds: new Set(kinds), leastUsd: least };
}

/** The NFTs whose collection a condition asks for. */
export function askedMints({ nft }: TradeConditions, parsed: ParsedTransaction): readonly string[] {
  if (nft === null || nft.collection === null || !nft.types.has(parsed.type)) return [];
  return parsed.nfts.flatMap((each) => (each.mint !== null && isOfMarket(nft, each) ? [each.mint] : []));
}

/** Whether a transaction that succeeded made such trades. */
export function tradeVerdict(
  { nft, defi }: TradeConditions,
  parsed: ParsedTransaction,
  { collectionOf, prices }: TradeKnowledge,
): TradeVerdict {
  const ofNft = nft === null || nftVerdict(nft, parsed, collectionOf);
  if (ofNft === false) return false;
  const ofDefi = defi === null || defiVerdict(defi, parsed, prices);
  if (ofDefi === false) return false;
  return ofNft === null || ofDefi === null ? null : true;
}

const isOfMarket = ({ marketplaces }: NftCondition, { source }: NftFacts): boolean =>
  marketplaces === null || marketplaces.has(source);

function nftVerdict(
  condition: NftCondition,
  { type, nfts }: ParsedTransaction,
  collectionOf: TradeKnowledge["collectionOf"],
): TradeVerdict {
  if (!condition.types.has(type)) return false;
  let isOpen = false;
  for (const nft of nfts) {
    if (!isOfMarket(condition, nft)) continue;
    if (condition.collection === null) return true;
    // Neither the collection nor what it could be looked up by is named for a compressed NFT.
    if (nft.mint === null) continue;
    const collection = collectionOf(nft.mint);
    if (collection === condition.collection) return true;
    if (collection === undefined) isOpen = true;
  }
  return isOpen ? null : false;
}

function defiVerdict(condition: DefiCondition, parsed: ParsedTransaction, prices: TokenPrices | null): TradeVerdict {
  const { kinds, leastUsd } = condition;
  const isOfProtocol = (sources: readonly string[]): boolean =>
    condition.protocols === null || sources.some((source) => condition.protocols?.has(source) === true);
  const values: (() => Decimal | null)[] = [];
  const { swap } = parsed;
  if (swap !== null && kinds.has("swap") && isOfProtocol(swap.sources)) {
    values.push(() => (prices === null ? null : swapValue(swap, prices)));
  }
  for (const liquidity of parsed.liquidity) {
    if (!kinds.has(kindOf(liquidity)) || !isOfProtocol([liquidity.source])) continue;
    values.push(() => (prices === null ? null : liquidityValue(liquidity, prices)));
  }
  if (values.length === 0) return false;
  if (leastUsd === null) return true;
  if (prices === null) return null;
  const known = values.map((value) => value());
  if (known.some((value) => value !== null && value >= leastUsd)) return true;
  if (known.every((value) => value === null)) prices.noteUnpriced();
  return false;
}

/** Who makes a pool puts tokens into it. */
const kindOf = ({ type }: LiquidityFacts): DefiKind => (type === "REMOVE" ? "remove_liquidity" : "add_liquidity");

/**
 * What was given, else what was got, else the first amount of its route that has a price. A round trip gives nothing
 * and gets what it gained: its route comes first.
 */
function swapValue({ input, output, hops }: SwapFacts, prices: TokenPrices): Decimal | null {
  const route: Leg[] = hops.flatMap((hop) => [hop.input, hop.output]);
  for (const leg of input === null ? [...route, output] : [input, output, ...route]) {
    const value = leg === null ? null : prices.valueOf(leg);
    if (value !== null) return value;
  }
  return null;
}

/** Of all tokens that have a price: it is worth at least so much. */
function liquidityValue({ tokens }: LiquidityFacts, prices: TokenPrices): Decimal | null {
  let sum: bigint | null = null;
  for (const leg of tokens) {
    const value = prices.valueOf(leg);
    if (value !== null) sum = (sum ?? 0n) + value;
  }
  return sum as Decimal | null;
}
