import type { AccountStore } from "../accounts/index.ts";
import type { History, RecordedTransaction } from "../history/index.ts";
import type { BankSlot, Block, ChainAccount, Commitment } from "../model/index.ts";

type ReadAccounts = Pick<AccountStore, "get" | "find" | "ofProgram" | "largestHolders" | "richest" | "written">;

/** Addresses that were written in abandoned slots, by what was told of these: `confirmed` in those that were confirmed. */
export type RevertedAddresses = Readonly<Record<"processed" | "confirmed", ReadonlySet<string>>>;

interface AbandonedForkParts {
  /** The confirmed bank, whose slot is abandoned. */
  readonly bank: BankSlot;
  /** Abandoned blocks up to it. */
  readonly blocks: readonly Block[];
  readonly transactions: readonly RecordedTransaction[];
  /** What was written in abandoned slots, as it is in the bank. */
  readonly accounts: ReadonlyMap<string, ChainAccount | null>;
}

/**
 * A branch that was confirmed and then abandoned. A node's confirmed bank goes forward only: until a newer slot is
 * confirmed on the branch that won, calls at `confirmed` are answered from this one. Source: Agave, rpc,
 * optimistically_confirmed_bank_tracker.
 */
export class AbandonedFork {
  readonly bank: BankSlot;
  readonly #blocks: ReadonlyMap<bigint, Block>;
  readonly #transactions: ReadonlyMap<string, RecordedTransaction>;
  readonly #accounts: ReadonlyMap<string, ChainAccount | null>;

  /** With `before`, a branch that was left from the same bank and of which still more is abandoned now. */
  constructor({ bank, blocks, transactions, accounts }: AbandonedForkParts, before: AbandonedFork | null) {
    this.bank = bank;
    const [held, landed, read] =
      before === null ? [[], [], []] : [before.#blocks, before.#transactions, before.#accounts];
    this.#blocks = new Map([...blocks.map((block) => [block.slot, block] as const), ...held]);
    this.#transactions = new Map([...transactions.map((each) => [each.executed.signature, each] as const), ...landed]);
    this.#accounts = new Map([...accounts, ...read]);
  }

  block(slot: bigint): Block | null {
    return this.#blocks.get(slot) ?? null;
  }

  /** Whether a blockhash is that of a block here. */
  holdsBlockhash(blockhash: string): boolean {
    return [...this.#blocks.values()].some((block) => block.blockhash === blockhash);
  }

  transaction(signature: string): RecordedTransaction | null {
    return this.#transactions.get(signature) ?? null;
  }

  /** Slots from `first` to `last` inclusive that have a block here. */
  slots(first: bigint, last: bigint): bigint[] {
    return [...this.#blocks.keys()].filter((slot) => slot >= first && slot <= last).toSorted((a, b) => Number(a - b));
  }

  /** Accounts of which those that are read one by one at the bank's slot are as they are there. */
  over(store: AccountStore): ReadAccounts {
    return {
      get: (address, slot) => {
        const held = slot === this.bank.slot ? this.#accounts.get(address) : undefined;
        return held === undefined ? store.get(address, slot) : held;
      },
      find: (...asked) => store.find(...asked),
      ofProgram: (...asked) => store.ofProgram(...asked),
      largestHolders: (...asked) => store.largestHolders(...asked),
      richest: (...asked) => store.richest(...asked),
      written: (slot) => store.written(slot),
    };
  }
}

interface AbandoningChain {
  readonly accounts: AccountStore;
  readonly history: History;
  at(commitment: Commitment): BankSlot;
}

/** What slots that are about to be abandoned have written, and what of them is still shown as confirmed; null for nothing. */
export function describeAbandonment(
  gone: readonly BankSlot[],
  chain: AbandoningChain,
): { readonly reverted: RevertedAddresses; readonly confirmed: Omit<AbandonedForkParts, "transactions"> | null } {
  const { accounts, history } = chain;
  const bank = chain.at("confirmed");
  const shown = gone.filter(({ slot }) => slot <= bank.slot);
  const written = (slots: readonly BankSlot[]) => new Set(slots.flatMap(({ slot }) => [...accounts.written(slot)]));
  const reverted = { processed: written(gone), confirmed: written(shown) };
  if (shown.length === 0) return { reverted, confirmed: null };
  // The transactions are read while they are kept.
  const blocks = shown.flatMap(({ slot }) => {
    const block = history.block(slot);
    return block === null ? [] : [{ ...block }];
  });
  const held = new Map([...reverted.processed].map((address) => [address, accounts.get(address, bank.slot)]));
  return { reverted, confirmed: { bank, blocks, accounts: held } };
}
