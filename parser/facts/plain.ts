import { readU64 } from "@sluice/wire/bytes";
import { programs } from "@sluice/wire/programs";
import type { Context } from "../actions/context.ts";
import { nftMovesIn } from "../actions/nft-moves.ts";
import type { Action } from "../actions/read-actions.ts";
import { accountOf, closingsOf } from "../classify/plain.ts";
import { tipAccounts } from "../classify/tip-accounts.ts";
import { compressedFacts } from "./compressed.ts";
import type { Leg } from "./legs.ts";

/** One movement of a transfer. Ends are wallets, or token accounts whose owner is not told. */
export interface TransferFacts {
  readonly from: string | null;
  readonly to: string | null;
  /** Null is native currency. */
  readonly mint: string | null;
  /** What arrives, in the smallest unit. */
  readonly amount: bigint;
  /** What the mint withheld on its way: it left the sender beside the amount. */
  readonly fee: bigint;
  readonly decimals: number | null;
  readonly fromTokenAccount: string | null;
  readonly toTokenAccount: string | null;
  /** Whether it goes to an account that takes tips for bundles. */
  readonly tip: boolean;
}

export interface CreatedAccount {
  readonly account: string;
  readonly payer: string;
  readonly lamports: bigint;
}

export interface ClosedAccount {
  readonly account: string;
  readonly rentTo: string | null;
  /** Who may close it and did. */
  readonly owner: string | null;
  readonly lamports: bigint;
}

export interface StakeFacts {
  readonly user: string;
  /** The stake account, or the pool. */
  readonly account: string;
  readonly voteAccount: string | null;
  /** Null where the call moves nothing and states nothing. */
  readonly lamports: bigint | null;
}

export interface LiquidityFacts {
  readonly type: "ADD" | "REMOVE" | "CREATE_POOL";
  readonly source: string;
  readonly programId: string;
  readonly user: string;
  readonly pool: string | null;
  readonly tokens: readonly Leg[];
}

/** What a transfer moved, in the order of execution. */
export function transferFacts(context: Context, actions: readonly Action[]): TransferFacts[] {
  const transfers: TransferFacts[] = [];
  for (const action of actions) {
    const { start, end } = action;
    if (action.does === "asset_transfer") {
      transfers.push(...assetTransfers(context, action));
      continue;
    }
    for (const { kind, from, to, lamports } of context.lamportsIn(start, end)) {
      if (kind !== "transfer" && kind !== "withdraw") continue;
      const ends = { from, to, fromTokenAccount: null, toTokenAccount: null };
      transfers.push({
        ...ends,
        mint: null,
        amount: lamports,
        fee: 0n,
        decimals: 9,
        tip: to !== null && tipAccounts.has(to),
      });
    }
    for (const each of context.tokensIn(start, end)) {
      if (each.kind !== "transfer") continue;
      transfers.push({
        from: each.fromOwner ?? each.fromAccount,
        to: each.toOwner ?? each.toAccount,
        mint: each.mint,
        amount: each.amount - each.fee,
        fee: each.fee,
        decimals: each.decimals,
        fromTokenAccount: each.fromAccount,
        toTokenAccount: each.toAccount,
        tip: false,
      });
    }
  }
  return transfers;
}

/** Of an NFT that is no unit of a token, or is moved by the program of its metadata. */
function assetTransfers(context: Context, action: Action): TransferFacts[] {
  const compressed = compressedFacts(context, action);
  const one = { amount: 1n, fee: 0n, decimals: 0, fromTokenAccount: null, toTokenAccount: null, tip: false };
  if (compressed !== null) {
    // Without the event of its leaf nothing names it.
    if (compressed.assetId === null) return [];
    return [{ ...one, mint: compressed.assetId, from: compressed.oldLeafOwner, to: compressed.newLeafOwner }];
  }
  return nftMovesIn(context, action.start, action.end).map(({ mint, from, to }) => ({ ...one, mint, from, to }));
}

export function createdFacts(context: Context, actions: readonly Action[]): CreatedAccount[] {
  return actions.map((action) => {
    const account = accountOf(context, action);
    const paid = context.lamportsIn(action.start, action.end).filter(({ to }) => to === account);
    const lamports = paid.reduce((sum, each) => sum + each.lamports, 0n);
    return { account, payer: paid[0]?.from ?? context.feePayer, lamports };
  });
}

export function closedFacts(context: Context, actions: readonly Action[]): ClosedAccount[] {
  return actions.flatMap((action) =>
    closingsOf(context, action).map(({ account, owner }) => {
      const paid = context.lamportsIn(action.start, action.end).filter(({ from }) => from === account);
      const lamports = paid.reduce((sum, each) => sum + each.lamports, 0n);
      return { account, rentTo: paid[0]?.to ?? null, owner: owner === "" ? null : owner, lamports };
    }),
  );
}

/** Instructions that state how many lamports they move, with the offset. */
const stated: Readonly<Record<string, number>> = {
  withdraw: 4,
  depositSol: 1,
  depositSolWithSlippage: 1,
  deposit: 8,
};

export function stakeFacts(context: Context, actions: readonly Action[]): StakeFacts[] {
  return actions.flatMap(({ instruction, start, programId }) => {
    const call = context.view.calls[start];
    if (call === undefined) return [];
    const account = context.view.accountOf(call, 0);
    const named = instruction.user === undefined ? "" : context.view.accountOf(call, instruction.user);
    const user = named === "" ? context.feePayer : named;
    const offset = stated[instruction.name];
    const delegated = programId === programs.stake && instruction.name === "delegateStake";
    const voteAccount = delegated ? context.view.accountOf(call, 1) : null;
    if (offset !== undefined && call.data.length >= offset + 8) {
      return [{ user, account, voteAccount, lamports: readU64(call.data, offset) }];
    }
    return [{ user, account, voteAccount, lamports: delegated ? stakedLamports(context, account) : null }];
  });
}

/** What a stake account got, or has where it got nothing in this transaction. */
function stakedLamports({ movements, view }: Context, account: string): bigint | null {
  const got = movements.native.filter(({ to }) => to === account).reduce((sum, { lamports }) => sum + lamports, 0n);
  return got > 0n ? got : (view.meta?.postBalances[view.keys.indexOf(account)] ?? null);
}

const liquidityTypes = { add_liquidity: "ADD", remove_liquidity: "REMOVE", create_pool: "CREATE_POOL" } as const;

/** What went into pools and came out of them. */
export function liquidityFacts(context: Context, actions: readonly Action[]): LiquidityFacts[] {
  if (!context.view.succeeded) return [];
  return actions.flatMap(({ does, parser, programId, instruction, start, end }) => {
    if (does !== "add_liquidity" && does !== "remove_liquidity" && does !== "create_pool") return [];
    const call = context.view.calls[start];
    const at = (position: number | undefined): string | null =>
      call === undefined || position === undefined ? null : context.view.accountOf(call, position);
    const named = at(instruction.user);
    const user = named !== null && context.signers.has(named) ? named : context.feePayer;
    const source = parser?.source ?? "unknown";
    const tokens = movedInto(context, { removed: does === "remove_liquidity", user }, [start, end]);
    return [{ type: liquidityTypes[does], source, programId, user, pool: at(instruction.pool), tokens }];
  });
}

function movedInto(
  context: Context,
  { removed, user }: { readonly removed: boolean; readonly user: string },
  [start, end]: readonly [number, number],
): readonly Leg[] {
  const legs = new Map<string, Leg>();
  for (const { kind, mint, amount, fee, decimals, fromOwner, toOwner } of context.tokensIn(start, end)) {
    const ours = removed ? toOwner === user && fromOwner !== user : fromOwner === user && toOwner !== user;
    if (kind !== "transfer" || mint === null || !ours) continue;
    const moved = (legs.get(mint)?.amount ?? 0n) + (removed ? amount - fee : amount);
    legs.set(mint, { mint, amount: moved, decimals });
  }
  return [...legs.values()];
}
