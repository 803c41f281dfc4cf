import { readU64 } from "@sluice/wire/bytes";
import { maxU64 } from "@sluice/wire/identifiers";
import type { Context } from "../actions/context.ts";
import { nftMovesIn, paidBy } from "../actions/nft-moves.ts";
import type { Action } from "../actions/read-actions.ts";
import { isWrapped } from "../neutral/token-accounts.ts";
import { type CompressedFacts, compressedFacts } from "./compressed.ts";
import { decimalsOf } from "./hops.ts";
import type { Leg } from "./legs.ts";

/** What happened to an NFT. Null is what the transaction does not name. */
export interface NftFacts {
  /** The mint, or the asset of MPL Core; a compressed one has neither. */
  readonly mint: string | null;
  /** The short name of the market or program. */
  readonly source: string;
  readonly seller: string | null;
  readonly buyer: string | null;
  /** The price before what a market takes of it, or on top of it. */
  readonly priceLamports: bigint | null;
  /** A price in a token. */
  readonly priceToken: Leg | null;
  readonly compressed: CompressedFacts | null;
}

const coreProgram = "CoREENxT6tW1HoK8ypY1SxRMZTcVPm7R94rH4PZNhX7d";

export function nftFacts(context: Context, action: Action): NftFacts {
  const { does, instruction, start, end } = action;
  const moves = nftMovesIn(context, start, end);
  const compressed = compressedFacts(context, action);
  const mint = instruction.tree === undefined ? mintOf(context, action) : null;
  const ours = moves.filter((move) => mint === null || move.mint === mint);
  const named = (position: number | undefined): string | null => keyAt(context, action, position);
  let seller = named(instruction.seller);
  let buyer = named(instruction.buyer);
  if (does === "nft_sale" && instruction.seller === undefined)
    seller = sellerBy(context, action, ours[0]?.from ?? null);
  if (does === "nft_sale" && instruction.buyer === undefined) buyer = wallet(context, ours[ours.length - 1]?.to);
  if ((does === "nft_listing" || does === "nft_cancel_listing") && seller === null) {
    seller = signerOf(context, does === "nft_listing" ? ours[0]?.from : ours[ours.length - 1]?.to);
  }
  if (does === "nft_mint") {
    buyer ??= holderOf(context, mint);
    seller = null;
  }
  const source = action.parser?.source ?? "unknown";
  const { priceLamports, priceToken } = priceOf(context, action, buyer);
  return { mint, source, seller, buyer, priceLamports, priceToken, compressed };
}

/** Facts of an NFT that the token program alone made, which is the source. */
export function mintedFacts(context: Context, mint: string, source: string): NftFacts {
  const buyer = holderOf(context, mint);
  return { mint, source, seller: null, buyer, priceLamports: null, priceToken: null, compressed: null };
}

function keyAt({ view }: Context, { programId, start }: Action, position: number | undefined): string | null {
  const call = view.calls[start];
  if (call === undefined || position === undefined) return null;
  const key = view.accountOf(call, position);
  return key === "" || key === programId ? null : key;
}

function mintOf(context: Context, action: Action): string | null {
  const { instruction, start, end, does } = action;
  const named = keyAt(context, action, instruction.mint);
  if (named !== null) return named;
  const account = keyAt(context, action, instruction.tokenAccount);
  const ofAccount = account === null ? undefined : context.tokenAccounts.get(account)?.mint;
  if (ofAccount !== undefined) return ofAccount;
  if (does !== "nft_mint") return nftMovesIn(context, start, end)[0]?.mint ?? null;
  const minted = context.tokensIn(start, end).find(({ kind, amount }) => kind === "mint" && amount === 1n);
  if (minted !== undefined) return minted.mint;
  const { calls } = context.view;
  for (let position = start; position < end; position += 1) {
    const call = calls[position];
    if (call?.programId === coreProgram && (call.data[0] === 0 || call.data[0] === 20)) {
      return context.view.accountOf(call, 0);
    }
  }
  return null;
}

/** The owner of an account, or the wallet itself. */
function wallet(context: Context, address: string | null | undefined): string | null {
  if (address === null || address === undefined) return null;
  return context.tokenAccounts.get(address)?.owner ?? address;
}

function signerOf(context: Context, address: string | null | undefined): string {
  const found = wallet(context, address);
  return found !== null && context.signers.has(found) ? found : context.feePayer;
}

/** An escrow is not who sells: of a sale that names nobody, the seller is who gets most of what is paid. */
function sellerBy(context: Context, { start, end }: Action, from: string | null): string | null {
  const holder = wallet(context, from);
  if (holder !== null && context.signers.has(holder)) return holder;
  const got = new Map<string, bigint>();
  for (const { kind, to, lamports } of context.lamportsIn(start, end)) {
    if (kind === "transfer" && to !== null) got.set(to, (got.get(to) ?? 0n) + lamports);
  }
  let best: string | null = null;
  for (const [address, lamports] of got) if (best === null || lamports > (got.get(best) ?? 0n)) best = address;
  return best ?? holder;
}

/** Who holds an NFT that was just minted. */
function holderOf(context: Context, mint: string | null): string | null {
  const moved = context.movements.tokens.filter(
    (each) => mint !== null && each.mint === mint && each.toAccount !== null,
  );
  const last = moved[moved.length - 1];
  return wallet(context, last?.toOwner ?? last?.toAccount) ?? (context.view.failed ? context.feePayer : null);
}

type Price = Pick<NftFacts, "priceLamports" | "priceToken">;

const noPrice: Price = { priceLamports: null, priceToken: null };

function priceOf(context: Context, action: Action, buyer: string | null): Price {
  const { instruction, start } = action;
  const call = context.view.calls[start];
  if (call === undefined) return noPrice;
  if (instruction.price === undefined) {
    return paidTo(context, action) ?? (action.does === "nft_sale" ? paidPrice(context, action, buyer) : noPrice);
  }
  if (call.data.length < instruction.price + 8) return noPrice;
  const stated = readU64(call.data, instruction.price);
  if (stated === maxU64) return noPrice;
  const currency = keyAt(context, action, instruction.currency);
  if (currency === null || isWrapped(currency)) return { priceLamports: stated, priceToken: null };
  const priceToken = { mint: currency, amount: stated, decimals: decimalsOf(context, currency) };
  return { priceLamports: null, priceToken };
}

/** The largest payment to who gets the price and no fee; null where the call names nobody, or nothing was paid. */
function paidTo(context: Context, action: Action): Price | null {
  const account = keyAt(context, action, action.instruction.paid);
  let price = 0n;
  for (const { kind, to, lamports } of context.lamportsIn(action.start, action.end)) {
    if (kind === "transfer" && account !== null && to === account && lamports > price) price = lamports;
  }
  return price === 0n ? null : { priceLamports: price, priceToken: null };
}

/** What the buyer's side paid where the call states no price: the buyer himself, else the account that paid most. */
function paidPrice(context: Context, { start, end }: Action, buyer: string | null): Price {
  const byBuyer = buyer === null ? 0n : paidBy(context, buyer, [start, end]);
  if (byBuyer > 0n) return { priceLamports: byBuyer, priceToken: null };
  const tokens = context
    .tokensIn(start, end)
    .filter(({ kind, amount, decimals }) => kind === "transfer" && !(amount === 1n && (decimals ?? 0) === 0));
  const [first] = tokens;
  if (first !== undefined && first.mint !== null) {
    const same = tokens.filter(({ mint, fromAccount }) => mint === first.mint && fromAccount === first.fromAccount);
    const amount = same.reduce((sum, each) => sum + each.amount, 0n);
    if (isWrapped(first.mint)) return { priceLamports: amount, priceToken: null };
    return { priceLamports: null, priceToken: { mint: first.mint, amount, decimals: first.decimals } };
  }
  const payers = new Set(context.lamportsIn(start, end).map(({ from }) => from ?? ""));
  let most = 0n;
  for (const payer of payers) {
    const paid = payer === "" ? 0n : paidBy(context, payer, [start, end]);
    if (paid > most) most = paid;
  }
  return most > 0n ? { priceLamports: most, priceToken: null } : noPrice;
}
