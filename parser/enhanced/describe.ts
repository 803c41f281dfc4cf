import { wellKnownAddresses } from "@sluice/wire/programs";
import type { Leg } from "../facts/legs.ts";
import type { NftFacts } from "../facts/nft.ts";
import type { TransferFacts } from "../facts/plain.ts";
import type { ParsedTransaction } from "../parse.ts";
import { parserNamed } from "../programs/table.ts";
import { ExactDecimal } from "./exact-decimal.ts";

/** What people call things; null where nothing is known. */
export interface Names {
  /** The symbol of a mint. */
  symbolOf(mint: string): string | null;
  /** The name of an NFT. */
  nameOf(mint: string): string | null;
  /** What native currency is called: SOL, XNT. */
  readonly nativeSymbol: string;
}

export const noNames: Names = { symbolOf: () => null, nameOf: () => null, nativeSymbol: "SOL" };

/** What the sentence of a transaction may name: mints of tokens, and NFTs. */
export interface Named {
  readonly tokens: readonly string[];
  /** Mints and assets of MPL Core. */
  readonly nfts: readonly string[];
  /** Ids of compressed NFTs, which have no account. */
  readonly compressed: readonly string[];
}

/** What a caller may look up before a sentence is made. */
export function namedIn({ swap, nfts, transfers, compressed }: ParsedTransaction): Named {
  const tokens = new Set<string>();
  const units = new Set<string>();
  for (const leg of [swap?.input, swap?.output, nfts[0]?.priceToken]) if (leg) tokens.add(leg.mint);
  const id = nfts[0]?.mint ?? nfts[0]?.compressed?.assetId;
  if (id) units.add(id);
  const [first] = transfers;
  if (first !== undefined && first.mint !== null) (isUnit(first) ? units : tokens).add(first.mint);
  tokens.delete(wellKnownAddresses.wrappedNativeMint);
  const leaves = new Set(compressed.map(({ assetId }) => assetId));
  const [withLeaf, others] = [[...units].filter((id) => leaves.has(id)), [...units].filter((id) => !leaves.has(id))];
  return { tokens: [...tokens], nfts: others, compressed: withLeaf };
}

/** Whether an amount may be of one of a kind. */
const isUnit = ({ amount, decimals }: { readonly amount: bigint; readonly decimals: number | null }): boolean =>
  amount === 1n && decimals === 0;

/** Names are what anybody may write, so they stand in quotes. */
function nftText(id: string, names: Names): string {
  const name = names.nameOf(id);
  return name === null ? id : JSON.stringify(name);
}

function amountText({ mint, amount, decimals }: Leg, names: Names): string {
  if (mint === wellKnownAddresses.wrappedNativeMint) return `${new ExactDecimal(amount, 9)} ${names.nativeSymbol}`;
  if (isUnit({ amount, decimals }) && names.nameOf(mint) !== null) return nftText(mint, names);
  const symbol = names.symbolOf(mint) ?? mint;
  return decimals === null ? `${amount} units of ${symbol}` : `${new ExactDecimal(amount, decimals)} ${symbol}`;
}

function lamportsText(lamports: bigint, names: Names): string {
  return `${new ExactDecimal(lamports, 9)} ${names.nativeSymbol}`;
}

/**
 * One plain sentence of what a transaction did, with amounts and names; empty where its type is UNKNOWN and for a
 * transaction of which not even who it was is told.
 */
export function describe(parsed: ParsedTransaction, names: Names, failed: boolean): string {
  const sentence = sentenceOf(parsed, names, failed);
  return sentence === "" ? "" : `${sentence}.`;
}

function sentenceOf(parsed: ParsedTransaction, names: Names, failed: boolean): string {
  const market = parserNamed(parsed.source)?.name ?? parsed.source;
  switch (parsed.type) {
    case "SWAP":
      return swapSentence(parsed, names, failed);
    case "NFT_SALE":
    case "NFT_MINT":
    case "NFT_BID":
    case "NFT_LISTING":
    case "NFT_CANCEL_LISTING":
      return nftSentence(parsed, names, { market, failed });
    case "TRANSFER":
      return transferSentence(parsed, names, failed);
    case "STAKE":
    case "UNSTAKE":
      return stakeSentence(parsed, names, failed);
    case "CREATE_ACCOUNT":
    case "CLOSE_ACCOUNT":
      return accountSentence(parsed, names, failed);
    case "UNKNOWN":
      return "";
  }
}

function swapSentence({ swap, source }: ParsedTransaction, names: Names, failed: boolean): string {
  if (swap === null) return "";
  const market = parserNamed(source)?.name ?? source;
  if (failed) return `${swap.user} tried to swap on ${market}`;
  if (swap.input === null || swap.output === null) return `${swap.user} swapped on ${market}`;
  return `${swap.user} swapped ${amountText(swap.input, names)} for ${amountText(swap.output, names)} on ${market}`;
}

interface Place {
  readonly market: string;
  readonly failed: boolean;
}

function nftSentence({ type, nfts }: ParsedTransaction, names: Names, { market, failed }: Place): string {
  const [nft] = nfts;
  if (nft === undefined) return "";
  const id = nft.mint ?? nft.compressed?.assetId ?? null;
  const one = id === null ? "an NFT" : nftText(id, names);
  const what = nfts.length > 1 ? `${nfts.length} NFTs` : one;
  const price = nfts.length > 1 ? "" : priceText(nft, names);
  const { seller, buyer } = nft;
  const did = (done: string, tried: string): string => (failed ? `tried to ${tried}` : done);
  switch (type) {
    case "NFT_SALE": {
      const from = seller === null ? "" : ` from ${seller}`;
      return `${buyer ?? "A buyer"} ${did("bought", "buy")} ${what}${from}${price} on ${market}`;
    }
    case "NFT_MINT":
      return `${buyer ?? "An owner"} ${did("minted", "mint")} ${what}${price} with ${market}`;
    case "NFT_BID":
      return `${buyer ?? "A bidder"} ${did("bid", "bid")}${price} ${id === null ? "on" : `on ${what} on`} ${market}`;
    case "NFT_LISTING":
      return `${seller ?? "A seller"} ${did("listed", "list")} ${what}${price} on ${market}`;
    default:
      return `${seller ?? "A seller"} ${did("took", "take")} ${what} off sale on ${market}`;
  }
}

function priceText({ priceLamports, priceToken }: NftFacts, names: Names): string {
  if (priceLamports !== null) return ` for ${lamportsText(priceLamports, names)}`;
  return priceToken === null ? "" : ` for ${amountText(priceToken, names)}`;
}

function transferSentence({ transfers, nfts: _ }: ParsedTransaction, names: Names, failed: boolean): string {
  const [first] = transfers;
  if (first === undefined) return failed ? "A transfer failed" : "";
  const senders = new Set(transfers.map(({ from }) => from));
  const from = first.from ?? "An account";
  if (transfers.length === 1) {
    return `${from} transferred ${movedText(first, names)} to ${first.to ?? "an account"}${feeText(first, names)}`;
  }
  const receivers = new Set(transfers.map(({ to }) => to));
  const one = transfers.every(({ mint }) => mint === first.mint);
  const to = receivers.size === 1 ? (first.to ?? "an account") : `${receivers.size} accounts`;
  if (senders.size > 1) return `${senders.size} accounts made ${transfers.length} transfers to ${to}`;
  if (!one) return `${from} made ${transfers.length} transfers to ${to}`;
  const sum = { ...first, amount: 0n, fee: 0n };
  for (const { amount, fee } of transfers) {
    sum.amount += amount;
    sum.fee += fee;
  }
  return `${from} transferred a total of ${movedText(sum, names)} to ${to}${feeText(sum, names)}`;
}

/** What a mint withholds of a transfer. */
function feeText(moved: TransferFacts, names: Names): string {
  return moved.fee === 0n ? "" : `; ${movedText({ ...moved, amount: moved.fee }, names)} was withheld as a fee`;
}

function movedText({ mint, amount, decimals }: TransferFacts, names: Names): string {
  return mint === null ? lamportsText(amount, names) : amountText({ mint, amount, decimals }, names);
}

function stakeSentence({ type, stakes }: ParsedTransaction, names: Names, failed: boolean): string {
  const [first] = stakes;
  if (first === undefined) return "";
  const staked = type === "STAKE";
  const verb = failed ? `tried to ${staked ? "stake" : "unstake"}` : staked ? "staked" : "unstaked";
  const amount = first.lamports === null || stakes.length > 1 ? "" : ` ${lamportsText(first.lamports, names)}`;
  const validator = first.voteAccount === null ? "" : ` with validator ${first.voteAccount}`;
  return `${first.user} ${verb}${amount}${validator}`;
}

function accountSentence({ type, created, closed }: ParsedTransaction, names: Names, failed: boolean): string {
  if (type === "CREATE_ACCOUNT") {
    const [first] = created;
    if (first === undefined) return "";
    const verb = failed ? "tried to create" : "created";
    return `${first.payer} ${verb} ${created.length > 1 ? `${created.length} accounts` : `account ${first.account}`}`;
  }
  const [first] = closed;
  if (first === undefined) return "";
  const verb = failed ? "tried to close" : "closed";
  const what = closed.length > 1 ? `${closed.length} accounts` : `account ${first.account}`;
  const sum = closed.reduce((total, { lamports }) => total + lamports, 0n);
  const rent = first.rentTo === null ? "" : `; ${lamportsText(sum, names)} went to ${first.rentTo}`;
  return `${first.owner ?? "An owner"} ${verb} ${what}${rent}`;
}
