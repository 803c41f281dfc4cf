import type { Clock, Log, MonotonicMs, Random, Timer } from "@sluice/lib";
import { addressBytes } from "@sluice/wire/base58";
import type { Address } from "@sluice/wire/identifiers";
import { sysvars } from "@sluice/wire/programs";
import { superviseChild } from "../../processes/index.ts";
import { AccountCache, type AccountEntry } from "./account-cache.ts";
import { AccountSupply } from "./account-supply.ts";
import { type Block, Dispatcher, type MachineAnswer } from "./dispatcher.ts";
import { SimulationMachine, type SimulationMachineDependencies } from "./machine.ts";
import { outcomeOf, unavailable } from "./outcome.ts";
import type { PreparedBundle } from "./prepared-bundle.ts";
import { type Preparation, Preparer, Resolver } from "./resolver.ts";
import type {
  AccountSource,
  BlockSession,
  BundleOutcome,
  SimulatedBundle,
  Simulator,
  SimulatorFacts,
} from "./simulation.ts";

const simulatorDefaults = {
  processes: 1,
  /** Account data held by the server; each process holds at most twice as much. */
  cacheBytesMax: 192 * 1_024 * 1_024,
  /** Bundles that may wait or be under way. */
  bundlesMax: 8_192,
  /** How long a process may take for one frame of bundles before it is killed and started again. */
  frameMsMax: 5_000,
  /** How long a bundle may wait for a process, once its accounts are there. */
  waitMsMax: 10_000,
} as const;

export type SimulatorOptions = { readonly [Name in keyof typeof simulatorDefaults]?: number } & {
  /** At most eight. */
  readonly tipAccounts: readonly Address[];
};

export interface SimulatorDependencies {
  readonly source: AccountSource;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Pick<Log, "info" | "warn">;
  /** Whether a transaction may still carry this blockhash; otherwise it must carry a nonce. */
  isRecentBlockhash(blockhash: Address): boolean;
  /** Called each time that the process of a machine ends, before it is started again; see `MachineProcess`. */
  machineEnded(reason: string): void;
}

/** Interval of the search for machines that hang and bundles that have waited too long. */
const sweepMs = 250;
/** How often a bundle is prepared whose lookup tables change before it runs. */
const preparationsMax = 3;

/** Sysvars that a program can read without naming them. */
const sysvarsOfAll = [
  sysvars.clock,
  sysvars.epochRewards,
  sysvars.epochSchedule,
  sysvars.lastRestartSlot,
  sysvars.recentBlockhashes,
  sysvars.rent,
  sysvars.slotHashes,
  sysvars.stakeHistory,
];

/** @throws {Error} when the process of a machine does not start; the others are ended then. */
export async function createSimulator(
  options: SimulatorOptions,
  dependencies: SimulatorDependencies,
): Promise<Simulator> {
  const simulator = new MachineSimulator({ ...simulatorDefaults, ...options }, dependencies);
  try {
    await simulator.start();
  } catch (error) {
    await simulator[Symbol.asyncDispose]();
    throw error;
  }
  return simulator;
}

class MachineSimulator implements Simulator {
  readonly #options: Required<SimulatorOptions>;
  readonly #dependencies: SimulatorDependencies;
  readonly #cache: AccountCache;
  readonly #preparer: Preparer;
  readonly #dispatcher: Dispatcher;
  readonly #machines: SimulationMachine[] = [];
  readonly #always: readonly AccountEntry[];
  readonly #tipAccounts: readonly Uint8Array[];
  readonly #sweep: Timer;
  #newestSlot = 0n;
  #bundles = 0;
  #blocks = 0;
  #isClosed = false;

  constructor(options: Required<SimulatorOptions>, dependencies: SimulatorDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    const newestSlot = () => this.#newestSlot;
    this.#tipAccounts = options.tipAccounts.map(addressBytes);
    this.#cache = new AccountCache({
      bytesMax: options.cacheBytesMax,
      onForgotten: ({ handle }) => {
        for (const machine of this.#machines) machine.forget(handle);
      },
    });
    this.#always = sysvarsOfAll.map((address) => this.#cache.of(addressBytes(address)));
    for (const entry of this.#always) entry.pins += 1;
    const { cache, tipAccounts } = { cache: this.#cache, tipAccounts: this.#tipAccounts };
    const supply = new AccountSupply({ cache, source: dependencies.source, newestSlot, clock: dependencies.clock });
    const isRecentBlockhash = (blockhash: Address) => dependencies.isRecentBlockhash(blockhash);
    const resolver = new Resolver({ cache, supply, tipAccounts, isRecentBlockhash });
    this.#preparer = new Preparer({ supply, resolver, always: this.#always, newestSlot });
    this.#dispatcher = new Dispatcher(options);
    this.#sweep = dependencies.clock.every(sweepMs, () => this.#dispatcher.sweep(dependencies.clock.monotonic()));
  }

  async start(): Promise<void> {
    const { clock, random, log, machineEnded } = this.#dependencies;
    const dependencies: SimulationMachineDependencies = {
      ...{ clock, log, always: this.#always, tipAccounts: this.#tipAccounts },
      launch: (options, onExit) => superviseChild(options, { clock, random, log, onExit }),
      onRoom: () => this.#dispatcher.pump(),
      onLost: (machine, frames) => this.#dispatcher.lost(machine, frames),
      onExit: machineEnded,
    };
    const started = Array.from({ length: this.#options.processes }, async (_, number) => {
      const machine = await SimulationMachine.start(number, dependencies);
      this.#machines.push(machine);
      this.#dispatcher.add(machine);
    });
    const errors = (await Promise.allSettled(started)).flatMap((each) =>
      each.status === "rejected" ? each.reason : [],
    );
    if (errors.length > 0) throw errors[0];
  }

  get facts(): SimulatorFacts {
    const { underWay, ended, pids } = this.#dispatcher;
    return { waiting: this.#bundles - underWay, underWay, ended, cachedBytes: this.#cache.bytes, pids };
  }

  onSlot(slot: bigint): void {
    if (slot > this.#newestSlot) this.#newestSlot = slot;
  }

  async simulate(bundle: SimulatedBundle): Promise<BundleOutcome> {
    if (this.#isClosed) return unavailable("closed");
    if (this.#bundles >= this.#options.bundlesMax) return unavailable("overloaded");
    this.#bundles += 1;
    try {
      return await this.#simulate(bundle);
    } finally {
      this.#bundles -= 1;
    }
  }

  async #simulate(bundle: SimulatedBundle): Promise<BundleOutcome> {
    for (let attempt = 0; attempt < preparationsMax; attempt += 1) {
      const preparation = await this.#preparer.prepare(bundle);
      if (!preparation.ok) return preparation.outcome;
      const prepared = preparation.bundle;
      const answer = await this.#run(prepared);
      prepared.release();
      if (answer.kind !== "outdated") return outcomeOf(prepared, answer);
    }
    return unavailable("no_accounts");
  }

  #run(bundle: PreparedBundle): Promise<MachineAnswer> {
    if (this.#isClosed) return Promise.resolve({ kind: "unavailable", cause: "closed" });
    const { promise, resolve } = Promise.withResolvers<MachineAnswer>();
    this.#dispatcher.submit({
      ...{ bundle, block: null, keep: false, verify: true, isReplay: false, isSuspect: false, deaths: 0 },
      since: this.#dependencies.clock.monotonic(),
      settle: resolve,
    });
    return promise;
  }

  openBlock(slot: bigint): BlockSession {
    this.#blocks += 1;
    return new MachineBlock(slot, this.#blocks, {
      dispatcher: this.#dispatcher,
      now: () => this.#dependencies.clock.monotonic(),
      prepare: (bundles) => {
        if (this.#isClosed || this.#bundles + bundles.length > this.#options.bundlesMax) return null;
        this.#bundles += bundles.length;
        return {
          prepared: Promise.all(bundles.map((bundle) => this.#preparer.prepare(bundle))),
          done: () => {
            this.#bundles -= bundles.length;
          },
        };
      },
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#sweep.cancel();
    this.#dispatcher.close();
    await Promise.all(this.#machines.map((machine) => machine[Symbol.asyncDispose]()));
  }
}

/** Bundles that one block keeps; each is a transaction at least, and no block holds more. */
const keptMax = 16_384;

interface BlockDependencies {
  readonly dispatcher: Dispatcher;
  readonly now: () => MonotonicMs;
  /** Prepares bundles within the bounds of what may wait; `done` is called when they are answered. */
  readonly prepare: (bundles: readonly SimulatedBundle[]) => {
    readonly prepared: Promise<readonly Preparation[]>;
    readonly done: () => void;
  } | null;
}

/** A block at one machine. */
class MachineBlock implements BlockSession {
  readonly slot: bigint;
  readonly #block: Block;
  readonly #dependencies: BlockDependencies;
  /** Resolves when earlier calls have handed their bundles to the dispatcher. */
  #before: Promise<unknown> = Promise.resolve();

  constructor(slot: bigint, number: number, dependencies: BlockDependencies) {
    this.slot = slot;
    this.#block = { number, kept: [], isOver: false };
    this.#dependencies = dependencies;
    dependencies.dispatcher.openBlock(this.#block);
  }

  apply(bundles: readonly SimulatedBundle[]): Promise<readonly BundleOutcome[]> {
    return this.#run(bundles, true);
  }

  attempt(bundles: readonly SimulatedBundle[]): Promise<readonly BundleOutcome[]> {
    return this.#run(bundles, false);
  }

  async #run(bundles: readonly SimulatedBundle[], keep: boolean): Promise<readonly BundleOutcome[]> {
    const isFull = keep && this.#block.kept.length + bundles.length > keptMax;
    const preparing = isFull ? null : this.#dependencies.prepare(bundles);
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
    this.#dependencies.dispatcher.submit({
      ...{
        bundle,
        block,
        keep,
        verify: false,
        isReplay: false,
        since: this.#dependencies.now(),
        isSuspect: false,
        deaths: 0,
      },
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
    this.#dependencies.dispatcher.closeBlock(this.#block);
  }
}
