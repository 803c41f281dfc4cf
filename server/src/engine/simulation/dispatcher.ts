import { type MonotonicMs, monotonicMs } from "@sluice/lib";
import type { PreparedBundle } from "./prepared-bundle.ts";

export const dispatchBounds = {
  /** Bundles of one frame, and the compute units that they may request together, so that a frame is answered soon. */
  frameBundles: 64,
  frameUnits: 24_000_000,
  /** Frames at a machine: it holds the next one when it has finished one. */
  frames: 2,
  /** Times that a bundle may end a machine while it runs alone. */
  deaths: 2,
} as const;

/** The answer of a machine to a bundle, or why there is none. */
export type MachineAnswer =
  | { readonly kind: "succeeded"; readonly tip: bigint; readonly units: number; readonly slot: bigint }
  | { readonly kind: "failed"; readonly index: number; readonly error: string; readonly logs: readonly string[] }
  | { readonly kind: "wrong_nonce"; readonly index: number }
  /** A lookup table has changed since the bundle's keys were found. */
  | { readonly kind: "outdated" }
  | { readonly kind: "unavailable"; readonly cause: "machine_ended" | "too_late" | "session_over" | "closed" };

/** One machine's process, as the dispatcher sees it. */
export interface Machine {
  readonly isUp: boolean;
  /** Process id of the present life; null between two lives. */
  readonly pid: number | null;
  /** Frames that it has not answered, and the bundles in them. */
  readonly frames: number;
  readonly bundles: number;
  /** Whether it runs a bundle that may end it. */
  readonly hasSuspect: boolean;
  /** Runs bundles in order as one frame. */
  run(jobs: readonly Job[]): void;
  closeBlock(number: number): void;
  /** Whether its oldest frame has waited for longer than this. */
  isHanging(waitMsMax: number): boolean;
  /** Ends the present life, since it does not answer. */
  kill(): void;
}

/** A block that is being built at one machine. */
export interface Block {
  /** Its number at the machine, above 0. */
  readonly number: number;
  /** The bundles kept in it, in order: the next life of a machine runs them again. */
  readonly kept: PreparedBundle[];
  /** Whether it is closed, or could not be rebuilt. */
  isOver: boolean;
}

/** A bundle on its way through a machine. */
export interface Job {
  readonly bundle: PreparedBundle;
  /** Null for one that runs on the newest state alone. */
  readonly block: Block | null;
  readonly keep: boolean;
  readonly verify: boolean;
  /** Whether it rebuilds a block. */
  readonly isReplay: boolean;
  /** When it began to wait; replays use infinity, since other jobs wait behind them. */
  readonly since: MonotonicMs;
  /**
   * Whether a machine ended while it had this bundle and others: it runs alone, so that a bundle that ends machines is
   * found.
   */
  isSuspect: boolean;
  /** Times that a machine ended while it had this bundle alone. */
  deaths: number;
  readonly settle: (answer: MachineAnswer) => void;
}

/** The work that only one machine can do. */
interface Station {
  readonly machine: Machine;
  readonly blocks: Set<Block>;
  /** Bundles of its blocks, in the order in which they must run. */
  readonly queue: Job[];
  replays: number;
}

export interface DispatcherOptions {
  /** How long a machine may take over one frame before it is ended. */
  readonly frameMsMax: number;
  /** How long a bundle may wait for a machine. */
  readonly waitMsMax: number;
}

/**
 * Hands bundles to machines. A bundle without a block goes to any machine with room, a bundle of a block to the machine
 * that has the block. When a machine ends, its blocks are rebuilt from the bundles kept in them, and then the bundles
 * that it had run again one by one.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #stations: Station[] = [];
  readonly #free: Job[] = [];
  /** Bundles without a block that a machine had when it ended. */
  readonly #suspects: Job[] = [];
  #turn = 0;
  #isPumpDue = false;
  #ended = 0;

  constructor(options: DispatcherOptions) {
    this.#options = options;
  }

  add(machine: Machine): void {
    this.#stations.push({ machine, blocks: new Set(), queue: [], replays: 0 });
    this.pump();
  }

  get ended(): number {
    return this.#ended;
  }

  get underWay(): number {
    return this.#stations.reduce((count, { machine }) => count + machine.bundles, 0);
  }

  get pids(): readonly number[] {
    return this.#stations.flatMap(({ machine }) => machine.pid ?? []);
  }

  /** Takes a bundle. Bundles of one block run in the order in which they are submitted. */
  submit(job: Job): void {
    if (job.block === null) this.#free.push(job);
    else {
      const station = job.block.isOver ? null : this.#stationOf(job.block);
      if (station === null) job.settle({ kind: "unavailable", cause: "session_over" });
      else station.queue.push(job);
    }
    this.#pumpSoon();
  }

  /** Gives a block to the machine that has the fewest. */
  openBlock(block: Block): void {
    let least: Station | null = null;
    for (const station of this.#stations)
      if (least === null || station.blocks.size < least.blocks.size) least = station;
    least?.blocks.add(block);
  }

  closeBlock(block: Block): void {
    const station = this.#stationOf(block);
    block.isOver = true;
    station?.blocks.delete(block);
    station?.machine.closeBlock(block.number);
    for (const bundle of block.kept.splice(0)) bundle.release();
    this.pump();
  }

  #stationOf(block: Block): Station | null {
    return this.#stations.find(({ blocks }) => blocks.has(block)) ?? null;
  }

  /** Bundles that are submitted in one turn of the event loop go out together. */
  #pumpSoon(): void {
    if (this.#isPumpDue) return;
    this.#isPumpDue = true;
    queueMicrotask(() => {
      this.#isPumpDue = false;
      this.pump();
    });
  }

  pump(): void {
    this.#turn += 1;
    for (let index = 0; index < this.#stations.length; index += 1) {
      const station = this.#stations[(index + this.#turn) % this.#stations.length];
      if (station !== undefined) this.#fill(station);
    }
  }

  #fill(station: Station): void {
    const { machine } = station;
    while (machine.isUp && machine.frames < dispatchBounds.frames) {
      const jobs = this.#nextFrame(station);
      if (jobs.length === 0) return;
      machine.run(jobs);
    }
  }

  #nextFrame(station: Station): Job[] {
    const { machine, queue } = station;
    dropOver(queue);
    if (queue[0]?.isReplay === true) return takeFrame(queue, (job) => job.isReplay);
    // No bundle of a block runs before it is rebuilt, and none beside a suspect.
    if (station.replays > 0 || machine.hasSuspect) return [];
    const suspects = queue[0]?.isSuspect === true ? queue : this.#suspects;
    if (suspects.length > 0) return machine.frames > 0 ? [] : suspects.splice(0, 1);
    return takeFrame(queue.length > 0 ? queue : this.#free, (job) => !job.isSuspect);
  }

  /** Queues the kept bundles of the machine's blocks first, and behind them the bundles that it had, one by one. */
  lost(machine: Machine, frames: readonly (readonly Job[])[]): void {
    this.#ended += 1;
    const station = this.#stations.find((each) => each.machine === machine);
    if (station === undefined) return;
    const again: Job[] = [];
    for (const jobs of frames) {
      for (const job of jobs) {
        if (job.isReplay) continue;
        if (job.isSuspect) job.deaths += 1;
        job.isSuspect = true;
        if (job.deaths >= dispatchBounds.deaths) job.settle({ kind: "unavailable", cause: "machine_ended" });
        else again.push(job);
      }
    }
    this.#suspects.push(...again.filter(({ block }) => block === null));
    const ofBlocks = station.queue.splice(0).filter(({ isReplay }) => !isReplay);
    station.replays = 0;
    for (const block of station.blocks) station.queue.push(...this.#replaysOf(block, station));
    station.queue.push(...again.filter(({ block }) => block !== null), ...ofBlocks);
    this.pump();
  }

  #replaysOf(block: Block, station: Station): Job[] {
    return block.kept.map((bundle) => {
      station.replays += 1;
      return {
        ...{ bundle, block, keep: true, verify: false, isReplay: true, since: monotonicMs(Number.POSITIVE_INFINITY) },
        ...{ isSuspect: false, deaths: 0 },
        settle: ({ kind }) => {
          station.replays -= 1;
          // A bundle that ran before does not run now, so the block cannot be rebuilt.
          if (kind !== "succeeded") block.isOver = true;
        },
      };
    });
  }

  /** Ends machines that hang, and answers bundles that have waited too long. Called periodically. */
  sweep(now: MonotonicMs): void {
    for (const { machine, queue } of this.#stations) {
      if (machine.isHanging(this.#options.frameMsMax)) machine.kill();
      giveUp(queue, now - this.#options.waitMsMax);
    }
    giveUp(this.#free, now - this.#options.waitMsMax);
    giveUp(this.#suspects, now - this.#options.waitMsMax);
    this.pump();
  }

  /** Answers the bundles that wait; machines answer theirs when they are disposed of. */
  close(): void {
    for (const queue of [this.#free, this.#suspects, ...this.#stations.map((station) => station.queue)]) {
      for (const job of queue.splice(0)) job.settle({ kind: "unavailable", cause: "closed" });
    }
  }
}

/** Answers the first jobs of a queue whose block is over. */
function dropOver(queue: Job[]): void {
  for (let first = queue[0]; first?.block?.isOver === true; first = queue[0]) {
    queue.shift();
    first.settle({ kind: "unavailable", cause: "session_over" });
  }
}

/** Takes jobs from the front for one frame, as many as it holds and as belong to it. */
function takeFrame(queue: Job[], belongs: (job: Job) => boolean): Job[] {
  const frame: Job[] = [];
  let [taken, units] = [0, 0];
  for (const job of queue) {
    if (frame.length === dispatchBounds.frameBundles || !belongs(job)) break;
    if (frame.length > 0 && units + job.bundle.unitLimit > dispatchBounds.frameUnits) break;
    taken += 1;
    if (job.block?.isOver === true) job.settle({ kind: "unavailable", cause: "session_over" });
    else if (!job.bundle.isCurrent) job.settle({ kind: "outdated" });
    else {
      units += job.bundle.unitLimit;
      frame.push(job);
    }
  }
  queue.splice(0, taken);
  return frame;
}

/** Answers the jobs that have waited since before a time. */
function giveUp(queue: Job[], before: number): void {
  const late = queue.filter(({ since }) => since < before);
  if (late.length === 0) return;
  const rest = queue.filter(({ since }) => since >= before);
  queue.splice(0, queue.length, ...rest);
  for (const job of late) job.settle({ kind: "unavailable", cause: "too_late" });
}
