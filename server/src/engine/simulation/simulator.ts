import { rmSync } from "node:fs";
import type { Clock, Random } from "@sluice/lib";
import type { Address } from "@sluice/wire/identifiers";
import { sysvars } from "@sluice/wire/programs";
import { AccountCache } from "./accounts/account-cache.ts";
import type { AccountEntry } from "./accounts/account-entry.ts";
import { AccountSupply } from "./accounts/account-supply.ts";
import { keyOf } from "./accounts/key-name.ts";
import { MachineBlock } from "./block-session.ts";
import { Dispatcher } from "./machines/dispatcher.ts";
import type { MachineAnswer } from "./machines/job.ts";
import { type MachineLog, MachineProcess } from "./machines/machine-process.ts";
import { socketDirectory } from "./machines/socket-directory.ts";
import { outcomeOf, unavailable } from "./outcome.ts";
import { Preparer } from "./preparation.ts";
import type { PreparedBundle } from "./resolve/prepared-bundle.ts";
import { Resolver } from "./resolve/resolver.ts";
import type {
  AccountSource,
  BlockSession,
  BundleOutcome,
  SimulatedBundle,
  Simulator,
  SimulatorFacts,
} from "./simulation.ts";

export const simulatorDefaults = {
  processes: 1,
  /** Account data kept by the server; each process keeps at most as much again twice. */
  cacheBytesMax: 192 * 1_024 * 1_024,
  /** Bundles that may wait or be under way. */
  bundlesMax: 8_192,
  /** How long a process may take over one frame of bundles; then it is ended and begins anew. */
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
  readonly log: MachineLog;
  /** Whether a transaction may still carry this blockhash; one that may not must carry a nonce. */
  isRecentBlockhash(blockhash: Address): boolean;
}

/** How often machines that hang and bundles that wait too long are looked for. */
const SWEEP_MS = 250;
/** A bundle of which a lookup table changes on its way is prepared anew so often. */
const PREPARATIONS_MAX = 3;

/** Sysvars of which programs are told without naming them. */
const everywhere = [
  sysvars.clock,
  sysvars.epochRewards,
  sysvars.epochSchedule,
  sysvars.lastRestartSlot,
  sysvars.recentBlockhashes,
  sysvars.rent,
  sysvars.slotHashes,
  sysvars.stakeHistory,
];

/** Starts the machines; rejects when one does not start. */
export async function createSimulator(options: SimulatorOptions, deps: SimulatorDependencies): Promise<Simulator> {
  const directory = socketDirectory();
  const simulator = new MachineSimulator({ ...simulatorDefaults, ...options, directory }, deps);
  try {
    await simulator.start();
  } catch (fault) {
    await simulator[Symbol.asyncDispose]();
    throw fault;
  }
  return simulator;
}

type AllOptions = Required<SimulatorOptions> & { readonly directory: string };

class MachineSimulator implements Simulator {
  readonly #options: AllOptions;
  readonly #deps: SimulatorDependencies;
  readonly #cache: AccountCache;
  readonly #preparer: Preparer;
  readonly #dispatcher: Dispatcher;
  readonly #machines: MachineProcess[] = [];
  readonly #always: readonly AccountEntry[];
  readonly #tipAccounts: readonly Uint8Array[];
  readonly #sweep: ReturnType<typeof setInterval>;
  #newestSlot = 0n;
  #bundles = 0;
  #blocks = 0;
  #isClosed = false;

  constructor(options: AllOptions, deps: SimulatorDependencies) {
    this.#options = options;
    this.#deps = deps;
    const newestSlot = () => this.#newestSlot;
    this.#tipAccounts = options.tipAccounts.map(keyOf);
    this.#cache = new AccountCache({
      bytesMax: options.cacheBytesMax,
      onForgotten: ({ handle }) => {
        for (const machine of this.#machines) machine.forget(handle);
      },
    });
    this.#always = everywhere.map((address) => this.#cache.of(keyOf(address)));
    for (const entry of this.#always) entry.pins += 1;
    const { cache, tipAccounts } = { cache: this.#cache, tipAccounts: this.#tipAccounts };
    const supply = new AccountSupply({ cache, source: deps.source, newestSlot, clock: deps.clock });
    const isRecentBlockhash = (blockhash: Address) => deps.isRecentBlockhash(blockhash);
    const resolver = new Resolver({ cache, supply, tipAccounts, isRecentBlockhash });
    this.#preparer = new Preparer({ supply, resolver, always: this.#always, newestSlot });
    this.#dispatcher = new Dispatcher(options);
    this.#sweep = setInterval(() => this.#dispatcher.sweep(deps.clock.monotonic()), SWEEP_MS);
  }

  async start(): Promise<void> {
    const { directory, processes } = this.#options;
    const { clock, random, log } = this.#deps;
    const started = Array.from({ length: processes }, async (_, number) => {
      const machine = await MachineProcess.start(
        { directory, number },
        {
          ...{ clock, random, log, always: this.#always, tipAccounts: this.#tipAccounts },
          onRoom: () => this.#dispatcher.pump(),
          onEnded: (ended, lost) => this.#dispatcher.lost(ended, lost),
        },
      );
      this.#machines.push(machine);
      this.#dispatcher.add(machine);
    });
    const faults = (await Promise.allSettled(started)).flatMap((each) =>
      each.status === "rejected" ? each.reason : [],
    );
    if (faults.length > 0) throw faults[0];
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
    for (let attempt = 0; attempt < PREPARATIONS_MAX; attempt += 1) {
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
      since: this.#deps.clock.monotonic(),
      settle: resolve,
    });
    return promise;
  }

  openBlock(slot: bigint): BlockSession {
    this.#blocks += 1;
    return new MachineBlock(slot, this.#blocks, {
      dispatcher: this.#dispatcher,
      now: () => this.#deps.clock.monotonic(),
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
    clearInterval(this.#sweep);
    this.#dispatcher.close();
    await Promise.all(this.#machines.map((machine) => machine[Symbol.asyncDispose]()));
    rmSync(this.#options.directory, { recursive: true, force: true });
  }
}
