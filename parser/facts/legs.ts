import type { Context } from "../actions/context.ts";
import type { TokenMovement } from "../neutral/movements.ts";
import { isWrapped } from "../neutral/token-accounts.ts";

/** An amount of one token in its smallest unit; native currency has the mint of its wrapped form. */
export interface Leg {
  readonly mint: string;
  readonly amount: bigint;
  readonly decimals: number | null;
}

/** Tokens that one account of a wallet gave or got. */
export interface AccountLeg extends Leg {
  readonly userAccount: string;
  readonly tokenAccount: string;
}

/** What a wallet gave or got as lamports. */
export interface NativeLeg {
  readonly account: string;
  readonly lamports: bigint;
}

/** What a wallet's holdings changed by, over all accounts that are its own. */
export interface WalletChange {
  /** Tokens by mint, in the order in which they moved; wrapped native tokens are among the lamports. */
  readonly tokens: readonly AccountLeg[];
  /** Of the wallet and all its token accounts, without the fee and without what it sent to others by its own call. */
  readonly lamports: bigint;
  /** What it sent to others by transactions' own transfers: tips and fees of applications. */
  readonly sent: readonly NativeLeg[];
}

/** The accounts of a wallet: itself and its token accounts; `more` are known to be its own where no owner is told. */
export function accountsOf(context: Context, wallet: string, more: readonly string[] = []): ReadonlySet<string> {
  const accounts = new Set([wallet]);
  for (const [address, { owner }] of context.tokenAccounts) if (owner === wallet) accounts.add(address);
  for (const address of more) {
    const known = context.tokenAccounts.get(address);
    if (known !== undefined && known.owner === null) accounts.add(address);
  }
  return accounts;
}

export function walletChange(context: Context, wallet: string, more: readonly string[] = []): WalletChange {
  const own = accountsOf(context, wallet, more);
  const sent = sentByOwnCall(context, wallet, own);
  let lamports = wallet === context.feePayer ? (context.view.meta?.fee ?? 0n) : 0n;
  const { preBalances = [], postBalances = [] } = context.view.meta ?? {};
  for (let key = 0; key < postBalances.length; key += 1) {
    if (own.has(context.view.keys[key] ?? "")) lamports += (postBalances[key] ?? 0n) - (preBalances[key] ?? 0n);
  }
  for (const each of sent) lamports += each.lamports;
  return { tokens: tokenChanges(context, wallet, own), lamports, sent };
}

function sentByOwnCall({ view, movements }: Context, wallet: string, own: ReadonlySet<string>): NativeLeg[] {
  const sent: NativeLeg[] = [];
  for (const { kind, from, to, lamports, call } of movements.native) {
    if (kind !== "transfer" || call === null || view.calls[call]?.inner !== null) continue;
    if (from === wallet && to !== null && !own.has(to)) sent.push({ account: to, lamports });
  }
  return sent;
}

function tokenChanges({ movements }: Context, wallet: string, own: ReadonlySet<string>): AccountLeg[] {
  const changes = new Map<string, AccountLeg>();
  const add = ({ mint, decimals }: TokenMovement, account: string | null, amount: bigint): void => {
    if (account === null || mint === null || !own.has(account) || isWrapped(mint)) return;
    const known = changes.get(mint);
    if (known === undefined) {
      changes.set(mint, { mint, amount, decimals, userAccount: wallet, tokenAccount: account });
    } else changes.set(mint, { ...known, amount: known.amount + amount });
  };
  for (const movement of movements.tokens) {
    add(movement, movement.fromAccount, -movement.amount);
    add(movement, movement.toAccount, movement.amount - movement.fee);
  }
  return [...changes.values()].filter(({ amount }) => amount !== 0n);
}
