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
  /** What it sent to others by transactions' own transfers: tips, fees of applications, payments. */
  readonly sent: readonly NativeLeg[];
  /** The same of tokens, by the accounts that got them; the changes of tokens are without them too. */
  readonly sentTokens: readonly AccountLeg[];
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
  return { ...tokenChanges(context, wallet, own), lamports, sent };
}

const isOwnCall = ({ view }: Context, call: number | null): boolean =>
  call !== null && view.calls[call]?.inner === null;

function sentByOwnCall(context: Context, wallet: string, own: ReadonlySet<string>): NativeLeg[] {
  const sent: NativeLeg[] = [];
  for (const { kind, from, to, lamports, call } of context.movements.native) {
    if (to === null || own.has(to) || !isOwnCall(context, call)) continue;
    const isWrappedOfOther = kind === "wrapped" && own.has(from ?? "") && isOfOther(context, to, wallet);
    if ((kind === "transfer" && from === wallet) || isWrappedOfOther) sent.push({ account: to, lamports });
  }
  return sent;
}

/** Whether a token account is known to be another's; where no owner is told, it may be the wallet's. */
function isOfOther({ tokenAccounts }: Context, account: string, wallet: string): boolean {
  const owner = tokenAccounts.get(account)?.owner ?? null;
  return owner !== null && owner !== wallet;
}

function tokenChanges(
  context: Context,
  wallet: string,
  own: ReadonlySet<string>,
): Pick<WalletChange, "tokens" | "sentTokens"> {
  const changes = new Map<string, AccountLeg>();
  const sentTokens: AccountLeg[] = [];
  const add = ({ mint, decimals }: TokenMovement, account: string | null, amount: bigint): void => {
    if (account === null || mint === null || !own.has(account) || isWrapped(mint)) return;
    const known = changes.get(mint);
    if (known === undefined) {
      changes.set(mint, { mint, amount, decimals, userAccount: wallet, tokenAccount: account });
    } else changes.set(mint, { ...known, amount: known.amount + amount });
  };
  for (const movement of context.movements.tokens) {
    const sent = sentLeg(context, movement, { wallet, own });
    if (sent === null) {
      add(movement, movement.fromAccount, -movement.amount);
      add(movement, movement.toAccount, movement.amount - movement.fee);
    } else if (!isWrapped(sent.mint)) sentTokens.push(sent);
  }
  return { tokens: [...changes.values()].filter(({ amount }) => amount !== 0n), sentTokens };
}

/** What a transfer of the transaction itself gives to another; null for all other movements. */
function sentLeg(
  context: Context,
  { kind, mint, decimals, amount, fromAccount, toAccount, call }: TokenMovement,
  { wallet, own }: { readonly wallet: string; readonly own: ReadonlySet<string> },
): AccountLeg | null {
  if (kind !== "transfer" || mint === null || toAccount === null || !isOwnCall(context, call)) return null;
  if (!own.has(fromAccount ?? "") || own.has(toAccount) || !isOfOther(context, toAccount, wallet)) return null;
  return { mint, amount, decimals, userAccount: wallet, tokenAccount: toAccount };
}
