import { SingleFlight, type Timer, type Timers } from "@sluice/lib";
import type { EngineSwitchRecord } from "../../state/index.ts";

export interface SwitchesDependencies {
  readonly store: { all(): Promise<readonly Pick<EngineSwitchRecord, "name" | "isOn">[]> };
  readonly clock: Timers;
  readonly retryableError: (what: string, error: unknown) => void;
}

/** How often the store is read for switches that other processes have set. */
const refreshMs = 1_000;

/**
 * The operator's switches. In maintenance the engine takes no bundles and goes on with those it has; halted, it
 * delivers nothing to leaders either.
 */
export class Switches implements AsyncDisposable {
  readonly #dependencies: SwitchesDependencies;
  readonly #reading: SingleFlight<void>;
  readonly #timer: Timer;
  #maintenance = false;
  #halted = false;

  constructor(dependencies: SwitchesDependencies) {
    this.#dependencies = dependencies;
    this.#reading = new SingleFlight(() => this.#read());
    this.#timer = dependencies.clock.every(refreshMs, () => void this.#reading.run());
  }

  get isInMaintenance(): boolean {
    return this.#maintenance || this.#halted;
  }

  get isHalted(): boolean {
    return this.#halted;
  }

  /** Resolves when the store's switches at this call are known; switches that cannot be read stay as they were. */
  async refresh(): Promise<void> {
    // A read under way may have begun before the caller's write.
    await this.#reading.running;
    await this.#reading.run();
  }

  async #read(): Promise<void> {
    try {
      const switches = await this.#dependencies.store.all();
      const isOn = (name: string): boolean => switches.some((each) => each.name === name && each.isOn);
      this.#maintenance = isOn("maintenance");
      this.#halted = isOn("halted");
    } catch (error) {
      this.#dependencies.retryableError("switches", error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#timer.cancel();
    await this.#reading.running;
  }
}
