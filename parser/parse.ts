import { Context } from "./actions/context.ts";
import { type Classified, classify } from "./classify/classify.ts";
import type { TransactionType } from "./classify/types.ts";
import { type CompressedFacts, compressedFacts } from "./facts/compressed.ts";
import { mintedFacts, type NftFacts, nftFacts } from "./facts/nft.ts";
import {
  type ClosedAccount,
  type CreatedAccount,
  closedFacts,
  createdFacts,
  type LiquidityFacts,
  liquidityFacts,
  type StakeFacts,
  stakeFacts,
  type TransferFacts,
  transferFacts,
} from "./facts/plain.ts";
import { type SwapFacts, swapFacts } from "./facts/swap.ts";
import type { Movements } from "./neutral/movements.ts";
import { parserFor } from "./programs/table.ts";
import type { TransactionView } from "./transaction-view.ts";

/** What a transaction was, in facts. What it was not is empty or null. */
export interface ParsedTransaction {
  readonly type: TransactionType;
  /** The short name of the program or market; `unknown` where none is known. */
  readonly source: string;
  /** The program whose call causes the type; null where there is none. */
  readonly programId: string | null;
  readonly movements: Movements;
  readonly swap: SwapFacts | null;
  /** One for each NFT that the type is about. */
  readonly nfts: readonly NftFacts[];
  readonly compressed: readonly CompressedFacts[];
  readonly transfers: readonly TransferFacts[];
  readonly created: readonly CreatedAccount[];
  readonly closed: readonly ClosedAccount[];
  readonly stakes: readonly StakeFacts[];
  /** Whatever the type is. */
  readonly liquidity: readonly LiquidityFacts[];
}

/**
 * Reads what a transaction was. Its facts are what the transaction states or what moved in it; what it does not tell is
 * null. One that failed has the type that it attempted, and moved nothing.
 */
export function parseTransaction(view: TransactionView): ParsedTransaction {
  const context = new Context(view);
  const classified = classify(context);
  const { type, main, actions, source } = classified;
  return {
    type,
    source,
    programId: causeOf(view, classified),
    movements: context.movements,
    swap: type === "SWAP" ? swapFacts(context, main) : null,
    nfts: nftsOf(context, classified),
    compressed: actions.flatMap((action) => compressedFacts(context, action) ?? []),
    transfers: type === "TRANSFER" ? transferFacts(context, main) : [],
    created: type === "CREATE_ACCOUNT" ? createdFacts(context, main) : [],
    closed: type === "CLOSE_ACCOUNT" ? closedFacts(context, main) : [],
    stakes: type === "STAKE" || type === "UNSTAKE" ? stakeFacts(context, main) : [],
    liquidity: liquidityFacts(context, actions),
  };
}

/** A known program that wraps others is the cause of what it wraps. */
function causeOf({ calls }: TransactionView, { main: [first], programId }: Classified): string | null {
  if (first === undefined || first.outer) return programId;
  const outer = calls[first.start]?.outer;
  const wrapper = calls.find((call) => call.outer === outer && call.inner === null)?.programId ?? "";
  return parserFor(wrapper)?.kind === "bot" ? wrapper : programId;
}

function nftsOf(context: Context, { type, main, mintOfOne, source }: Classified): readonly NftFacts[] {
  if (!type.startsWith("NFT_")) return [];
  if (main.length === 0) return mintOfOne === null ? [] : [mintedFacts(context, mintOfOne, source)];
  const facts = main.map((action) => nftFacts(context, action));
  // Several calls may be about one NFT: its metadata and its edition.
  return facts.filter(({ mint }, at) => mint === null || facts.findIndex((other) => other.mint === mint) === at);
}
