import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ManualClock, systemRandom } from "@sluice/lib";
import { type BundleStore, openState, type State } from "../../../state/index.ts";
import { type DurableBundlePool, openBundlePool } from "../bundle-pool.ts";
import type { PoolOptions } from "../pool-options.ts";
import { anyChain, KeptLedger, SeenEvents, startMs } from "./bundles.ts";
import { changedStore } from "./changed-store.ts";

/** Work that waits until the test lets it go on. */
export class Gate {
  readonly #open = Promise.withResolvers<void>();
  /** Resolves when somebody waits. */
  readonly reached: Promise<void>;
  readonly #reach: () => void;

  constructor() {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.reached = promise;
    this.#reach = resolve;
  }

  open(): void {
    this.#open.resolve();
  }

  wait(): Promise<void> {
    this.#reach();
    return this.#open.promise;
  }
}

/** An empty store of bundles on disk, with a clock whose timers fire when the test moves it. */
export class PoolStand implements AsyncDisposable {
  readonly clock: ManualClock;
  readonly events = new SeenEvents();
  readonly ledger = new KeptLedger();
  readonly #state: State;
  readonly #directory: string;

  private constructor(clock: ManualClock, state: State, directory: string) {
    this.clock = clock;
    this.#state = state;
    this.#directory = directory;
  }

  static async open(): Promise<PoolStand> {
    const directory = mkdtempSync(join(tmpdir(), "sluice-pool-"));
    const clock = new ManualClock(startMs);
    const log = { info: () => {}, warn: () => {} };
    const state = await openState({ directory, databaseUrl: null }, { clock, random: systemRandom, log });
    return new PoolStand(clock, state, directory);
  }

  get store(): BundleStore {
    return this.#state.engine.of("mainnet").bundles;
  }

  /** A pool over the store in which some methods are others. */
  pool(changes: Partial<BundleStore> = {}, options: PoolOptions = {}): Promise<DurableBundlePool> {
    const { clock, ledger, events } = this;
    return openBundlePool(options, { store: changedStore(this.store, changes), ...anyChain, ledger, clock, events });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#state[Symbol.asyncDispose]();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
