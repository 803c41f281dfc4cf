import type { Log } from "@sluice/lib";
import { MachineEndedError, type Svm, type SvmOutcome, succeeded } from "@sluice/svm/bank";
import { programs } from "@sluice/wire/programs";
import type { Transaction } from "@sluice/wire/transaction";
import type { Admitted, OpenSlot } from "../open-slot.ts";
import type { LookupBank } from "../resolve.ts";
import { type BundlePacket, type Insertion, type InsertionCode, insertBundle } from "./insertion.ts";

/** Bundles that may wait for each leader, and as many for any leader. */
const waitingMax = 1_000;
/** Bundles that run in a row; then the slot's end and ordinary transactions have their turn. */
const window = 10;
/**
 * Bundles wait for a leader within so many slots, and are dropped otherwise. Source: Agave,
 * HOLD_TRANSACTIONS_SLOT_OFFSET.
 */
const holdSlots = 20n;

interface Waiting {
  /** The identity whose slots it runs in; null for the slots of any leader. */
  readonly leader: string | null;
  readonly transactions: readonly Transaction[];
  /** The first slot in which it may run. */
  from: bigint;
}

type Dropped = InsertionCode | Exclude<BundleOutcome, "landed" | "no room"> | "leader far away" | "fault";

/** Counts of all bundles so far. */
interface BundleFacts {
  readonly waiting: number;
  readonly landed: number;
  /** Times that a bundle waited for another slot because the block had no room. */
  readonly kept: number;
  /** By reason. */
  readonly dropped: Readonly<Partial<Record<Dropped, number>>>;
}

interface BundleStageDependencies {
  readonly svm: Svm;
  readonly log: Log;
  readonly open: () => OpenSlot;
  readonly leaderOf: (slot: bigint) => string;
  /** The finalized bank. */
  readonly rootBank: () => LookupBank;
  /** Runs work alone; `up` resolves when the machine takes calls. */
  readonly exclusively: (work: (up: () => Promise<void>) => Promise<void>) => Promise<void>;
  /** Sets the tip programs to the open slot's leader; false while that fails, and then no bundle runs. */
  readonly crankTips: () => Promise<boolean>;
  readonly invalidateCaches: () => void;
}

/**
 * Bundles on their way into blocks: each waits for its leader's slot and runs there alone, in order of arrival. It
 * lands whole and in one slot, or has no effect. A bundle for which the block has no room waits for the next slot; any
 * other that does not land is dropped, which shows only in the chain.
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

  /** Takes a bundle for the slots of one identity, or with null for those of any leader. */
  submit(packets: readonly BundlePacket[], leader: string | null): Insertion {
    const insertion = insertBundle(packets, {
      hasRoom: () => this.#waiting.filter((waiting) => waiting.leader === leader).length < waitingMax,
      bank: this.#dependencies.rootBank,
    });
    if (!insertion.ok) {
      this.#drop(insertion.code);
      return insertion;
    }
    if (!this.#isNear(leader)) this.#drop("leader far away");
    else {
      this.#waiting.push({ leader, transactions: insertion.transactions, from: 0n });
      this.#runSoon();
    }
    return insertion;
  }

  /** Called when another slot is open. */
  opened(): void {
    this.#dropFar();
    this.#runSoon();
  }

  /** Resolves when every bundle that may run in the open slot has run. */
  async settled(): Promise<void> {
    while (this.#isRunning) await this.#drain;
  }

  /** Forgets the bundles that wait. */
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

  /** Drops the bundles of leaders whose turn is far away. */
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
      // The machine does not start: the bundles that wait are tried again in the next slot.
      this.#dependencies.log.error({ error }, "bundles wait for the next slot");
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
    const { svm, log, invalidateCaches } = this.#dependencies;
    const outcome = await runBundle(waiting.transactions, open, { svm, up, invalidateCaches }).catch(
      (error: unknown) => {
        log.error({ error }, "a bundle is dropped");
        // It may have run in part: the machine is rebuilt from what is recorded.
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

/** Times that a bundle may end the machine before it is dropped. */
const deathsMax = 2;

const loaders: readonly string[] = [
  programs.bpfLoaderUpgradeable,
  programs.bpfLoader,
  programs.bpfLoaderDeprecated,
  programs.loaderV4,
];

/**
 * The outcome of a bundle that ran: it landed whole, or it has no effect, because a transaction may not run in this
 * slot, because one failed, because the block has no room for it, or because it ends the machine.
 */
type BundleOutcome = "landed" | "refused" | "failed" | "no room" | "dangerous";

interface BundleRunDependencies {
  readonly svm: Svm;
  /** Resolves when the machine takes calls. */
  readonly up: () => Promise<void>;
  /** Called when the machine has compiled programs that do not exist: it is rebuilt before it runs anything else. */
  readonly invalidateCaches: () => void;
}

/** Admits all transactions over the state before the first of them, or none. */
function admitAll(transactions: readonly Transaction[], open: OpenSlot): Admitted[] | "refused" | "no room" {
  const admitted: Admitted[] = [];
  for (const transaction of transactions) {
    const one = open.admit({ transaction, signature: transaction.id, verified: true });
    if (typeof one !== "string") {
      admitted.push(one);
      continue;
    }
    releaseAll(admitted, open);
    return one === "refused" ? "refused" : "no room";
  }
  return admitted;
}

function releaseAll(admitted: readonly Admitted[], open: OpenSlot): void {
  for (const one of admitted) open.release(one);
}

/** Whether transactions may have made the machine compile a program, which it keeps although they were undone. */
export function namesLoader(
  transactions: readonly { readonly resolved: { readonly keys: readonly string[] } }[],
): boolean {
  return transactions.some(({ resolved }) => loaders.some((loader) => resolved.keys.includes(loader)));
}

/** Runs them at the machine, and once more when it ends; null when it ends again. */
async function execute(
  admitted: readonly Admitted[],
  open: OpenSlot,
  { svm, up }: BundleRunDependencies,
): Promise<readonly SvmOutcome[] | null> {
  const machine = admitted.map((one) => one.machine);
  for (let deaths = 0; deaths < deathsMax; deaths += 1) {
    await up();
    try {
      return await svm.executeBundle(machine, open.nextNonce);
    } catch (error) {
      if (!(error instanceof MachineEndedError)) throw error;
    }
  }
  return null;
}

/**
 * Runs a bundle in the open slot, with nothing else under way: either all its transactions are recorded in order, or
 * none, and then they have no effect. A machine that ends meanwhile loses all of it.
 */
async function runBundle(
  transactions: readonly Transaction[],
  open: OpenSlot,
  dependencies: BundleRunDependencies,
): Promise<BundleOutcome> {
  const admitted = admitAll(transactions, open);
  if (typeof admitted === "string") return admitted;
  const outcomes = await execute(admitted, open, dependencies).catch((error: unknown) => {
    releaseAll(admitted, open);
    throw error;
  });
  if (outcomes?.length === admitted.length && outcomes.every(succeeded)) {
    for (const [index, outcome] of outcomes.entries()) {
      const one = admitted[index];
      if (one !== undefined) open.record(one, outcome);
    }
    return "landed";
  }
  releaseAll(admitted, open);
  if (outcomes === null) return "dangerous";
  if (namesLoader(admitted)) dependencies.invalidateCaches();
  return "failed";
}
