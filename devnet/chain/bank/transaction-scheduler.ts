import type { Log } from "@sluice/lib";
import { type AccountWrite, MachineEndedError, type Svm, type SvmOutcome } from "@sluice/svm/bank";
import { MachineLock, MachineRecovery } from "./machine-access.ts";
import type { Admitted, OpenSlot, Submission } from "./open-slot.ts";
import { advancesNonce } from "./resolve.ts";

/** Entries at the front that were taken are cut off when there are so many. */
const takenMax = 4_096;

/** Submissions in their order. Its owner bounds it. */
class SubmissionQueue {
  #entries: Submission[] = [];
  #taken = 0;

  get length(): number {
    return this.#entries.length - this.#taken;
  }

  push(submission: Submission): void {
    this.#entries.push(submission);
  }

  /** Puts submissions before all others. */
  putFirst(submissions: readonly Submission[]): void {
    if (submissions.length === 0) return;
    this.#entries = [...submissions, ...this.#entries.slice(this.#taken)];
    this.#taken = 0;
  }

  first(): Submission | undefined {
    return this.#entries[this.#taken];
  }

  removeFirst(): void {
    this.#taken += 1;
    if (this.#taken < takenMax && this.#taken < this.#entries.length) return;
    this.#entries.splice(0, this.#taken);
    this.#taken = 0;
  }
}

/**
 * What the machine was given and has not answered, with all that others need to know of it before they are admitted.
 */
class InFlight {
  readonly #batches = new Set<readonly Admitted[]>();
  readonly #signatures = new Set<string>();
  #tableWriters = 0;

  get batches(): number {
    return this.#batches.size;
  }

  has(signature: string): boolean {
    return this.#signatures.has(signature);
  }

  /** A transaction counts from its admission on, until it is recorded or given up. */
  admitted({ submission, touchesTables }: Admitted): void {
    this.#signatures.add(submission.signature);
    if (touchesTables) this.#tableWriters += 1;
  }

  over({ submission, touchesTables }: Admitted): void {
    this.#signatures.delete(submission.signature);
    if (touchesTables) this.#tableWriters -= 1;
  }

  handedOver(batch: readonly Admitted[]): void {
    this.#batches.add(batch);
  }

  answered(batch: readonly Admitted[]): void {
    this.#batches.delete(batch);
  }

  /**
   * Whether the admission of a transaction depends on what is under way: on all of it when it may carry a durable
   * nonce, and when it uses lookup tables on those that could change one.
   */
  concerns({ transaction: { message } }: Submission): boolean {
    if (this.#signatures.size > 0 && advancesNonce(message)) return true;
    return this.#tableWriters > 0 && message.totalKeyCount > message.staticKeyCount;
  }

  /** Whether a transaction under way may write an account. */
  mayChange(address: string): boolean {
    for (const batch of this.#batches) {
      if (batch.some(({ machine }) => machine.writable.includes(address))) return true;
    }
    return false;
  }
}

/** Transactions of a batch. Handing one over costs about 30 µs, and its results are recorded at a stretch. */
const batchMax = 64;
/** Compute units that the transactions of a batch may ask for together, so that a batch is soon over. */
const batchUnitsMax = 6_000_000;
/**
 * Batches at the machine: it has the next one when it is done with one, and a slot's end waits for no more than these.
 */
const batchesMax = 3;
/** Transactions that an account without room puts off in one slot, before the whole block counts as full. */
const putOffMax = 1_024;
/** Times that a simulation runs at most, since the machine may end during it for a reason that is not its own. */
const simulationRunsMax = 2;

interface TransactionSchedulerOptions {
  /** Transactions that may wait for the machine; more are dropped, as a full leader drops them. */
  readonly pendingMax: number;
}

interface TransactionSchedulerDependencies {
  readonly svm: Svm;
  readonly log: Log;
  readonly open: () => OpenSlot;
  /** Every account as it is recorded now: what a new machine begins with. */
  readonly newest: () => Iterable<AccountWrite>;
}

/** Outcomes of transactions that no client is answered about, and rebuilds of the machine. */
export interface TransactionSchedulerFacts {
  readonly pending: number;
  /** Dropped because too many waited. */
  readonly dropped: number;
  /** Dropped because they ended the machine time and again. */
  readonly dangerous: number;
  /** Times that the machine was rebuilt. */
  readonly rebuilds: number;
}

/**
 * The way of transactions through the machine. Batches are handed over while earlier ones run, and their results are
 * recorded in order. A transaction whose admission depends on what is under way waits for it: for all of it when it may
 * carry a durable nonce, and when it uses lookup tables for those that could change one. What must happen alone (a
 * slot's end, a fork) waits for what is under way and for nothing that is queued. When the machine ends, it is rebuilt
 * from what is recorded, and the transactions that were under way run again, one by one.
 */
export class TransactionScheduler {
  readonly #options: TransactionSchedulerOptions;
  readonly #dependencies: TransactionSchedulerDependencies;
  readonly #queue = new SubmissionQueue();
  /** For the next slot, since an account that they write has no room in this one. */
  readonly #putOff: Submission[] = [];
  readonly #inFlight = new InFlight();
  readonly #lock = new MachineLock();
  readonly #recovery: MachineRecovery;
  #isBlockFull = false;
  #isPumpDue = false;
  #dropped = 0;

  constructor(options: TransactionSchedulerOptions, dependencies: TransactionSchedulerDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#recovery = new MachineRecovery({
      svm: dependencies.svm,
      newest: dependencies.newest,
      idle: () => this.#lock.until(() => this.#inFlight.batches === 0),
      run: async (admitted) => {
        const [outcome] = await this.#execute([admitted]);
        this.#record(admitted, outcome);
      },
      discard: (admitted, reason) => this.#giveUp(admitted, reason),
      over: (isUp) => (isUp ? this.#pumpSoon() : this.#lock.next()),
    });
  }

  get facts(): TransactionSchedulerFacts {
    const pending = this.#queue.length + this.#putOff.length;
    return { pending, dropped: this.#dropped, ...this.#recovery.facts };
  }

  /** Queues a transaction; false when too many wait. */
  submit(submission: Submission): boolean {
    if (this.#queue.length + this.#putOff.length >= this.#options.pendingMax) {
      this.#dropped += 1;
      return false;
    }
    this.#queue.push(submission);
    this.#pumpSoon();
    return true;
  }

  /** Puts transactions before all that wait. They are as many as blocks held, and no bound drops them. */
  submitFirst(submissions: readonly Submission[]): void {
    this.#queue.putFirst(submissions);
    this.#pumpSoon();
  }

  /** Another slot is open: what had no room in the last one comes first. */
  opened(): void {
    this.#isBlockFull = false;
    this.#queue.putFirst(this.#putOff.splice(0));
    this.#pumpSoon();
  }

  /** Resolves when every transaction submitted so far has run, was dropped, or waits for the next slot. */
  settled(): Promise<void> {
    const mayRun = () => this.#queue.length > 0 && !this.#isBlockFull;
    return this.#lock.until(() => !mayRun() && !this.#recovery.hasPending && this.#isQuiet());
  }

  #isQuiet(): boolean {
    return this.#inFlight.batches === 0 && !this.#recovery.isRecovering;
  }

  /**
   * Runs work with nothing under way at the machine; all else waits meanwhile. `up` mends a machine that ends during
   * it.
   */
  exclusively<T>(work: (up: () => Promise<void>) => Promise<T>): Promise<T> {
    return this.#lock.exclusive(
      () => this.#isQuiet(),
      async () => {
        await this.#recovery.up();
        return work(() => this.#recovery.up());
      },
      () => this.#pumpSoon(),
    );
  }

  /**
   * Runs a simulation between the batches. One during which the machine ends runs once more; then the fault is its own.
   */
  alongside<T>(work: () => Promise<T>): Promise<T> {
    return this.#lock.shared(async () => {
      for (let run = 1; ; run += 1) {
        await this.#recovery.up();
        try {
          return await work();
        } catch (error) {
          if (!(error instanceof MachineEndedError) || run === simulationRunsMax) throw error;
        }
      }
    });
  }

  /** Whether a transaction that is under way may write an account. */
  mayChange(address: string): boolean {
    return this.#inFlight.mayChange(address);
  }

  /** The machine runs programs that are no more: it is rebuilt before it runs anything else. */
  invalidateCaches(): void {
    this.#recovery.invalidateCaches();
  }

  /** Transactions that come together go together. */
  #pumpSoon(): void {
    if (this.#isPumpDue) return;
    this.#isPumpDue = true;
    queueMicrotask(() => {
      this.#isPumpDue = false;
      this.#pump();
    });
  }

  #pump(): void {
    const hasWork = this.#queue.length > 0 || this.#recovery.hasPending;
    if (hasWork && !this.#lock.isExclusiveWanted) this.#handOver();
    this.#lock.next();
  }

  readonly #notRestored = (error: unknown): void => {
    this.#dependencies.log.error({ error }, "the virtual machine is not restored");
  };

  #handOver(): void {
    if (!this.#recovery.isUp) {
      if (!this.#recovery.isRecovering) this.#recovery.up().catch(this.#notRestored);
      return;
    }
    while (this.#inFlight.batches < batchesMax) {
      const batch = this.#nextBatch();
      if (batch.length === 0) return;
      void this.#run(batch);
    }
  }

  #nextBatch(): Admitted[] {
    const batch: Admitted[] = [];
    let units = 0;
    while (batch.length < batchMax && units < batchUnitsMax && !this.#isBlockFull) {
      const submission = this.#queue.first();
      if (submission === undefined || this.#inFlight.concerns(submission)) break;
      if (this.#inFlight.has(submission.signature)) {
        this.#queue.removeFirst();
        continue;
      }
      const admitted = this.#dependencies.open().admit(submission);
      if (admitted === "block full") {
        this.#isBlockFull = true;
        break;
      }
      this.#queue.removeFirst();
      if (admitted === "account full") this.#putOffUntilNextSlot(submission);
      else if (admitted !== "refused") {
        batch.push(admitted);
        units += admitted.resolved.fees.unitLimit;
        this.#inFlight.admitted(admitted);
      }
    }
    return batch;
  }

  #putOffUntilNextSlot(submission: Submission): void {
    this.#putOff.push(submission);
    if (this.#putOff.length >= putOffMax) this.#isBlockFull = true;
  }

  async #run(batch: readonly Admitted[]): Promise<void> {
    this.#inFlight.handedOver(batch);
    try {
      const outcomes = await this.#execute(batch);
      batch.forEach((admitted, index) => {
        this.#record(admitted, outcomes[index]);
      });
    } catch (error) {
      if (error instanceof MachineEndedError) this.#recovery.rerun(batch);
      // A batch on which the machine fails is lost, as it is with a leader that crashes; the others run.
      else for (const admitted of batch) this.#giveUp(admitted, error);
    }
    this.#inFlight.answered(batch);
    this.#pump();
  }

  #execute(batch: readonly Admitted[]): Promise<readonly SvmOutcome[]> {
    const machine = batch.map((admitted) => admitted.machine);
    return this.#dependencies.svm.execute(machine, this.#dependencies.open().nextNonce);
  }

  #record(admitted: Admitted, outcome: SvmOutcome | undefined): void {
    this.#inFlight.over(admitted);
    try {
      if (outcome === undefined) throw new Error("the machine left out an outcome");
      this.#dependencies.open().record(admitted, outcome);
    } catch (error) {
      this.#dependencies.log.error(
        { error, signature: admitted.submission.signature },
        "a transaction is not recorded",
      );
    }
  }

  #giveUp(admitted: Admitted, reason: unknown): void {
    const { signature } = admitted.submission;
    this.#dependencies.log.error({ reason, signature }, "a transaction is dropped");
    this.#inFlight.over(admitted);
    this.#dependencies.open().release(admitted);
  }
}
