import type { Dispatcher } from "./machines/dispatcher.ts";
import type { Block, MachineAnswer } from "./machines/job.ts";
import { outcomeOf, unavailable } from "./outcome.ts";
import type { Preparation } from "./preparation.ts";
import type { PreparedBundle } from "./resolve/prepared-bundle.ts";
import type { BlockSession, BundleOutcome, SimulatedBundle } from "./simulation.ts";

/** Bundles that one block keeps; each is a transaction at least, and no block holds more. */
const KEPT_MAX = 16_384;

export interface BlockDependencies {
  readonly dispatcher: Dispatcher;
  readonly now: () => number;
  /** Prepares bundles within the bounds of what may wait; `done` is called when they are answered. */
  readonly prepare: (bundles: readonly SimulatedBundle[]) => {
    readonly prepared: Promise<readonly Preparation[]>;
    readonly done: () => void;
  } | null;
}

/** A block at one machine. */
export class MachineBlock implements BlockSession {
  readonly slot: bigint;
  readonly #block: Block;
  readonly #deps: BlockDependencies;
  /** When what was asked for before has been handed on. */
  #before: Promise<unknown> = Promise.resolve();

  constructor(slot: bigint, number: number, deps: BlockDependencies) {
    this.slot = slot;
    this.#block = { number, kept: [], isOver: false };
    this.#deps = deps;
    deps.dispatcher.openBlock(this.#block);
  }

  apply(bundles: readonly SimulatedBundle[]): Promise<readonly BundleOutcome[]> {
    return this.#run(bundles, true);
  }

  attempt(bundles: readonly SimulatedBundle[]): Promise<readonly BundleOutcome[]> {
    return this.#run(bundles, false);
  }

  async #run(bundles: readonly SimulatedBundle[], keep: boolean): Promise<readonly BundleOutcome[]> {
    const isFull = keep && this.#block.kept.length + bundles.length > KEPT_MAX;
    const preparing = isFull ? null : this.#deps.prepare(bundles);
    if (preparing === null) return bundles.map(() => unavailable("overloaded"));
    const handedOn = this.#before.then(async () => {
      const prepared = await preparing.prepared;
      return prepared.map((each) => (each.ok ? this.#submit(each.bundle, keep) : Promise.resolve(each.outcome)));
    });
    this.#before = handedOn.catch(() => undefined);
    try {
      return await Promise.all(await handedOn);
    } finally {
      preparing.done();
    }
  }

  async #submit(bundle: PreparedBundle, keep: boolean): Promise<BundleOutcome> {
    const { promise, resolve } = Promise.withResolvers<MachineAnswer>();
    const block = this.#block;
    this.#deps.dispatcher.submit({
      ...{ bundle, block, keep, verify: false, isReplay: false, since: this.#deps.now(), isSuspect: false, deaths: 0 },
      settle: (answer) => {
        // A block that is closed meanwhile holds nothing any more.
        if (answer.kind === "succeeded" && keep && !block.isOver) block.kept.push(bundle);
        else bundle.release();
        resolve(answer);
      },
    });
    return outcomeOf(bundle, await promise);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#before;
    this.#deps.dispatcher.closeBlock(this.#block);
  }
}
