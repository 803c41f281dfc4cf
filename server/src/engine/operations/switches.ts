/** What operators switch; the state's switches have this shape. */
export interface SwitchStore {
  all(): Promise<readonly { readonly name: "maintenance" | "halted"; readonly isOn: boolean }[]>;
}

export interface SwitchesDependencies {
  readonly store: SwitchStore;
  readonly retryableError: (what: string, error: unknown) => void;
}

/** How often the store is asked what operators of other processes have switched. */
const lookMs = 1_000;

/**
 * The engine's switches. In maintenance it takes no bundles and goes on with those it has; halted, it hands nothing to
 * leaders either.
 */
export class Switches implements Disposable {
  readonly #dependencies: SwitchesDependencies;
  readonly #timer: ReturnType<typeof setInterval>;
  #maintenance = false;
  #halted = false;
  #looking: Promise<void> | null = null;

  constructor(dependencies: SwitchesDependencies) {
    this.#dependencies = dependencies;
    this.#timer = setInterval(() => void this.#ask(), lookMs);
    this.#timer.unref();
  }

  get isInMaintenance(): boolean {
    return this.#maintenance || this.#halted;
  }

  get isHalted(): boolean {
    return this.#halted;
  }

  /** Resolves when what stood in the store at this call is known; what it cannot tell stays as it was. */
  async refresh(): Promise<void> {
    // A look that is under way may have read before what the caller wrote.
    await this.#looking;
    await this.#ask();
  }

  #ask(): Promise<void> {
    this.#looking ??= this.#look()
      .catch((error: unknown) => this.#dependencies.retryableError("switches", error))
      .finally(() => {
        this.#looking = null;
      });
    return this.#looking;
  }

  async #look(): Promise<void> {
    const switches = await this.#dependencies.store.all();
    const isOn = (name: string): boolean => switches.some((each) => each.name === name && each.isOn);
    this.#maintenance = isOn("maintenance");
    this.#halted = isOn("halted");
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
