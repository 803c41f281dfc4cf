import type { Context } from "../actions/context.ts";
import { type Action, type Actions, mintOfOne, readActions } from "../actions/read-actions.ts";
import { plainDeed } from "./plain.ts";
import type { TransactionType } from "./types.ts";

/** What a transaction is, and the actions that say so. */
export interface Classified {
  readonly type: TransactionType;
  /** The actions of the type, in the order of execution; empty where the type is UNKNOWN. */
  readonly main: readonly Action[];
  /** Everything that was recognised. */
  readonly actions: readonly Action[];
  /** The short name of the program or market. */
  readonly source: string;
  /** The program whose call causes the type; null where there is none. */
  readonly programId: string | null;
  /** The mint of an NFT that the transaction makes by the token program alone. */
  readonly mintOfOne: string | null;
}

const nftTypes = {
  nft_sale: "NFT_SALE",
  nft_mint: "NFT_MINT",
  nft_cancel_listing: "NFT_CANCEL_LISTING",
  nft_listing: "NFT_LISTING",
  nft_bid: "NFT_BID",
} as const satisfies { readonly [does: string]: TransactionType };

/** Deeds that are none of the types; what stands beside them is part of them. */
const otherDeeds: ReadonlySet<Action["does"]> = new Set([
  "other",
  "order",
  "add_liquidity",
  "remove_liquidity",
  "create_pool",
]);

/** The precedence of types is that of docs/decisions/0075. */
export function classify(context: Context): Classified {
  const actions = readActions(context);
  const { list } = actions;
  const one = mintOfOne(context);
  const known = { actions: list, one };
  const of = (does: Action["does"]) => list.filter((action) => action.does === does);
  for (const does of ["nft_sale", "nft_mint", "nft_cancel_listing", "nft_listing", "nft_bid"] as const) {
    const main = of(does);
    if (main.length > 0) return found(nftTypes[does], main, known);
    if (does === "nft_mint" && one !== null) return { ...found("NFT_MINT", [], known), source: mintSource(context) };
  }
  const swaps = of("swap");
  if (swaps.length > 0) return found("SWAP", swaps, known);
  const staked = list.find(({ does }) => does === "stake" || does === "unstake");
  if (staked !== undefined) return found(staked.does === "stake" ? "STAKE" : "UNSTAKE", of(staked.does), known);
  return classifyPlain(context, actions, one);
}

function mintSource({ view }: Context): string {
  return view.calls.some(({ programId }) => programId.startsWith("Tokenz")) ? "spl_token_2022" : "spl_token";
}

/** Transfers, accounts that are opened and closed: types only of what calls for nothing else. */
function classifyPlain(context: Context, actions: Actions, one: string | null): Classified {
  const { list } = actions;
  const named = list.find(({ does }) => otherDeeds.has(does));
  const known = { actions: list, one };
  if (named !== undefined || actions.unknown) return nothing(list, named?.parser?.source, one);
  const transfers: Action[] = [];
  const tips: Action[] = [];
  const created: Action[] = [];
  const closed: Action[] = [];
  for (const action of list) {
    if (action.does === "asset_transfer") transfers.push(action);
    else {
      const deed = plainDeed(context, action);
      if (deed === "transfer") transfers.push(action);
      else if (deed === "tip") tips.push(action);
      else if (deed === "create_account") created.push(action);
      else if (deed === "close_account") closed.push(action);
    }
  }
  if (transfers.length > 0) return found("TRANSFER", transfers, known);
  if (created.length > 0) return found("CREATE_ACCOUNT", created, known);
  if (closed.length > 0) return found("CLOSE_ACCOUNT", closed, known);
  if (tips.length > 0) return found("TRANSFER", tips, known);
  return nothing(list, helperSource(context), one);
}

/** A transaction of memos alone is named after them. */
function helperSource({ view }: Context): string | undefined {
  return view.calls.some(({ programId }) => programId.startsWith("Memo")) ? "memo" : undefined;
}

function nothing(actions: readonly Action[], source: string | undefined, one: string | null): Classified {
  return { type: "UNKNOWN", main: [], actions, source: source ?? "unknown", programId: null, mintOfOne: one };
}

function found(
  type: TransactionType,
  main: readonly Action[],
  { actions, one }: { readonly actions: readonly Action[]; readonly one: string | null },
): Classified {
  const [first] = main;
  const source = first?.parser?.source ?? "unknown";
  return { type, main, actions, source, programId: first?.programId ?? null, mintOfOne: one };
}
