import type { AccountWrite } from "@sluice/svm/bank";
import { programs } from "@sluice/wire/programs";
import type { Transaction } from "@sluice/wire/transaction";
import type { RecordedTransaction } from "../history/index.ts";
import {
  type BankSlot,
  type ChainAccount,
  type Reward,
  type StakeHistoryEntry,
  systemAccount,
} from "../model/index.ts";
import { AccountOverlay } from "./account-overlay.ts";
import { countStakes, startEpoch } from "./epoch-start.ts";
import { epochInflation } from "./inflation.ts";
import { type EpochSchedule, EpochStakes, LeaderSchedule } from "./leader-schedule.ts";
import type { PoolKeys } from "./stake-pool/stake-pool.ts";
import { clusterStake, stakeHistory } from "./stakes/activation.ts";
import { delegations } from "./stakes/stake-account.ts";
import { type BlockBuilder, sweepTips } from "./tips/tip-programs.ts";
import type { Validators } from "./validator.ts";
import { Voting } from "./votes/voting.ts";

interface FeeDistribution {
  readonly writes: readonly AccountWrite[];
  readonly rewards: readonly Reward[];
}

/** Half of the base fees is burned; the rest and all priority fees go to the slot's leader. Source: SIMD-0096. */
export function distributeFees(
  recorded: readonly RecordedTransaction[],
  leader: string,
  read: (address: string) => ChainAccount | null,
): FeeDistribution {
  let earned = 0n;
  for (const { executed, priorityFee } of recorded) {
    const base = executed.fee - priorityFee;
    earned += base - base / 2n + priorityFee;
  }
  if (earned === 0n) return { writes: [], rewards: [] };
  const account = read(leader) ?? systemAccount(0n);
  const lamports = account.lamports + earned;
  const reward: Reward = {
    pubkey: leader,
    lamports: earned,
    postBalance: lamports,
    rewardType: "Fee",
    commission: null,
  };
  return { writes: [{ address: leader, account: { ...account, lamports } }], rewards: [reward] };
}

interface ClusterOptions {
  readonly slotMs: number;
  /** Whether votes are transactions; otherwise the chain writes the vote accounts itself. */
  readonly votes: boolean;
}

/** The parts of a genesis that the cluster works with. */
interface ClusterGenesis {
  /** The genesis hash in base58: the seed of the leader schedule. */
  readonly hashText: string;
  readonly validators: Validators;
  readonly pool: PoolKeys;
  /** Address of the account that runs the tip programs. */
  readonly tipOperator: string;
}

interface ClusterDependencies {
  readonly genesis: ClusterGenesis;
  readonly epochs: EpochSchedule;
  /** An account as it is in a slot. */
  readonly read: (address: string, slot: bigint) => ChainAccount | null;
  /** Addresses of a program's accounts in a slot. */
  readonly ofProgram: (program: string, slot: bigint) => Iterable<string>;
}

interface OpeningSlot {
  readonly slot: bigint;
  readonly parent: BankSlot;
  /** Slots between the two that earn credits though they have no block. */
  readonly votedSlots: bigint;
  readonly stakeHistory: readonly StakeHistoryEntry[];
}

/**
 * The validators and what time brings them: who leads which slot, votes, the stake of each epoch, inflation, tips, and
 * the stake pool. All of it is in accounts, which a fork takes back, but for the stakes that were counted at each
 * epoch's start; `rollback` takes those back.
 */
export class Cluster {
  readonly stakes = new EpochStakes();
  readonly leaders: LeaderSchedule;
  readonly voting: Voting;
  readonly #options: ClusterOptions;
  readonly #dependencies: ClusterDependencies;

  constructor(options: ClusterOptions, dependencies: ClusterDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    const { genesis, epochs } = dependencies;
    const { validators } = genesis;
    this.leaders = new LeaderSchedule({ seed: genesis.hashText, epochs, stakes: this.stakes, validators });
    this.voting = new Voting(validators);
  }

  /** Counts the stakes of the genesis; its accounts must be readable as of slot 0. */
  start(): void {
    countStakes({ epoch: 0n, slot: 0n, stakeHistory: [] }, { ...this.#at(0n), stakes: this.stakes });
  }

  /** Whether votes are transactions. */
  get votesLand(): boolean {
    return this.#options.votes;
  }

  #at(slot: bigint) {
    const { read, ofProgram } = this.#dependencies;
    return {
      accounts: new AccountOverlay((address) => read(address, slot)),
      ofProgram: (program: string) => ofProgram(program, slot),
    };
  }

  /** Takes back what was counted in slots after `slot`. */
  rollback(slot: bigint): void {
    this.stakes.rollback(slot);
  }

  /** The leader of a slot; the first validator where the schedule is no longer known. */
  leaderOf(slot: bigint): string {
    return (this.leaders.at(slot) ?? this.#dependencies.genesis.validators[0]).identity;
  }

  /** The stake history's entry of an epoch that ends before `slot`. */
  historyEntry(epoch: bigint, slot: bigint, before: readonly StakeHistoryEntry[]): StakeHistoryEntry {
    const { accounts, ofProgram } = this.#at(slot);
    return clusterStake(delegations(ofProgram(programs.stake), accounts), epoch, stakeHistory(before));
  }

  /**
   * What opening a slot writes before its transactions: tips change hands with the leader, an epoch's first slot
   * settles the epoch before, and votes for the parent land unless they are transactions.
   */
  open(opening: OpeningSlot): { readonly writes: readonly AccountWrite[]; readonly rewards: readonly Reward[] } {
    const { slot, parent } = opening;
    const { genesis, epochs } = this.#dependencies;
    const { accounts, ofProgram } = this.#at(slot);
    const [ended, epoch] = [epochs.epochOf(parent.slot), epochs.epochOf(slot)];
    const leader = this.leaderOf(slot);
    const leading = genesis.validators.find(({ identity }) => identity === leader);
    if (leading !== undefined) sweepTips(leading, epoch, accounts);
    if (opening.votedSlots > 0n) this.voting.presume(opening.votedSlots, epochs.epochOf(slot - 1n), accounts);
    let rewards: readonly Reward[] = [];
    if (epoch !== ended) {
      const inflation = epochInflation(
        { epoch: ended, capitalization: parent.capitalization },
        epochs,
        this.#options.slotMs,
      );
      const start = { epoch, ended, slot, inflation, stakeHistory: opening.stakeHistory };
      const { pool, tipOperator } = genesis;
      rewards = startEpoch(start, { accounts, ofProgram, stakes: this.stakes, pool, tipOperator });
    }
    if (!this.#options.votes) {
      const read = (address: string) => accounts.read(address);
      for (const { address, account } of this.voting.writes({ slot, epoch, parent, read })) {
        accounts.write(address, account);
      }
    }
    return { writes: accounts.writes, rewards };
  }

  /** The writes of the tip programs before a leader's first bundle of a slot; null when they cannot run. */
  crankTips(slot: bigint, builder: BlockBuilder | null): readonly AccountWrite[] | null {
    const { accounts } = this.#at(slot);
    const identity = this.leaderOf(slot);
    const leader = this.#dependencies.genesis.validators.find((validator) => validator.identity === identity);
    if (leader === undefined) return null;
    return sweepTips(leader, this.#dependencies.epochs.epochOf(slot), accounts, builder) ? accounts.writes : null;
  }

  /** The votes for a slot's parent as transactions of that slot; none when the chain writes them itself. */
  voteTransactions(slot: bigint, parent: BankSlot): readonly Transaction[] {
    if (!this.#options.votes) return [];
    const read = (address: string) => this.#dependencies.read(address, slot);
    return this.voting.transactions({ slot, epoch: this.#dependencies.epochs.epochOf(slot), parent, read });
  }
}
