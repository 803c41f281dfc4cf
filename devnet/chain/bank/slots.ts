import { invariant } from "@sluice/lib";
import { type AccountWrite, MachineEndedError, type Svm } from "@sluice/svm/bank";
import { encodeBase58 } from "@sluice/wire/base58";
import type { Transaction } from "@sluice/wire/transaction";
import type { AccountStore } from "../accounts/index.ts";
import { type Cluster, distributeFees } from "../consensus/index.ts";
import type { History, RecordedTransaction } from "../history/index.ts";
import type { BankSlot, Block } from "../model/index.ts";
import { OpenSlot } from "./open-slot.ts";
import type { BlockhashQueue, StatusCache } from "./recent-blocks.ts";
import type { SlotSysvars } from "./slot-sysvars.ts";

/** The state that a chain keeps of its slots. Each part can take back what it holds of abandoned slots. */
export interface BankState {
  readonly accounts: AccountStore;
  readonly history: History;
  readonly blockhashes: BlockhashQueue;
  readonly statuses: StatusCache;
  readonly cluster: Cluster;
  readonly sysvars: SlotSysvars;
}

interface SlotsDependencies {
  readonly state: BankState;
  readonly svm: Svm;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** A program has no code any more, which the machine's cache does not notice. */
  readonly programClosed: () => void;
}

/** The block of a frozen slot. */
export function blockOf(
  bank: BankSlot,
  previousBlockhash: string,
  recorded: readonly RecordedTransaction[],
  rewards: Block["rewards"],
): Block {
  return {
    slot: bank.slot,
    parentSlot: bank.parent,
    blockhash: bank.blockhash,
    previousBlockhash,
    blockTime: bank.time,
    blockHeight: bank.blockHeight,
    transactions: recorded.map(({ executed }) => executed),
    rewards,
  };
}

/** Runs votes in an open slot, all at once. When the machine ends during it, these votes are lost. */
async function runVotes(votes: readonly Transaction[], open: OpenSlot, svm: Pick<Svm, "execute">): Promise<void> {
  const admitted = votes.flatMap((transaction) => {
    const found = open.admit({ transaction, signature: transaction.id, verified: true });
    return typeof found === "string" ? [] : [found];
  });
  if (admitted.length === 0) return;
  try {
    const machine = admitted.map((vote) => vote.machine);
    const outcomes = await svm.execute(machine, open.nextNonce);
    for (const [index, outcome] of outcomes.entries()) {
      const vote = admitted[index];
      if (vote !== undefined) open.record(vote, outcome);
    }
  } catch (error) {
    if (!(error instanceof MachineEndedError)) throw error;
    for (const vote of admitted) open.release(vote);
  }
}

/**
 * The life of a slot: it opens with its sysvars, rewards and votes, takes transactions, and is frozen into a bank and a
 * block. Both ends write accounts to the store and to the machine.
 */
export class Slots {
  readonly #dependencies: SlotsDependencies;
  #open: OpenSlot;

  /** The slot after `genesis` takes no transactions before `begin` opened it. */
  constructor(genesis: BankSlot, dependencies: SlotsDependencies) {
    this.#dependencies = dependencies;
    this.#open = this.#next(genesis, genesis.slot + 1n);
  }

  get open(): OpenSlot {
    return this.#open;
  }

  /** Opens a slot on a frozen bank. Votes for the bank come first; `votedSlots` without a block earn credits too. */
  async begin(parent: BankSlot, slot = parent.slot + 1n, votedSlots = 0n): Promise<void> {
    const { state, svm } = this.#dependencies;
    const open = this.#next(parent, slot);
    this.#open = open;
    invariant(state.accounts.lamports === parent.capitalization, "a slot opens with the lamports of its parent");
    await this.write(state.sysvars.open(slot, open.time, parent, state.blockhashes));
    const { stakeHistory } = state.sysvars;
    const { writes, rewards } = state.cluster.open({ slot, parent, votedSlots, stakeHistory });
    await this.write(writes);
    open.rewards = rewards;
    const issued = rewards.reduce((sum, { lamports }) => sum + lamports, 0n);
    invariant(
      state.accounts.lamports === parent.capitalization + issued,
      "opening a slot adds the lamports of its rewards and no others",
    );
    await runVotes(state.cluster.voteTransactions(slot, parent), open, svm);
  }

  /** Ends the open slot: pays its leader, records its block and gives the bank. */
  async freeze(): Promise<{ bank: BankSlot; block: Block }> {
    const { accounts, blockhashes, cluster, history, statuses } = this.#dependencies.state;
    const { slot, parent, recorded, time } = this.#open;
    const fees = distributeFees(recorded, cluster.leaderOf(slot), (key) => accounts.get(key, slot));
    const rewards = [...this.#open.rewards, ...fees.rewards];
    await this.write(fees.writes);
    this.#checkLamports(rewards);
    const bank: BankSlot = {
      slot,
      parent: parent.slot,
      blockhash: encodeBase58(this.#open.blockhash()),
      blockHeight: parent.blockHeight + 1n,
      time,
      transactionCount: parent.transactionCount + BigInt(recorded.length),
      voteCount: parent.voteCount + BigInt(recorded.filter(({ executed }) => executed.isVote).length),
      capitalization: accounts.lamports,
    };
    const block = blockOf(bank, parent.blockhash, recorded, rewards);
    blockhashes.register(bank.blockhash, bank.blockHeight);
    history.append(block, recorded);
    statuses.freeze();
    return { bank, block };
  }

  /**
   * Fees leave the accounts of their payers and rewards enter those of their receivers; nothing else may change the
   * sum.
   */
  #checkLamports(rewards: Block["rewards"]): void {
    const { parent, recorded } = this.#open;
    let expected = parent.capitalization;
    for (const { executed } of recorded) expected -= executed.fee;
    for (const { lamports } of rewards) expected += lamports;
    const { lamports } = this.#dependencies.state.accounts;
    invariant(lamports === expected, "a slot conserves lamports but for fees and rewards");
  }

  #next(parent: BankSlot, slot: bigint): OpenSlot {
    const { state, now, programClosed } = this.#dependencies;
    const seconds = BigInt(Math.floor(now() / 1_000));
    const time = seconds > parent.time ? seconds : parent.time;
    const isRecentSlot = (recent: bigint) => state.sysvars.isRecentSlot(recent);
    return new OpenSlot({ slot, parent, time }, { ...state, isRecentSlot, programClosed });
  }

  /** Writes accounts in the open slot, to the store and to the machine. */
  async write(writes: readonly AccountWrite[]): Promise<void> {
    const { accounts } = this.#dependencies.state;
    for (const { address, account } of writes) accounts.write(this.#open.slot, address, account);
    await this.writeMachine(writes);
  }

  /** A machine that has ended gets what is recorded when it is rebuilt. */
  async writeMachine(writes: readonly AccountWrite[]): Promise<void> {
    try {
      await this.#dependencies.svm.write(writes);
    } catch (error) {
      if (!(error instanceof MachineEndedError)) throw error;
    }
  }

  /**
   * Every account as it is now. Programs come after the accounts that hold their code: a machine loads a program when
   * it is written.
   */
  *newestAccounts(): Generator<AccountWrite> {
    const programs: AccountWrite[] = [];
    for (const [address, account] of this.#dependencies.state.accounts.all(this.#open.slot)) {
      if (account.executable) programs.push({ address, account });
      else yield { address, account };
    }
    yield* programs;
  }
}
