import type { TokenBalance } from "@sluice/encode";
import { programs, wellKnownAddresses } from "@sluice/wire/programs";
import type { TransactionView } from "../transaction-view.ts";
import type { TokenCall } from "./token-calls.ts";

/** A token account while the calls are gone through. */
export interface TokenAccount {
  /** Index into the keys of the transaction. */
  readonly key: number;
  mint: string | null;
  /** Null where the transaction does not tell it. */
  owner: string | null;
  /** What it holds by the calls so far, in the mint's smallest unit. */
  held: bigint;
  /** Whether its mint may withhold fees of transfers: it is of Token-2022. */
  readonly mayWithhold: boolean;
}

/** Lamports that make a token account of 165 bytes rent-exempt, by the rent of every cluster so far. */
const rentOfTokenAccount = 2_039_280n;

const wrappedMints: ReadonlySet<string> = new Set([
  wellKnownAddresses.wrappedNativeMint,
  wellKnownAddresses.wrappedNativeMint2022,
]);
export const wrappedDecimals = 9;

export function isWrapped(mint: string | null): boolean {
  return mint !== null && wrappedMints.has(mint);
}

/** The token accounts of a transaction: those with balances before or after it, and those that live within it. */
export class TokenAccounts {
  readonly #view: TransactionView;
  readonly #accounts = new Map<number, TokenAccount>();
  readonly #after = new Map<number, TokenBalance>();
  readonly #decimals = new Map<string, number>();
  /** Whether the node kept token balances; records of early clusters have none. */
  readonly known: boolean;

  constructor(view: TransactionView) {
    this.#view = view;
    const { preTokenBalances: before, postTokenBalances: after } = view.meta ?? {};
    this.known = before !== null && before !== undefined && after !== null && after !== undefined;
    for (const balance of after ?? []) {
      this.#after.set(balance.accountIndex, balance);
      // What it holds by the calls begins with nothing where there was no balance before.
      this.#add(balance, 0n);
    }
    for (const balance of before ?? []) this.#add(balance, balance.amount);
  }

  #add(balance: TokenBalance, held: bigint): void {
    const { accountIndex: key, mint, owner, programId, decimals } = balance;
    this.#decimals.set(mint, decimals);
    this.#accounts.set(key, { key, mint, owner, held, mayWithhold: programId === programs.token2022 });
  }

  /** The account at a key; one that nothing told of has neither mint nor owner. */
  at(key: number): TokenAccount {
    const known = this.#accounts.get(key);
    if (known !== undefined) return known;
    const account: TokenAccount = { key, mint: null, owner: null, held: 0n, mayWithhold: false };
    this.#accounts.set(key, account);
    return account;
  }

  [Symbol.iterator](): IterableIterator<TokenAccount> {
    return this.#accounts.values();
  }

  /** What the account holds after the transaction; an account that is not there any more holds nothing. */
  amountAfter(key: number): bigint {
    return this.#after.get(key)?.amount ?? 0n;
  }

  /** Null where the transaction does not tell it. */
  decimalsOf(mint: string | null): number | null {
    if (mint === null) return null;
    return this.#decimals.get(mint) ?? (isWrapped(mint) ? wrappedDecimals : null);
  }

  /** Takes what a call says of mints and owners. `lamports` is what the account holds at that time. */
  open({ account, mint, owner }: Extract<TokenCall, { type: "open" }>): TokenAccount {
    const opened = this.at(account);
    opened.mint = this.#view.keys[mint] ?? opened.mint;
    opened.owner = typeof owner === "string" ? owner : (this.#view.keys[owner] ?? opened.owner);
    return opened;
  }

  /** Of two accounts of one transfer, what either tells of the mint holds for both. */
  sameMint(from: TokenAccount, to: TokenAccount, named: string | null): string | null {
    const mint = named ?? from.mint ?? to.mint;
    from.mint ??= mint;
    to.mint ??= mint;
    return mint;
  }
}

/** The tokens that an account of wrapped native currency holds by its lamports. */
export function wrappedBy(lamports: bigint): bigint {
  return lamports > rentOfTokenAccount ? lamports - rentOfTokenAccount : 0n;
}
