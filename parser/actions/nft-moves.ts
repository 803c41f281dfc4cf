import type { TokenMovement } from "../neutral/movements.ts";
import { tokenCalls, tokenInstructions } from "../neutral/token-calls.ts";
import type { Deed } from "../program.ts";
import type { Context } from "./context.ts";

/** One of a kind that changed hands; ends are wallets, or token accounts whose owner is not told. */
export interface NftMove {
  /** The mint, or the asset of MPL Core. */
  readonly mint: string;
  readonly from: string | null;
  readonly to: string | null;
}

const coreProgram = "CoREENxT6tW1HoK8ypY1SxRMZTcVPm7R94rH4PZNhX7d";
const coreTransferTag = 14;
/** Less than any price: what programs ask for an account or a vote. */
const leastPayment = 20_000n;

function unitMoved({ kind, decimals, amount, mint }: TokenMovement): boolean {
  return kind === "transfer" && amount === 1n && mint !== null && (decimals === 0 || decimals === null);
}

/** What is one of a kind and moved in a range of calls: by transfer, by a new owner of its account, as a Core asset. */
export function nftMovesIn(context: Context, start: number, end: number): readonly NftMove[] {
  const moves: NftMove[] = [];
  for (const movement of context.tokensIn(start, end)) {
    if (!unitMoved(movement) || movement.mint === null) continue;
    const { mint, fromOwner, fromAccount, toOwner, toAccount } = movement;
    moves.push({ mint, from: fromOwner ?? fromAccount, to: toOwner ?? toAccount });
  }
  const { calls, keys } = context.view;
  for (let position = start; position < end; position += 1) {
    const call = calls[position];
    if (call === undefined) continue;
    if (call.programId === coreProgram && call.data[0] === coreTransferTag) {
      const asset = keys[call.accounts[0] ?? -1];
      const named = keys[call.accounts[3] ?? -1];
      const from = named === coreProgram ? keys[call.accounts[2] ?? -1] : named;
      const to = keys[call.accounts[4] ?? -1];
      if (asset !== undefined) moves.push({ mint: asset, from: from ?? null, to: to ?? null });
      continue;
    }
    for (const each of tokenCalls(call)) {
      if (each.type !== "owner" || each.owner === null) continue;
      const account = context.tokenAccounts.get(keys[each.account] ?? "");
      if (account === undefined || account.decimals !== 0) continue;
      moves.push({ mint: account.mint, from: account.owner, to: each.owner });
    }
  }
  return moves;
}

/** The lamports that a payer gives others in a range of calls, without those that go into accounts that are created. */
export function paidBy(context: Context, payer: string, [start, end]: readonly [number, number]): bigint {
  let paid = 0n;
  for (const { kind, from, to, lamports, call } of context.lamportsIn(start, end)) {
    if (kind !== "transfer" || from !== payer || to === null || to === payer) continue;
    if (call !== null && fundsAccount(context, call, to)) continue;
    paid += lamports;
  }
  return paid;
}

/** Whether a transfer pays for an account that the next calls allocate. */
function fundsAccount({ view }: Context, position: number, account: string): boolean {
  const next = view.calls[position + 1];
  if (next === undefined || next.programId !== "11111111111111111111111111111111") return false;
  return next.data[0] === 8 && view.keys[next.accounts[0] ?? -1] === account;
}

/**
 * What a call of a market does by what moved in it: an NFT that comes to a signer for payment, or for payment to him
 * leaves him or who holds it for him, is sold; one that comes without is taken back; one that leaves him without is
 * offered. Null where none moved.
 */
export function marketDeed(context: Context, start: number, end: number): Deed | null {
  const moves = nftMovesIn(context, start, end);
  const first = moves[0];
  const last = moves[moves.length - 1];
  if (first === undefined || last === undefined) return heldDeed(context, start, end) ?? loggedDeed(context, start);
  const isMine = (address: string | null): boolean =>
    address !== null && (context.signers.has(address) || context.signers.has(ownerOf(context, address)));
  const paid = paysOthers(context, start, end);
  const received = context
    .lamportsIn(start, end)
    .some(
      ({ kind, from, to, lamports }) =>
        kind === "transfer" && to !== null && from !== to && context.signers.has(to) && lamports >= leastPayment,
    );
  const mineBefore = isMine(first.from);
  if (isMine(last.to)) return mineBefore ? null : paid ? "nft_sale" : "nft_cancel_listing";
  if (received && first.from !== last.to) return "nft_sale";
  return mineBefore ? "nft_listing" : null;
}

/** Whether anyone, a buyer or his escrow, pays lamports or tokens to who does not sign. */
function paysOthers(context: Context, start: number, end: number): boolean {
  const lamports = context
    .lamportsIn(start, end)
    .some(
      ({ kind, from, to, lamports: amount, call }) =>
        kind === "transfer" &&
        to !== null &&
        to !== from &&
        !context.signers.has(to) &&
        amount >= leastPayment &&
        !(call !== null && fundsAccount(context, call, to)),
    );
  return lamports || context.tokensIn(start, end).some((each) => each.kind === "transfer" && !unitMoved(each));
}

/** Calls of token programs that hold an NFT where it is, for a market, or let it go. */
const holding: Readonly<Record<number, Deed>> = {
  4: "nft_listing",
  10: "nft_listing",
  5: "nft_cancel_listing",
  11: "nft_cancel_listing",
};

/** A market that leaves NFTs where they are has them delegated and frozen while they are for sale. */
function heldDeed({ view, tokenAccounts }: Context, start: number, end: number): Deed | null {
  for (let position = start; position < end; position += 1) {
    const call = view.calls[position];
    for (const { data, accounts } of call === undefined ? [] : tokenInstructions(call)) {
      const deed = holding[data[0] ?? -1];
      if (deed !== undefined && tokenAccounts.get(view.keys[accounts[0] ?? -1] ?? "")?.decimals === 0) return deed;
    }
  }
  return null;
}

/** What markets call their instructions in logs, in lower case without spaces. */
const logged: readonly (readonly [name: RegExp, deed: Deed])[] = [
  [/^(createoffer|placebid|makeoffer|createbid|offer|bid|buyv2)$/, "nft_bid"],
  [/^(cancelsell|cancellisting|delist|unlist|cancelsale)$/, "nft_cancel_listing"],
  [/^(sell|list|createlisting|listing|updateprice|changeprice|updatelisting|editlisting)$/, "nft_listing"],
];

/** What the program itself says that it does, where nothing moved; null where it says nothing that is known. */
function loggedDeed({ view }: Context, start: number): Deed | null {
  const call = view.calls[start];
  if (call === undefined || call.inner !== null) return null;
  const lines = view.meta?.logs ?? [];
  const begins = lines.indexOf(`Program ${call.programId} invoke [1]`);
  const line = begins < 0 ? undefined : lines[begins + 1];
  const name =
    /^Program log: Instruction: (.+)$/
      .exec(line ?? "")?.[1]
      ?.replaceAll(/[\s_]/g, "")
      .toLowerCase() ?? "";
  return logged.find(([pattern]) => pattern.test(name))?.[1] ?? null;
}

function ownerOf(context: Context, account: string): string {
  return context.tokenAccounts.get(account)?.owner ?? "";
}
