import { type Movements, movementsOf, type NativeMovement, type TokenMovement } from "../neutral/movements.ts";
import { isWrapped } from "../neutral/token-accounts.ts";
import { tokenCalls } from "../neutral/token-calls.ts";
import type { TransactionView } from "../transaction-view.ts";

/** A token account as the transaction tells of it. */
export interface KnownTokenAccount {
  readonly mint: string;
  /** Null where the transaction does not tell it. */
  readonly owner: string | null;
  readonly decimals: number | null;
}

/** A transaction with what moved in it and whose its accounts are: what all questions about it rest on. */
export class Context {
  readonly view: TransactionView;
  readonly movements: Movements;
  readonly signers: ReadonlySet<string>;
  readonly feePayer: string;
  #accounts: ReadonlyMap<string, KnownTokenAccount> | undefined;

  constructor(view: TransactionView) {
    this.view = view;
    this.movements = movementsOf(view);
    this.signers = new Set(view.keys.slice(0, view.message.numRequiredSignatures));
    this.feePayer = view.keys[0] ?? "";
  }

  /** Token accounts by address: from balances, and those that live within the transaction. */
  get tokenAccounts(): ReadonlyMap<string, KnownTokenAccount> {
    this.#accounts ??= this.#readAccounts();
    return this.#accounts;
  }

  #readAccounts(): ReadonlyMap<string, KnownTokenAccount> {
    const { view } = this;
    const accounts = new Map<string, KnownTokenAccount>();
    for (const call of view.calls) {
      for (const each of tokenCalls(call)) {
        if (each.type !== "open") continue;
        const address = view.keys[each.account];
        const mint = view.keys[each.mint];
        const owner = typeof each.owner === "string" ? each.owner : (view.keys[each.owner] ?? null);
        if (address !== undefined && mint !== undefined) accounts.set(address, { mint, owner, decimals: null });
      }
    }
    // Of an account that changes hands, who had it before is whose movements are told.
    for (const balances of [view.meta?.postTokenBalances, view.meta?.preTokenBalances]) {
      for (const { accountIndex, mint, owner, decimals } of balances ?? []) {
        const address = view.keys[accountIndex];
        if (address === undefined) continue;
        accounts.set(address, { mint, owner: owner ?? accounts.get(address)?.owner ?? null, decimals });
      }
    }
    return accounts;
  }

  /** Token movements that calls in a range state. */
  tokensIn(start: number, end: number): readonly TokenMovement[] {
    return this.movements.tokens.filter(({ call }) => call !== null && call >= start && call < end);
  }

  /** Movements of lamports that calls in a range state, without those behind wrapped tokens. */
  lamportsIn(start: number, end: number): readonly NativeMovement[] {
    return this.movements.native.filter(
      ({ call, kind }) => call !== null && call >= start && call < end && kind !== "wrapped",
    );
  }

  /** Whether an account holds wrapped native tokens of an owner. */
  wraps(account: string, owner: string): boolean {
    const known = this.tokenAccounts.get(account);
    return known !== undefined && isWrapped(known.mint) && known.owner === owner;
  }
}
