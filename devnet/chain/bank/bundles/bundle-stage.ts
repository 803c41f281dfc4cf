import type { Svm } from "@sluice/svm/bank";
import type { Transaction } from "@sluice/wire/transaction";
import type { OpenSlot } from "../open-slot.ts";
import type { LookupBank } from "../resolve.ts";
import { type BundlePacket, type Insertion, type InsertionFault, insertBundle } from "./insertion.ts";
import { type BundleOutcome, runBundle } from "./run-bundle.ts";

/** Bundles that may wait for each leader, and for whoever leads. */
const waitingMax = 1_000;
/** Bundles that run at a stretch; then the slot's end and ordinary transactions get their turn. */
const window = 10;
/** A leader that is this near is waited for; bundles of one that is farther are dropped. Source: Agave, HOLD_TRANSACTIONS_SLOT_OFFSET. */
const holdSlots = 20n;

interface Waiting {
  /** The identity in whose slots alone it runs; null when it is for whoever leads. */
  readonly leader: string | null;
  readonly transactions: readonly Transaction[];
  /** The first slot in which it may run. */
  from: bigint;
}

type Dropped = InsertionFault | Exclude<BundleOutcome, "landed" | "no room"> | "leader far away" | "fault";

/** What became of all bundles so far. */
export interface BundleFacts {
  readonly waiting: number;
  readonly landed: number;
  /** Times that a bundle was kept for another slot because the block had no room. */
  readonly kept: number;
  /** By reason. */
  readonly dropped: Readonly<Partial<Record<Dropped, number>>>;
}

export interface BundleStageDependencies {
  readonly svm: Svm;
  readonly open: () => OpenSlot;
  readonly leaderOf: (slot: bigint) => string;
  /** The finalized bank. */
  readonly rootBank: () => LookupBank;
  /** Runs work alone; `up` resolves when the machine may be asked for something. */
  readonly exclusively: (work: (up: () => Promise<void>) => Promise<void>) => Promise<void>;
  /** Has the tip programs serve the open slot's leader; false while they cannot, and then no bundle runs. */
  readonly crankTips: () => Promise<boolean>;
  readonly invalidateCaches: () => void;
}

/**
 * Bundles on their way into blocks: each waits for its leader's slot and runs there alone, in order of arrival. It lands
 * whole and in one slot or leaves nothing. One for which the block has no room waits for the next slot; what else does not
 * land is dropped, and nobody is told but through the chain.
 */
export class BundleStage {
  readonly #dependencies: BundleStageDependencies;
  #waiting: Waiting[] = [];
  #isRunning = false;
  #drain: Promise<void> = Promise.resolve();
  #cranked: OpenSlot | null = null;
  #landed = 0;
  #kept = 0;
  readonly #dropped = new Map<Dropped, number>();

  constructor(dependencies: BundleStageDependencies) {
    this.#dependencies = dependencies;
  }

  get facts(): BundleFacts {
    const dropped = Object.fromEntries(this.#dropped);
    return { waiting: this.#waiting.length, landed: this.#landed, kept: this.#kept, dropped };
  }

  /** Takes a bundle for the slots of one identity, or with null for the slot of whoever leads. */
  submit(packets: readonly BundlePacket[], leader: string | null): Insertion {
    const insertion = insertBundle(packets, {
      hasRoom: () => this.#waiting.filter((waiting) => waiting.leader === leader).length < waitingMax,
      bank: this.#dependencies.rootBank,
    });
    if (!insertion.ok) {
      this.#drop(insertion.fault);
      return insertion;
    }
    if (!this.#isNear(leader)) this.#drop("leader far away");
    else {
      this.#waiting.push({ leader, transactions: insertion.transactions, from: 0n });
      this.#runSoon();
    }
    return insertion;
  }

  /** Another slot is open. */
  opened(): void {
    this.#dropFar();
    this.#runSoon();
  }

  /** Resolves when every bundle that may run in the open slot has run. */
  async settled(): Promise<void> {
    while (this.#isRunning) await this.#drain;
  }

  /** Forgets what waits. */
  clear(): void {
    this.#waiting = [];
  }

  #drop(reason: Dropped): void {
    this.#dropped.set(reason, (this.#dropped.get(reason) ?? 0) + 1);
  }

  #runSoon(): void {
    if (!this.#isRunning && this.#next() !== undefined) this.#drain = this.#runAll();
  }

  #isNear(leader: string | null): boolean {
    const { open, leaderOf } = this.#dependencies;
    const { slot } = open();
    for (let offset = 0n; offset < holdSlots; offset += 1n) {
      if (leader === null || leaderOf(slot + offset) === leader) return true;
    }
    return false;
  }

  /** Drops what is for leaders whose turn is far away. */
  #dropFar(): void {
    if (this.#waiting.length === 0) return;
    const near = new Map(
      new Set(this.#waiting.map(({ leader }) => leader)).values().map((leader) => [leader, this.#isNear(leader)]),
    );
    this.#waiting = this.#waiting.filter(({ leader }) => {
      if (near.get(leader)) return true;
      this.#drop("leader far away");
      return false;
    });
  }

  /** The first bundle that may run in the open slot. */
  #next(): Waiting | undefined {
    const { slot } = this.#dependencies.open();
    const leads = this.#dependencies.leaderOf(slot);
    return this.#waiting.find(({ leader, from }) => from <= slot && (leader === null || leader === leads));
  }

  async #runAll(): Promise<void> {
    this.#isRunning = true;
    try {
      while (this.#next() !== undefined) await this.#dependencies.exclusively((up) => this.#runWindow(up));
    } catch (error) {
      // The machine cannot be brought up: what waits is tried again with the next slot.
      console.error(error);
    } finally {
      this.#isRunning = false;
    }
  }

  async #runWindow(up: () => Promise<void>): Promise<void> {
    for (let left = window; left > 0; left -= 1) {
      const open = this.#dependencies.open();
      const next = this.#next();
      if (next === undefined) return;
      if (await this.#crank(open)) await this.#run(next, open, up);
      else next.from = open.slot + 1n;
    }
  }

  async #crank(open: OpenSlot): Promise<boolean> {
    if (this.#cranked === open) return true;
    if (!(await this.#dependencies.crankTips())) return false;
    this.#cranked = open;
    return true;
  }

  async #run(waiting: Waiting, open: OpenSlot, up: () => Promise<void>): Promise<void> {
    const { svm, invalidateCaches } = this.#dependencies;
    const outcome = await runBundle(waiting.transactions, open, { svm, up, invalidateCaches }).catch(
      (error: unknown) => {
        console.error(error);
        // Nobody knows how far it came: the machine begins anew with what is recorded.
        invalidateCaches();
        return "fault" as const;
      },
    );
    if (outcome === "no room") {
      this.#kept += 1;
      waiting.from = open.slot + 1n;
      return;
    }
    this.#waiting = this.#waiting.filter((other) => other !== waiting);
    if (outcome === "landed") this.#landed += 1;
    else this.#drop(outcome);
  }
}
