import type { Block, Job, Machine } from "./job.ts";

export const dispatchBounds = {
  /** Bundles of one frame, and compute units that they may ask for together, so that a frame is soon answered. */
  frameBundles: 64,
  frameUnits: 24_000_000,
  /** Frames at a machine: it has the next one when it is done with one. */
  frames: 2,
  /** Times that a bundle may end a machine while it runs alone. */
  deaths: 2,
} as const;

/** What one machine has to do, apart from what any of them may. */
interface Post {
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
 * Hands bundles to machines. Those that run alone go to whichever has room, those of a block to the machine that has it.
 * When a machine ends, what it had runs again one by one, after its blocks were built again from what was kept in them.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #posts: Post[] = [];
  readonly #free: Job[] = [];
  /** Those that a machine had when it ended, and that no block holds to one. */
  readonly #suspects: Job[] = [];
  #turn = 0;
  #isPumpDue = false;
  #ended = 0;

  constructor(options: DispatcherOptions) {
    this.#options = options;
  }

  add(machine: Machine): void {
    this.#posts.push({ machine, blocks: new Set(), queue: [], replays: 0 });
    this.pump();
  }

  get ended(): number {
    return this.#ended;
  }

  get underWay(): number {
    return this.#posts.reduce((count, { machine }) => count + machine.bundles, 0);
  }

  get pids(): readonly number[] {
    return this.#posts.flatMap(({ machine }) => machine.pid ?? []);
  }

  /** Takes a bundle; one of a block after all others of that block. */
  submit(job: Job): void {
    if (job.block === null) this.#free.push(job);
    else {
      const post = job.block.isOver ? null : this.#postOf(job.block);
      if (post === null) job.settle({ kind: "unavailable", cause: "session_over" });
      else post.queue.push(job);
    }
    this.#pumpSoon();
  }

  /** Gives a block to the machine that has the fewest. */
  openBlock(block: Block): void {
    let least: Post | null = null;
    for (const post of this.#posts) if (least === null || post.blocks.size < least.blocks.size) least = post;
    least?.blocks.add(block);
  }

  closeBlock(block: Block): void {
    const post = this.#postOf(block);
    block.isOver = true;
    post?.blocks.delete(block);
    post?.machine.closeBlock(block.number);
    for (const bundle of block.kept.splice(0)) bundle.release();
    this.pump();
  }

  #postOf(block: Block): Post | null {
    return this.#posts.find(({ blocks }) => blocks.has(block)) ?? null;
  }

  /** Bundles that come together go together. */
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
    for (let index = 0; index < this.#posts.length; index += 1) {
      const post = this.#posts[(index + this.#turn) % this.#posts.length];
      if (post !== undefined) this.#fill(post);
    }
  }

  #fill(post: Post): void {
    const { machine } = post;
    while (machine.isUp && machine.frames < dispatchBounds.frames) {
      const jobs = this.#nextFrame(post);
      if (jobs.length === 0) return;
      machine.run(jobs);
    }
  }

  #nextFrame(post: Post): Job[] {
    const { machine, queue } = post;
    dropOver(queue);
    if (queue[0]?.isReplay === true) return takeFrame(queue, (job) => job.isReplay);
    // Nothing of a block runs before it is built again, and nothing beside a suspect.
    if (post.replays > 0 || machine.hasSuspect) return [];
    const suspects = queue[0]?.isSuspect === true ? queue : this.#suspects;
    if (suspects.length > 0) return machine.frames > 0 ? [] : suspects.splice(0, 1);
    return takeFrame(queue.length > 0 ? queue : this.#free, (job) => !job.isSuspect);
  }

  /** Puts a block's bundles again before everything else, and what was under way behind them, one by one. */
  lost(machine: Machine, frames: readonly (readonly Job[])[]): void {
    this.#ended += 1;
    const post = this.#posts.find((each) => each.machine === machine);
    if (post === undefined) return;
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
    const ofBlocks = post.queue.splice(0).filter(({ isReplay }) => !isReplay);
    post.replays = 0;
    for (const block of post.blocks) post.queue.push(...this.#replaysOf(block, post));
    post.queue.push(...again.filter(({ block }) => block !== null), ...ofBlocks);
    this.pump();
  }

  #replaysOf(block: Block, post: Post): Job[] {
    return block.kept.map((bundle) => {
      post.replays += 1;
      return {
        ...{ bundle, block, keep: true, verify: false, isReplay: true, since: Number.POSITIVE_INFINITY },
        ...{ isSuspect: false, deaths: 0 },
        settle: ({ kind }) => {
          post.replays -= 1;
          // What ran before does not run now: nobody knows what this block would be.
          if (kind !== "succeeded") block.isOver = true;
        },
      };
    });
  }

  /** Ends machines that hang, and gives up on bundles that have waited too long; called now and then. */
  sweep(now: number): void {
    for (const { machine, queue } of this.#posts) {
      if (machine.isHanging(this.#options.frameMsMax)) machine.kill();
      giveUp(queue, now - this.#options.waitMsMax);
    }
    giveUp(this.#free, now - this.#options.waitMsMax);
    giveUp(this.#suspects, now - this.#options.waitMsMax);
    this.pump();
  }

  /** Answers everything that waits; machines answer what they have when they are disposed of. */
  close(): void {
    for (const queue of [this.#free, this.#suspects, ...this.#posts.map((post) => post.queue)]) {
      for (const job of queue.splice(0)) job.settle({ kind: "unavailable", cause: "closed" });
    }
  }
}

/** Answers what stands first in a queue and whose block is over, or whose keys are out of date. */
function dropOver(queue: Job[]): void {
  for (let first = queue[0]; first?.block?.isOver === true; first = queue[0]) {
    queue.shift();
    first.settle({ kind: "unavailable", cause: "session_over" });
  }
}

/** As many from the front as one frame holds and as are of the kind. */
function takeFrame(queue: Job[], belongs: (job: Job) => boolean): Job[] {
  const frame: Job[] = [];
  let [looked, units] = [0, 0];
  for (const job of queue) {
    if (frame.length === dispatchBounds.frameBundles || !belongs(job)) break;
    if (frame.length > 0 && units + job.bundle.unitLimit > dispatchBounds.frameUnits) break;
    looked += 1;
    if (job.block?.isOver === true) job.settle({ kind: "unavailable", cause: "session_over" });
    else if (!job.bundle.isCurrent) job.settle({ kind: "outdated" });
    else {
      units += job.bundle.unitLimit;
      frame.push(job);
    }
  }
  queue.splice(0, looked);
  return frame;
}

/** Answers those that came before a time and still wait. Replays never do: something else waits behind them. */
function giveUp(queue: Job[], before: number): void {
  const late = queue.filter(({ since }) => since < before);
  if (late.length === 0) return;
  const rest = queue.filter(({ since }) => since >= before);
  queue.splice(0, queue.length, ...rest);
  for (const job of late) job.settle({ kind: "unavailable", cause: "too_late" });
}
