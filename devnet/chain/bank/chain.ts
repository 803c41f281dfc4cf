import type { Log } from "@sluice/lib";
import type { MachineFacts, Svm } from "@sluice/svm/bank";
import { encodeBase58 } from "@sluice/wire/base58";
import type { Transaction } from "@sluice/wire/transaction";
import { AccountStore } from "../accounts/index.ts";
import { type BlockBuilder, Cluster, EpochSchedule, slotYears } from "../consensus/index.ts";
import type { Genesis } from "../genesis/index.ts";
import { History } from "../history/index.ts";
import type { BankSlot, Block, ChainAccount, Commitment } from "../model/index.ts";
import { BundleStage } from "./bundles/bundle-stage.ts";
import { type BundleSimulation, type BundleSimulationRequest, simulateBundleAt } from "./bundles/simulate-bundle.ts";
import { CommitmentLadder } from "./commitment-ladder.ts";
import { type AbandonedFork, type ForkKeeps, Forks, type RevertedAddresses, replayed } from "./forks.ts";
import { BlockhashQueue, StatusCache } from "./recent-blocks.ts";
import { type Simulation, type SimulationBank, type SimulationRequest, simulateAt } from "./simulation.ts";
import { SlotSysvars } from "./slot-sysvars.ts";
import { blockOf, Slots } from "./slots.ts";
import { TransactionScheduler, type TransactionSchedulerFacts } from "./transaction-scheduler.ts";

export interface ChainOptions {
  /** Nominal length of a slot; the caller of `closeSlot` keeps the time. */
  readonly slotMs: number;
  readonly slotsPerEpoch: bigint;
  /** Slots after which a frozen slot is confirmed, and finalized. */
  readonly confirmedAfter: number;
  readonly finalizedAfter: number;
  readonly slotsMax: number;
  readonly transactionsMax: number;
  /** Whether the validators' votes are transactions. */
  readonly votes: boolean;
  /** Transactions that may wait for the machine; more are dropped, as a full leader drops them. */
  readonly pendingMax: number;
}

interface ChainDependencies {
  readonly svm: Svm;
  readonly log: Log;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** Events of the chain, in the order in which they happen. */
interface ChainListener {
  received(signature: string): void;
  opened(slot: bigint, parent: bigint): void;
  frozen(bank: BankSlot, block: Block): void;
  confirmed(bank: BankSlot): void;
  finalized(bank: BankSlot): void;
  /**
   * Slots after `parent`, oldest first, the open one last, are no longer part of the chain, nor is what was written in
   * those that were frozen.
   */
  abandoned?(parent: BankSlot, slots: readonly bigint[], reverted: RevertedAddresses): void;
}

/** How a slot opens. */
interface Opening {
  /** Slots that are left out before it; they never have a block. */
  readonly skip?: bigint;
  /** Listeners are notified by `announceOpen` later. */
  readonly silent?: boolean;
  /** The slots left out earn the validators what votes for them would have. */
  readonly voted?: boolean;
}

/**
 * The chain: an open slot into which submitted transactions go in order of arrival, and the frozen slots behind it.
 * Transactions and simulations share the machine; the slot is closed, and forks happen, with neither under way. Readers
 * see frozen slots only, each commitment its own. It keeps no time: its owner calls `closeSlot`.
 */
export class Chain implements AsyncDisposable {
  readonly genesis: Genesis;
  readonly accounts = new AccountStore();
  readonly history: History;
  readonly blockhashes = new BlockhashQueue();
  readonly statuses = new StatusCache();
  readonly epochs: EpochSchedule;
  readonly cluster: Cluster;
  readonly #options: ChainOptions;
  readonly #dependencies: ChainDependencies;
  readonly #ladder: CommitmentLadder;
  readonly #sysvars: SlotSysvars;
  readonly #slots: Slots;
  readonly #forks: Forks;
  readonly #listeners = new Set<ChainListener>();
  /** A slot not above the finalized one from which account versions are kept, while a lagging view reads them. */
  oldestRead: (() => bigint) | null = null;
  /** The builder of an identity's blocks by its block engine; null while no engine names one. */
  blockBuilder: (identity: string) => BlockBuilder | null = () => null;
  readonly bundles: BundleStage;
  readonly #scheduler: TransactionScheduler;

  private constructor(options: ChainOptions, genesis: Genesis, dependencies: ChainDependencies) {
    this.genesis = genesis;
    this.#options = options;
    this.#dependencies = dependencies;
    this.history = new History(options);
    this.epochs = new EpochSchedule(options.slotsPerEpoch);
    this.cluster = new Cluster(options, {
      genesis,
      epochs: this.epochs,
      read: (address, slot) => this.accounts.get(address, slot),
      ofProgram: (program, slot) => this.accounts.ofProgram(program, slot).map(([address]) => address),
    });
    this.#sysvars = new SlotSysvars({
      epochs: this.epochs,
      historyEntry: (...ended) => this.cluster.historyEntry(...ended),
    });
    const time = BigInt(Math.floor(dependencies.now() / 1_000));
    for (const { address, account } of genesis.accounts) this.accounts.write(0n, address, account);
    this.cluster.start();
    const bank: BankSlot = {
      slot: 0n,
      parent: 0n,
      blockhash: encodeBase58(genesis.hash),
      blockHeight: 0n,
      time,
      transactionCount: 0n,
      voteCount: 0n,
      capitalization: this.accounts.lamports,
    };
    this.#ladder = new CommitmentLadder(options, bank);
    this.blockhashes.register(bank.blockhash, 0n);
    this.history.append(blockOf(bank, encodeBase58(new Uint8Array(32)), [], []), []);
    const { accounts, history, blockhashes, statuses, cluster } = this;
    const state = { accounts, history, blockhashes, statuses, cluster, sysvars: this.#sysvars };
    const programClosed = () => this.#scheduler.invalidateCaches();
    this.#slots = new Slots(bank, { state, svm: dependencies.svm, now: dependencies.now, programClosed });
    this.#forks = new Forks({ state, ladder: this.#ladder });
    this.#scheduler = new TransactionScheduler(options, {
      svm: dependencies.svm,
      log: dependencies.log,
      open: () => this.#slots.open,
      newest: () => this.#slots.newestAccounts(),
    });
    this.bundles = this.#bundleStage();
  }

  #bundleStage(): BundleStage {
    return new BundleStage({
      svm: this.#dependencies.svm,
      log: this.#dependencies.log,
      open: () => this.#slots.open,
      leaderOf: (slot) => this.cluster.leaderOf(slot),
      rootBank: () => {
        const { slot } = this.at("finalized");
        const read = (address: string) => this.accounts.get(address, slot);
        return { slot, read, isRecentSlot: (recent) => this.isRecentSlot(recent) };
      },
      exclusively: (work) => this.#scheduler.exclusively(work),
      crankTips: async () => {
        const { slot } = this.#slots.open;
        const writes = this.cluster.crankTips(slot, this.blockBuilder(this.cluster.leaderOf(slot)));
        if (writes !== null) await this.#slots.write(writes);
        return writes !== null;
      },
      invalidateCaches: () => this.#scheduler.invalidateCaches(),
    });
  }

  /** Starts a chain at its genesis, which is processed, confirmed and finalized at once, with slot 1 open. */
  static async start(options: ChainOptions, genesis: Genesis, dependencies: ChainDependencies): Promise<Chain> {
    const chain = new Chain(options, genesis, dependencies);
    await chain.#openSlot(chain.at("processed"));
    return chain;
  }

  watch(listener: ChainListener): void {
    this.#listeners.add(listener);
  }

  at(commitment: Commitment): BankSlot {
    return this.#ladder.at(commitment);
  }

  get openSlot(): bigint {
    return this.#slots.open.slot;
  }

  /** Transactions that were dropped because too many waited. */
  get dropped(): number {
    return this.#scheduler.facts.dropped;
  }

  /** Outcomes of transactions that no client is answered about, and the state of the machine. */
  get facts(): TransactionSchedulerFacts & { readonly machine: MachineFacts } {
    return { ...this.#scheduler.facts, machine: this.#dependencies.svm.facts };
  }

  /** Whether the SlotHashes sysvar of the open slot names this slot. */
  isRecentSlot(slot: bigint): boolean {
    return this.#sysvars.isRecentSlot(slot);
  }

  /**
   * Takes a transaction for the open slot. What becomes of it is seen in the blocks; a bad one just never lands.
   * `verified` says that its signatures were checked already.
   */
  submit(transaction: Transaction, verified = false, signature: string = transaction.id): void {
    if (!this.#scheduler.submit({ transaction, signature, verified })) return;
    for (const listener of this.#listeners) listener.received(signature);
  }

  /** Resolves when every transaction and bundle submitted so far has run, was dropped, or waits for another slot. */
  async settled(): Promise<void> {
    await this.bundles.settled();
    await this.#scheduler.settled();
  }

  /** Runs a transaction over the state of a commitment, or of the bank that `at` gives, keeping nothing. */
  simulate(request: SimulationRequest, at?: () => BankSlot): Promise<Simulation> {
    return this.#scheduler.alongside(() =>
      simulateAt(request, at?.() ?? this.at(request.commitment), this.#simulationDependencies()),
    );
  }

  /** Runs a bundle over a bank that `bankAt` or `tip` gave, keeping nothing. */
  simulateBundle(request: BundleSimulationRequest, bank: SimulationBank): Promise<BundleSimulation> {
    return this.#scheduler.alongside(() => simulateBundleAt(request, bank, this.#simulationDependencies()));
  }

  #simulationDependencies() {
    return {
      svm: this.#dependencies.svm,
      chain: this,
      accounts: this.accounts,
      mayChange: (address: string) => this.#scheduler.mayChange(address),
      invalidateCaches: () => this.#scheduler.invalidateCaches(),
    };
  }

  /** The bank of a slot, the open one included; null when it is older than the finalized one or not of this fork. */
  bankAt(slot: bigint): SimulationBank | null {
    return slot === this.openSlot ? this.tip : this.#ladder.find(slot);
  }

  /** The open slot as it is recorded so far. */
  get tip(): SimulationBank {
    return { ...this.at("processed"), slot: this.openSlot };
  }

  /**
   * Freezes the open slot, moves the commitments on and opens the next slot, `skip` slots after the usual one: those
   * never have a block. With `silent` listeners are not notified of the opening until `announceOpen`. With `voted` the
   * slots left out earn the validators what votes for them would have: time was moved on, and nothing went wrong.
   */
  closeSlot(skip = 0n, how: Omit<Opening, "skip"> = {}): Promise<void> {
    return this.#scheduler.exclusively(async () => {
      const { bank, block } = await this.#slots.freeze();
      const moved = this.#ladder.push(bank);
      if (moved.confirmed.length > 0) this.#forks.confirmed();
      for (const listener of this.#listeners) {
        listener.frozen(bank, block);
        for (const confirmed of moved.confirmed) listener.confirmed(confirmed);
        for (const finalized of moved.finalized) listener.finalized(finalized);
      }
      this.accounts.root(this.oldestRead?.() ?? this.at("finalized").slot);
      await this.#openSlot(bank, { skip, ...how });
    });
  }

  /** Notifies the listeners of the open slot, after a silent `closeSlot`. */
  announceOpen(): void {
    const { slot, parent } = this.#slots.open;
    for (const listener of this.#listeners) listener.opened(slot, parent.slot);
  }

  /** What is shown at `confirmed` of a branch that was confirmed and abandoned; null where there is none. */
  get abandonedFork(): AbandonedFork | null {
    return this.#forks.abandonedFork;
  }

  /** How many slots `fork` can abandon now. */
  forkDepthMax(keeps: ForkKeeps = "confirmed"): number {
    return this.#ladder.above(keeps).length;
  }

  /**
   * Abandons the newest `depth` frozen slots and the open one: state, history, statuses, blockhashes, votes and sysvars
   * are as before them. The next slot opens on the last one that stays, with its number above all that were used. With
   * `replays` the abandoned transactions run again there, in their order; those whose blockhash was abandoned too are
   * lost. Commitments stay where they are; a confirmed bank that is abandoned is shown as `abandonedFork`.
   *
   * @throws {RangeError} when a slot has reached what the fork `keeps`.
   */
  fork(
    depth: number,
    replays: boolean,
    keeps: ForkKeeps = "confirmed",
  ): Promise<{ parent: bigint; abandoned: readonly bigint[] }> {
    return this.#scheduler.exclusively(async () => {
      const { open } = this.#slots;
      const { parent, slots, reverted, transactions, ...found } = this.#forks.abandon(depth, keeps, open);
      if (found.wroteProgram) this.#scheduler.invalidateCaches();
      await this.#slots.writeMachine(found.restored);
      for (const listener of this.#listeners) listener.abandoned?.(parent, slots, reverted);
      await this.#openSlot(parent, { skip: open.slot - parent.slot });
      if (replays) this.#scheduler.submitFirst(replayed(transactions));
      return { parent: parent.slot, abandoned: slots };
    });
  }

  /** Opens the slot that is `skip` slots after the usual one. */
  async #openSlot(parent: BankSlot, { skip = 0n, silent = false, voted = false }: Opening = {}): Promise<void> {
    await this.#slots.begin(parent, parent.slot + 1n + skip, voted ? skip : 0n);
    this.#scheduler.opened();
    this.bundles.opened();
    if (!silent) this.announceOpen();
  }

  /** Years since genesis at a slot, by the nominal slot time. */
  yearsAt(slot: bigint): number {
    return slotYears(slot, this.#options.slotMs);
  }

  /** The account as of a commitment's slot. */
  account(address: string, commitment: Commitment): ChainAccount | null {
    return this.accounts.get(address, this.at(commitment).slot);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.bundles.clear();
    await this.#scheduler.exclusively(async () => undefined);
    await this.#dependencies.svm[Symbol.asyncDispose]();
  }
}
