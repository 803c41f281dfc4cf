import { type AccountWrite, MachineEndedError, type Svm } from "@sluice/svm/bank";
import type { Admitted } from "./open-slot.ts";

/** Works that run together at most, and that may wait for it; more are refused. */
const sharedMax = 64;
const sharedWaitingMax = 10_000;

/**
 * Who may go next: works that run together with others, and works that run alone. One that wants to be alone goes
 * before all that come after it, and waits for those that run. Conditions are looked at whenever `next` is called.
 */
export class MachineLock {
  readonly #exclusiveWaiting: { readonly ready: () => boolean; readonly start: () => void }[] = [];
  readonly #waiting: (() => void)[] = [];
  #watched: { readonly condition: () => boolean; readonly met: () => void }[] = [];
  #isExclusive = false;
  #sharedRunning = 0;

  /** Whether something runs alone or waits for it. */
  get isExclusiveWanted(): boolean {
    return this.#isExclusive || this.#exclusiveWaiting.length > 0;
  }

  /** Runs work when nothing runs together and `ready` holds; `after` is called when it is over. */
  async exclusive<T>(ready: () => boolean, work: () => Promise<T>, after: () => void): Promise<T> {
    const turn = Promise.withResolvers<void>();
    this.#exclusiveWaiting.push({ ready, start: turn.resolve });
    this.next();
    await turn.promise;
    try {
      return await work();
    } finally {
      this.#isExclusive = false;
      this.next();
      after();
    }
  }

  /** Runs work beside others of its kind. Throws when too many wait. */
  async shared<T>(work: () => Promise<T>): Promise<T> {
    if (this.#waiting.length >= sharedWaitingMax) throw new Error("too many simulations wait");
    const turn = Promise.withResolvers<void>();
    this.#waiting.push(turn.resolve);
    this.next();
    await turn.promise;
    try {
      return await work();
    } finally {
      this.#sharedRunning -= 1;
      this.next();
    }
  }

  /** Resolves when a condition holds: at once, or at a call of `next`. */
  until(condition: () => boolean): Promise<void> {
    if (condition()) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#watched.push({ condition, met: resolve });
    return promise;
  }

  #notifyWatchers(): void {
    this.#watched = this.#watched.filter(({ condition, met }) => {
      if (!condition()) return true;
      met();
      return false;
    });
  }

  /** Conditions may have changed: starts all work that may start now. */
  next(): void {
    if (this.#watched.length > 0) this.#notifyWatchers();
    const first = this.#exclusiveWaiting[0];
    if (first !== undefined && !this.#isExclusive && this.#sharedRunning === 0 && first.ready()) {
      this.#exclusiveWaiting.shift();
      this.#isExclusive = true;
      first.start();
    }
    while (!this.isExclusiveWanted && this.#sharedRunning < sharedMax) {
      const start = this.#waiting.shift();
      if (start === undefined) return;
      this.#sharedRunning += 1;
      start();
    }
  }
}

/** Times that a transaction may end the machine while it runs alone. */
const deathsMax = 2;
/** Attempts to bring a machine up before the chain gives up until it is asked for something again. */
const rebuildsMax = 5;

interface RecoveryDependencies {
  readonly svm: Svm;
  /** Every account as it is recorded now: what a new machine begins with. */
  readonly newest: () => Iterable<AccountWrite>;
  /** Resolves when nothing is under way at the machine. */
  readonly idle: () => Promise<void>;
  /** Runs one transaction and records what becomes of it. */
  readonly run: (admitted: Admitted) => Promise<void>;
  readonly discard: (admitted: Admitted, reason: unknown) => void;
  /** Called after each attempt. After a failure the next attempt begins when the machine is next requested. */
  readonly over: (isUp: boolean) => void;
}

/**
 * Keeps the machine usable. One that ended is rebuilt from what is recorded, and so is one whose caches are older than
 * the accounts; then the transactions that were under way run again, one by one, so that one that ends the machine is
 * known.
 */
export class MachineRecovery {
  readonly #dependencies: RecoveryDependencies;
  /** Transactions that were under way when the machine ended, in order. */
  readonly #again: Admitted[] = [];
  #isStale = false;
  #attempt: Promise<void> | null = null;
  #dangerous = 0;
  #rebuilds = 0;

  constructor(dependencies: RecoveryDependencies) {
    this.#dependencies = dependencies;
  }

  /** Whether the machine may be asked for anything: nothing is to be mended, and nothing is being mended. */
  get isUp(): boolean {
    return this.#attempt === null && !this.#isNeeded;
  }

  get isRecovering(): boolean {
    return this.#attempt !== null;
  }

  /** Whether transactions wait to run again. */
  get hasPending(): boolean {
    return this.#again.length > 0;
  }

  /** Transactions dropped because they ended the machine time and again, and times that it was rebuilt. */
  get facts(): { readonly dangerous: number; readonly rebuilds: number } {
    return { dangerous: this.#dangerous, rebuilds: this.#rebuilds };
  }

  get #isNeeded(): boolean {
    return this.#dependencies.svm.isEnded || this.#isStale || this.#again.length > 0;
  }

  /** The machine ended while these were under way. */
  rerun(batch: readonly Admitted[]): void {
    this.#again.push(...batch);
  }

  /** The machine runs programs that are no more: it is rebuilt before it runs anything else. */
  invalidateCaches(): void {
    this.#isStale = true;
  }

  /** Resolves when the machine is up. After a failure, which rejects, the next call tries once more. */
  async up(): Promise<void> {
    while (!this.isUp) await this.#mend();
  }

  /** Concurrent calls share one attempt. */
  #mend(): Promise<void> {
    this.#attempt ??= this.#rebuildAndRunAgain().then(
      () => this.#over(true),
      (error: unknown) => {
        this.#over(false);
        throw error;
      },
    );
    return this.#attempt;
  }

  #over(isUp: boolean): void {
    this.#attempt = null;
    this.#dependencies.over(isUp);
  }

  async #rebuildAndRunAgain(): Promise<void> {
    // What is under way at a machine that ended is on its way back, and a stale one finishes what it has.
    await this.#dependencies.idle();
    if (this.#dependencies.svm.isEnded || this.#isStale) await this.#rebuild();
    for (let next = this.#again[0]; next !== undefined; next = this.#again[0]) {
      await this.#runAlone(next);
      this.#again.shift();
    }
  }

  async #runAlone(admitted: Admitted): Promise<void> {
    for (let deaths = 0; deaths < deathsMax; deaths += 1) {
      try {
        return await this.#dependencies.run(admitted);
      } catch (error) {
        if (!(error instanceof MachineEndedError)) return this.#dependencies.discard(admitted, error);
        await this.#rebuild();
      }
    }
    this.#dangerous += 1;
    const { signature } = admitted.submission;
    this.#dependencies.discard(admitted, `devnet chain: ${signature} ends the virtual machine and is dropped`);
  }

  async #rebuild(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.#dependencies.svm.rebuild(this.#dependencies.newest());
        this.#rebuilds += 1;
        this.#isStale = false;
        return;
      } catch (error) {
        if (!(error instanceof MachineEndedError) || attempt === rebuildsMax) throw error;
      }
    }
  }
}
