import { invariant } from "@sluice/lib";
import type { AccountWrite } from "@sluice/svm/bank";
import { parseTransaction } from "@sluice/wire/transaction";
import type { AccountStore } from "../accounts/index.ts";
import type { RecordedTransaction } from "../history/index.ts";
import type { BankSlot, Block, ChainAccount } from "../model/index.ts";
import type { CommitmentLadder } from "./commitment-ladder.ts";
import type { OpenSlot, Submission } from "./open-slot.ts";
import type { BankState } from "./slots.ts";

type ReadAccounts = Pick<AccountStore, "get" | "find" | "ofProgram" | "largestHolders" | "richest" | "written">;

/** Addresses that were written in abandoned slots; `confirmed` lists those of slots that were confirmed. */
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

/** The commitment that a fork leaves as it is; what is below it may be abandoned. */
export type ForkKeeps = "confirmed" | "finalized";

interface ForksDependencies {
  readonly state: BankState;
  readonly ladder: CommitmentLadder;
}

/** The part of the chain that a fork abandoned. */
interface Abandonment {
  /** The newest bank that stays. */
  readonly parent: BankSlot;
  /** Oldest first, the open slot last. */
  readonly slots: readonly bigint[];
  readonly reverted: RevertedAddresses;
  /** In the order in which they ran. */
  readonly transactions: readonly RecordedTransaction[];
  /** Accounts that were written in abandoned slots, as they are now. */
  readonly restored: readonly AccountWrite[];
  /** Whether a program was written in an abandoned slot: the machine keeps what it compiled. */
  readonly wroteProgram: boolean;
}

/** Abandons the newest slots of a chain, and keeps what is still shown of a fork that was confirmed. */
export class Forks {
  readonly #dependencies: ForksDependencies;
  #abandoned: AbandonedFork | null = null;

  constructor(dependencies: ForksDependencies) {
    this.#dependencies = dependencies;
  }

  /** What is shown at `confirmed` of a fork that was confirmed and abandoned; null where there is none. */
  get abandonedFork(): AbandonedFork | null {
    return this.#abandoned;
  }

  /** A slot of the present fork was confirmed. */
  confirmed(): void {
    this.#abandoned = null;
  }

  /**
   * Takes back the newest `depth` frozen slots and the open one: accounts, history, statuses, blockhashes, stakes and
   * sysvars become what they were before. Commitments stay where they are.
   *
   * @throws {RangeError} when a slot has reached what the fork `keeps`.
   */
  abandon(depth: number, keeps: ForkKeeps, open: OpenSlot): Abandonment {
    const { state, ladder } = this.#dependencies;
    const gone = ladder.above(keeps).slice(0, depth);
    const parent = ladder.abandon(depth, keeps);
    const slots = [...gone.map(({ slot }) => slot).toReversed(), open.slot];
    const leaving = describeAbandonment(gone, ladder.at("confirmed"), state);
    const transactions = [...state.history.rollback(parent.slot), ...open.recorded];
    if (leaving.confirmed !== null) {
      this.#abandoned = new AbandonedFork({ ...leaving.confirmed, transactions }, this.#abandoned);
    }
    state.statuses.rollback(depth);
    state.blockhashes.rollback(parent.blockHeight);
    state.cluster.rollback(parent.slot);
    state.sysvars.rollback(parent);
    const wroteProgram = slots.some((slot) => this.#wroteProgram(slot));
    const restored = state.accounts.rollback(parent.slot);
    invariant(state.accounts.lamports === parent.capitalization, "a fork restores the lamports of the bank that stays");
    return { parent, slots, reverted: leaving.reverted, transactions, restored, wroteProgram };
  }

  #wroteProgram(slot: bigint): boolean {
    const { accounts } = this.#dependencies.state;
    for (const address of accounts.written(slot)) {
      if (accounts.newest(address)?.executable === true) return true;
    }
    return false;
  }
}

/** Transactions of abandoned slots as submissions, without votes: what these voted for is gone. */
export function replayed(transactions: readonly RecordedTransaction[]): Submission[] {
  return transactions.flatMap(({ executed: { bytes, signature, isVote } }) => {
    const parsed = isVote ? null : parseTransaction(bytes);
    return parsed?.ok === true ? [{ transaction: parsed.transaction, signature, verified: true }] : [];
  });
}

/**
 * What slots that are about to be abandoned have written, and what of them is still shown as confirmed; null for
 * nothing.
 */
function describeAbandonment(
  gone: readonly BankSlot[],
  bank: BankSlot,
  { accounts, history }: BankState,
): { readonly reverted: RevertedAddresses; readonly confirmed: Omit<AbandonedForkParts, "transactions"> | null } {
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
