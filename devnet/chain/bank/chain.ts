import { type AccountWrite, MachineEndedError, type MachineFacts } from "@sluice/svm/bank";
import { encodeBase58 } from "@sluice/wire/base58";
import { parseTransaction, type Transaction } from "@sluice/wire/transaction";
import { AccountStore } from "../accounts/index.ts";
import { type BlockBuilder, Cluster, distributeFees, EpochSchedule, slotYears } from "../consensus/index.ts";
import type { Genesis } from "../genesis/index.ts";
import { History, type RecordedTransaction } from "../history/index.ts";
import type { BankSlot, Block, ChainAccount, Commitment } from "../model/index.ts";
import { AbandonedFork, describeAbandonment } from "./abandoned-fork.ts";
import { blockOf } from "./block-of.ts";
import { BundleStage } from "./bundles/bundle-stage.ts";
import { type BundleSimulation, type BundleSimulationRequest, simulateBundleAt } from "./bundles/simulate-bundle.ts";
import type { ChainDependencies, ChainListener, ChainOptions, ForkKeeps } from "./chain-interfaces.ts";
import { CommitmentLadder } from "./commitment-ladder.ts";
import { OpenSlot } from "./open-slot.ts";
import { BlockhashQueue, StatusCache } from "./recent-blocks.ts";
import { runVotes } from "./run-votes.ts";
import { type Simulation, type SimulationBank, type SimulationRequest, simulateAt } from "./simulation.ts";
import { SlotSysvars } from "./slot-sysvars.ts";
import { TransactionScheduler, type TransactionSchedulerFacts } from "./transaction-scheduler.ts";

/**
 * The chain: an open slot into which submitted transactions go in order of arrival, and the frozen slots behind it.
 * Transactions and simulations share the machine; the slot is closed, and forks happen, with neither under way. Readers
 * see frozen slots only, each commitment its own. Time is not its business: whoever owns it calls `closeSlot`.
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
  readonly #listeners = new Set<ChainListener>();
  /** A slot not above the finalized one from which account versions are kept, while somebody reads behind it. */
  oldestRead: (() => bigint) | null = null;
  /** Who builds an identity's blocks, as its block engine says; null while nobody says anything. */
  blockBuilder: (identity: string) => BlockBuilder | null = () => null;
  readonly bundles: BundleStage;
  readonly #scheduler: TransactionScheduler;
  #open: OpenSlot;
  #abandonedFork: AbandonedFork | null = null;

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
    this.#open = this.#nextSlot(bank);
    this.#scheduler = new TransactionScheduler(options, {
      svm: dependencies.svm,
      open: () => this.#open,
      newest: () => this.#newestAccounts(),
    });
    this.bundles = this.#bundleStage();
  }

  #bundleStage(): BundleStage {
    return new BundleStage({
      svm: this.#dependencies.svm,
      open: () => this.#open,
      leaderOf: (slot) => this.cluster.leaderOf(slot),
      rootBank: () => {
        const { slot } = this.at("finalized");
        const read = (address: string) => this.accounts.get(address, slot);
        return { slot, read, isRecentSlot: (recent) => this.isRecentSlot(recent) };
      },
      exclusively: (work) => this.#scheduler.exclusively(work),
      crankTips: async () => {
        const { slot } = this.#open;
        const writes = this.cluster.crankTips(slot, this.blockBuilder(this.cluster.leaderOf(slot)));
        if (writes !== null) await this.#write(slot, writes);
        return writes !== null;
      },
      invalidateCaches: () => this.#scheduler.invalidateCaches(),
    });
  }

  /** Starts a chain at its genesis, which is processed, confirmed and finalized at once, with slot 1 open. */
  static async start(options: ChainOptions, genesis: Genesis, dependencies: ChainDependencies): Promise<Chain> {
    const chain = new Chain(options, genesis, dependencies);
    await chain.#openSlot(chain.#open);
    return chain;
  }

  watch(listener: ChainListener): void {
    this.#listeners.add(listener);
  }

  at(commitment: Commitment): BankSlot {
    return this.#ladder.at(commitment);
  }

  get openSlot(): bigint {
    return this.#open.slot;
  }

  /** Transactions that were dropped because too many waited. */
  get dropped(): number {
    return this.#scheduler.facts.dropped;
  }

  /** What became of transactions and of the machine that nobody is answered about. */
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
   * never have a block. With `silent` nobody is told of the opening until `announceOpen`. With `voted` the slots left out
   * earn the validators what votes for them would have: time was moved on, and nothing went wrong.
   */
  closeSlot(skip = 0n, how: { readonly silent?: boolean; readonly voted?: boolean } = {}): Promise<void> {
    return this.#scheduler.exclusively(async () => {
      const { bank, block } = await this.#freeze();
      const moved = this.#ladder.push(bank);
      if (moved.confirmed.length > 0) this.#abandonedFork = null;
      for (const listener of this.#listeners) {
        listener.frozen(bank, block);
        for (const confirmed of moved.confirmed) listener.confirmed(confirmed);
        for (const finalized of moved.finalized) listener.finalized(finalized);
      }
      this.accounts.root(this.oldestRead?.() ?? this.at("finalized").slot);
      await this.#openSlot(this.#nextSlot(bank, bank.slot + 1n + skip), how.silent, how.voted ? skip : 0n);
    });
  }

  /** Tells the listeners of the open slot, after a silent `closeSlot`. */
  announceOpen(): void {
    for (const listener of this.#listeners) listener.opened(this.#open.slot, this.#open.parent.slot);
  }

  /** What is shown at `confirmed` of a branch that was confirmed and abandoned; null where there is none. */
  get abandonedFork(): AbandonedFork | null {
    return this.#abandonedFork;
  }

  /** How many slots `fork` can abandon now. */
  forkDepthMax(keeps: ForkKeeps = "confirmed"): number {
    return this.#ladder.above(keeps).length;
  }

  /**
   * Abandons the newest `depth` frozen slots and the open one: state, history, statuses, blockhashes, votes and sysvars are as
   * before them. The next slot opens on the last one that stays, with its number above all that were used. With `landAgain`
   * the abandoned transactions are run again there, in their order; those whose blockhash was abandoned too are lost.
   * Commitments stay where they are; a confirmed bank that is abandoned is `left`. Throws RangeError when a slot has
   * reached what the fork `keeps`.
   */
  fork(
    depth: number,
    landAgain: boolean,
    keeps: ForkKeeps = "confirmed",
  ): Promise<{ parent: bigint; abandoned: readonly bigint[] }> {
    return this.#scheduler.exclusively(async () => {
      const open = this.#open;
      const gone = this.#ladder.above(keeps).slice(0, depth);
      const parent = this.#ladder.abandon(depth, keeps);
      const abandoned = [...gone.map(({ slot }) => slot).toReversed(), open.slot];
      const leaving = describeAbandonment(gone, this);
      const transactions = [...this.history.rollback(parent.slot), ...open.recorded];
      if (leaving.confirmed !== null) {
        this.#abandonedFork = new AbandonedFork({ ...leaving.confirmed, transactions }, this.#abandonedFork);
      }
      this.statuses.rollback(depth);
      this.blockhashes.rollback(parent.blockHeight);
      this.cluster.rollback(parent.slot);
      this.#sysvars.rollback(parent);
      if (abandoned.some((slot) => this.#wroteProgram(slot))) this.#scheduler.invalidateCaches();
      await this.#writeMachine(this.accounts.rollback(parent.slot));
      for (const listener of this.#listeners) listener.abandoned?.(parent, abandoned, leaving.reverted);
      await this.#openSlot(this.#nextSlot(parent, open.slot + 1n));
      if (landAgain) this.#landAgain(transactions);
      return { parent: parent.slot, abandoned };
    });
  }

  #landAgain(transactions: readonly RecordedTransaction[]): void {
    // What was voted for is gone, and the votes with it.
    const again = transactions.filter(({ executed }) => !executed.isVote);
    const submissions = again.flatMap(({ executed: { bytes, signature } }) => {
      const parsed = parseTransaction(bytes);
      return parsed.ok ? [{ transaction: parsed.transaction, signature, verified: true }] : [];
    });
    this.#scheduler.submitFirst(submissions);
  }

  /** Whether a program was written in a slot that is not yet rooted: the machine keeps what it compiled. */
  #wroteProgram(slot: bigint): boolean {
    for (const address of this.accounts.written(slot)) {
      if (this.accounts.newest(address)?.executable === true) return true;
    }
    return false;
  }

  async #freeze(): Promise<{ bank: BankSlot; block: Block }> {
    const { slot, parent, recorded, time } = this.#open;
    const fees = distributeFees(recorded, this.cluster.leaderOf(slot), (key) => this.accounts.get(key, slot));
    const rewards = [...this.#open.rewards, ...fees.rewards];
    await this.#write(slot, fees.writes);
    const bank: BankSlot = {
      slot,
      parent: parent.slot,
      blockhash: encodeBase58(this.#open.blockhash()),
      blockHeight: parent.blockHeight + 1n,
      time,
      transactionCount: parent.transactionCount + BigInt(recorded.length),
      voteCount: parent.voteCount + BigInt(recorded.filter(({ executed }) => executed.isVote).length),
      capitalization: this.accounts.lamports,
    };
    const block = blockOf(bank, parent.blockhash, recorded, rewards);
    this.blockhashes.register(bank.blockhash, bank.blockHeight);
    this.history.append(block, recorded);
    this.statuses.freeze();
    return { bank, block };
  }

  #nextSlot(parent: BankSlot, slot = parent.slot + 1n): OpenSlot {
    const now = BigInt(Math.floor(this.#dependencies.now() / 1_000));
    const { accounts, blockhashes, statuses, history } = this;
    const time = now > parent.time ? now : parent.time;
    return new OpenSlot(
      { slot, parent, time },
      {
        accounts,
        blockhashes,
        statuses,
        history,
        isRecentSlot: (recent) => this.isRecentSlot(recent),
        programClosed: () => this.#scheduler.invalidateCaches(),
      },
    );
  }

  async #openSlot(open: OpenSlot, silent = false, votedSlots = 0n): Promise<void> {
    this.#open = open;
    const { slot, time, parent } = open;
    await this.#write(slot, this.#sysvars.open(slot, time, parent, this.blockhashes));
    const { stakeHistory } = this.#sysvars;
    const { writes, rewards } = this.cluster.open({ slot, parent, votedSlots, stakeHistory });
    await this.#write(slot, writes);
    open.rewards = rewards;
    // The votes for the slot before come first.
    await runVotes(this.cluster.voteTransactions(open.slot, open.parent), open, this.#dependencies.svm);
    this.#scheduler.opened();
    this.bundles.opened();
    if (!silent) this.announceOpen();
  }

  async #write(slot: bigint, writes: readonly AccountWrite[]): Promise<void> {
    for (const { address, account } of writes) this.accounts.write(slot, address, account);
    await this.#writeMachine(writes);
  }

  /** A machine that has ended gets what is recorded when it is rebuilt. */
  async #writeMachine(writes: readonly AccountWrite[]): Promise<void> {
    try {
      await this.#dependencies.svm.write(writes);
    } catch (error) {
      if (!(error instanceof MachineEndedError)) throw error;
    }
  }

  /** Programs come behind the files that they run: the machine loads a program when it is written. */
  *#newestAccounts(): Generator<AccountWrite> {
    const programs: AccountWrite[] = [];
    for (const [address, account] of this.accounts.all(this.#open.slot)) {
      if (account.executable) programs.push({ address, account });
      else yield { address, account };
    }
    yield* programs;
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
