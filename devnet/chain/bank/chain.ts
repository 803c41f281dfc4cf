import { createHash } from "node:crypto";
import { encodeBase58, parseTransaction, type Transaction } from "@sluice/wire";
import type { Block, ChainAccount } from "../model.ts";
import { durableNonce } from "../svm/durable-nonce.ts";
import type { AccountWrite, Svm } from "../svm/svm.ts";
import { AccountStore } from "./accounts.ts";
import { type BankSlot, type Commitment, CommitmentLadder } from "./bank-slot.ts";
import { BlockhashQueue } from "./blockhashes.ts";
import { EpochSchedule } from "./epochs.ts";
import { admit, executeTransaction, type OpenBank } from "./executor.ts";
import type { Genesis } from "./genesis.ts";
import { History, type RecordedTransaction } from "./history.ts";
import { slotYears } from "./inflation.ts";
import { signaturesValid } from "./resolve.ts";
import { type Simulation, type SimulationRequest, simulateAt } from "./simulate.ts";
import { slotRewards } from "./slot-rewards.ts";
import { hashBytes, SlotSysvars } from "./slot-sysvars.ts";
import { StatusCache } from "./status-cache.ts";
import { ValidatorVotes } from "./validator.ts";

export interface ChainOptions {
  /** Nominal length of a slot; the chain's own clock is whoever closes its slots. */
  readonly slotMs: number;
  readonly slotsPerEpoch: bigint;
  /** Slots after which a frozen slot is confirmed, and finalized. */
  readonly confirmedAfter: number;
  readonly finalizedAfter: number;
  readonly slotsMax: number;
  readonly transactionsMax: number;
  /** Transactions that may wait for the machine; more are dropped, as a full leader drops them. */
  readonly pendingMax: number;
}

export interface ChainDependencies {
  readonly svm: Svm;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** What the chain tells those who watch it, in the order in which it happens. */
export interface ChainListener {
  received(signature: string): void;
  opened(slot: bigint, parent: bigint): void;
  frozen(bank: BankSlot, block: Block): void;
  confirmed(bank: BankSlot): void;
  finalized(bank: BankSlot): void;
  /** Slots after `parent`, oldest first, the open one last, are no longer part of the chain. */
  abandoned?(parent: BankSlot, slots: readonly bigint[]): void;
}

interface OpenSlot {
  readonly slot: bigint;
  readonly parent: BankSlot;
  readonly time: bigint;
  readonly nextNonce: Uint8Array;
  readonly recorded: RecordedTransaction[];
}

/**
 * The chain: an open slot into which submitted transactions go in order of arrival, and the frozen slots behind it. One
 * thing happens at a time: a transaction runs, a simulation runs, or the slot is closed. Readers see frozen slots only,
 * each commitment its own. Time is not its business: whoever owns it calls `closeSlot`.
 */
export class Chain implements AsyncDisposable {
  readonly genesis: Genesis;
  readonly accounts = new AccountStore();
  readonly history: History;
  readonly blockhashes = new BlockhashQueue();
  readonly statuses = new StatusCache();
  readonly epochs: EpochSchedule;
  readonly votes: ValidatorVotes;
  readonly #options: ChainOptions;
  readonly #deps: ChainDependencies;
  readonly #ladder: CommitmentLadder;
  readonly #sysvars: SlotSysvars;
  readonly #listeners = new Set<ChainListener>();
  /** A slot not above the finalized one from which account versions are kept, while somebody reads behind it. */
  oldestRead: (() => bigint) | null = null;
  readonly #pending: { readonly transaction: Transaction; readonly verified: boolean }[] = [];
  #open: OpenSlot;
  #last: Promise<unknown> = Promise.resolve();
  #draining = false;
  #drained: Promise<void> = Promise.resolve();
  #dropped = 0;

  private constructor(options: ChainOptions, genesis: Genesis, deps: ChainDependencies) {
    this.genesis = genesis;
    this.#options = options;
    this.#deps = deps;
    this.history = new History(options);
    this.epochs = new EpochSchedule(options.slotsPerEpoch);
    this.#sysvars = new SlotSysvars({
      epochs: this.epochs,
      stake: () => this.votes.activatedStake,
    });
    const time = BigInt(Math.floor(deps.now() / 1_000));
    this.votes = new ValidatorVotes(genesis.validator, this.epochs, time);
    for (const { address, account } of genesis.accounts) this.accounts.write(0n, address, account);
    const bank: BankSlot = {
      slot: 0n,
      parent: 0n,
      blockhash: encodeBase58(genesis.hash),
      blockHeight: 0n,
      time,
      transactionCount: 0n,
      capitalization: this.accounts.lamports,
    };
    this.#ladder = new CommitmentLadder(options, bank);
    this.blockhashes.register(bank.blockhash, 0n);
    this.history.append(this.#block(bank, encodeBase58(new Uint8Array(32)), [], []), []);
    this.#open = this.#nextSlot(bank);
  }

  /** Starts a chain at its genesis, which is processed, confirmed and finalized at once, with slot 1 open. */
  static async start(options: ChainOptions, genesis: Genesis, deps: ChainDependencies): Promise<Chain> {
    const chain = new Chain(options, genesis, deps);
    await chain.#openSlot();
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
    return this.#dropped;
  }

  /** Whether the SlotHashes sysvar of the open slot names this slot. */
  isRecentSlot(slot: bigint): boolean {
    return this.#sysvars.isRecentSlot(slot);
  }

  /**
   * Takes a transaction for the open slot. What becomes of it is seen in the blocks; a bad one just never lands.
   * `verified` says that its signatures were checked already.
   */
  submit(transaction: Transaction, verified = false): void {
    if (this.#pending.length >= this.#options.pendingMax) {
      this.#dropped += 1;
      return;
    }
    this.#pending.push({ transaction, verified });
    for (const listener of this.#listeners) listener.received(transaction.id);
    if (!this.#draining) this.#drained = this.#drain();
  }

  /** Resolves when every transaction submitted so far has run or was dropped. */
  async settled(): Promise<void> {
    await this.#drained;
  }

  /** Runs a transaction over the state of a commitment, or of the bank that `at` gives, keeping nothing. */
  simulate(request: SimulationRequest, at?: () => BankSlot): Promise<Simulation> {
    return this.#exclusively(() =>
      simulateAt(request, at?.() ?? this.at(request.commitment), {
        ...this.#deps,
        chain: this,
        accounts: this.accounts,
      }),
    );
  }

  /**
   * Freezes the open slot, moves the commitments on and opens the next slot, `skip` slots after the usual one: those
   * never have a block. With `silent` nobody is told of the opening until `announceOpen`.
   */
  closeSlot(skip = 0n, silent = false): Promise<void> {
    return this.#exclusively(async () => {
      const { bank, block } = await this.#freeze();
      const moved = this.#ladder.push(bank);
      for (const listener of this.#listeners) {
        listener.frozen(bank, block);
        for (const confirmed of moved.confirmed) listener.confirmed(confirmed);
        for (const finalized of moved.finalized) listener.finalized(finalized);
      }
      this.accounts.root(this.oldestRead?.() ?? this.at("finalized").slot);
      this.#open = this.#nextSlot(bank, bank.slot + 1n + skip);
      await this.#openSlot(silent);
    });
  }

  /** Tells the listeners of the open slot, after a silent `closeSlot`. */
  announceOpen(): void {
    for (const listener of this.#listeners) listener.opened(this.#open.slot, this.#open.parent.slot);
  }

  /** How many slots `fork` can abandon now. */
  get forkDepthMax(): number {
    return this.#ladder.unconfirmed().length;
  }

  /**
   * Abandons the newest `depth` frozen slots, none of them confirmed, and the open one: state, history, statuses,
   * blockhashes, votes and sysvars are as before them. The next slot opens on the last one that stays, with its number
   * above all that were used. With `landAgain` the abandoned transactions are run again there, in their order; those
   * whose blockhash was abandoned too are lost. Throws RangeError when a slot is confirmed already.
   */
  fork(depth: number, landAgain: boolean): Promise<{ parent: bigint; abandoned: readonly bigint[] }> {
    return this.#exclusively(async () => {
      const open = this.#open;
      const gone = this.#ladder.unconfirmed().slice(0, depth);
      const parent = this.#ladder.abandon(depth);
      const abandoned = [...gone.map(({ slot }) => slot).toReversed(), open.slot];
      const transactions = [...this.history.rollback(parent.slot), ...open.recorded];
      this.statuses.rollback(depth);
      this.blockhashes.rollback(parent.blockHeight);
      this.votes.rollback(parent.slot);
      this.#sysvars.rollback(parent);
      await this.#deps.svm.write(this.accounts.rollback(parent.slot));
      for (const listener of this.#listeners) listener.abandoned?.(parent, abandoned);
      this.#open = this.#nextSlot(parent, open.slot + 1n);
      await this.#openSlot();
      if (landAgain) await this.#landAgain(transactions);
      return { parent: parent.slot, abandoned };
    });
  }

  async #landAgain(transactions: readonly RecordedTransaction[]): Promise<void> {
    for (const { executed } of transactions) {
      const parsed = parseTransaction(executed.bytes);
      if (parsed.ok) await this.#run(parsed.transaction, true);
    }
  }

  #exclusively<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }

  async #drain(): Promise<void> {
    this.#draining = true;
    try {
      while (this.#pending.length > 0) {
        const batch = this.#pending.splice(0);
        for (const { transaction, verified } of batch) {
          // A transaction on which the machine fails is lost, as it is with a leader that crashes; the others run.
          await this.#exclusively(() => this.#run(transaction, verified)).catch((error: unknown) =>
            console.error(error),
          );
        }
      }
    } finally {
      this.#draining = false;
    }
  }

  async #run(transaction: Transaction, verified: boolean): Promise<void> {
    const open = this.#open;
    const bank: OpenBank = {
      slot: open.slot,
      nextNonce: open.nextNonce,
      read: (address) => this.accounts.get(address, open.slot),
      isRecentSlot: (slot) => this.isRecentSlot(slot),
      isBlockhashValid: (blockhash) => this.blockhashes.isValid(blockhash, open.parent.blockHeight),
      wasProcessed: (signature) => this.statuses.slotOf(signature) !== null,
    };
    const admission = admit(transaction, bank);
    if (!admission.ok || !(verified || signaturesValid(transaction))) return;
    const position = { slot: open.slot, index: open.recorded.length };
    const recorded = await executeTransaction(admission, position, bank, {
      svm: this.#deps.svm,
      accounts: this.accounts,
    });
    if (recorded === null) return;
    open.recorded.push(recorded);
    this.statuses.add(recorded.executed.signature, open.slot);
  }

  async #freeze(): Promise<{ bank: BankSlot; block: Block }> {
    const { slot, parent, recorded, time } = this.#open;
    const { writes, rewards } = slotRewards(
      {
        slot,
        parent,
        time,
        recorded,
        rootSlot: this.at("finalized").slot,
        read: (key) => this.accounts.get(key, slot),
      },
      { validator: this.genesis.validator, votes: this.votes, epochs: this.epochs, slotMs: this.#options.slotMs },
    );
    await this.#write(slot, writes);
    const hash = createHash("sha256").update(hashBytes(parent.blockhash));
    // Blocks on two forks must not share a hash, as they do not on a real chain, where skipped slots have ticks too.
    if (slot !== parent.slot + 1n) hash.update(`slot ${slot}`);
    for (const { executed } of recorded) hash.update(executed.signature);
    const bank: BankSlot = {
      slot,
      parent: parent.slot,
      blockhash: encodeBase58(new Uint8Array(hash.digest())),
      blockHeight: parent.blockHeight + 1n,
      time,
      transactionCount: parent.transactionCount + BigInt(recorded.length),
      capitalization: this.accounts.lamports,
    };
    const block = this.#block(bank, parent.blockhash, recorded, rewards);
    this.blockhashes.register(bank.blockhash, bank.blockHeight);
    this.history.append(block, recorded);
    this.statuses.freeze();
    return { bank, block };
  }

  #block(
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

  #nextSlot(parent: BankSlot, slot = parent.slot + 1n): OpenSlot {
    const now = BigInt(Math.floor(this.#deps.now() / 1_000));
    return {
      slot,
      parent,
      time: now > parent.time ? now : parent.time,
      nextNonce: durableNonce(hashBytes(parent.blockhash)),
      recorded: [],
    };
  }

  async #openSlot(silent = false): Promise<void> {
    const { slot, time, parent } = this.#open;
    await this.#write(slot, this.#sysvars.open(slot, time, parent, this.blockhashes));
    if (!silent) this.announceOpen();
  }

  async #write(slot: bigint, writes: readonly AccountWrite[]): Promise<void> {
    await this.#deps.svm.write(writes);
    for (const { address, account } of writes) this.accounts.write(slot, address, account);
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
    await this.#last;
    await this.#deps.svm[Symbol.asyncDispose]();
  }
}
