import { poolLimits } from "./pool-options.ts";

/** Work that is done from time to time, by one run at a time, and that nobody waits for. */
export class Duty implements AsyncDisposable {
  readonly #hasTimers: boolean;
  readonly #work: () => Promise<void>;
  readonly #caught: (error: unknown) => void;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #running: Promise<void> | null = null;
  #isClosed = false;

  constructor(
    options: { readonly hasTimers: boolean },
    dependencies: { readonly work: () => Promise<void>; readonly caught: (error: unknown) => void },
  ) {
    this.#hasTimers = options.hasTimers;
    this.#work = dependencies.work;
    this.#caught = dependencies.caught;
  }

  /** Whether a run was asked for that has not begun. */
  get isDue(): boolean {
    return this.#timer !== null;
  }

  /** A run begins at the latest then; one that is asked for earlier stays as it is. */
  within(delayMs: number): void {
    if (!this.#hasTimers || this.#isClosed) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      // A run under way may have looked already at what there is to do.
      void (this.#running ?? Promise.resolve()).then(() => this.run());
    }, delayMs);
    this.#timer.unref();
  }

  /** Joins a run that is under way. Never rejects. */
  run(): Promise<void> {
    this.#running ??= this.#work()
      .catch(this.#caught)
      .finally(() => {
        this.#running = null;
      });
    return this.#running;
  }

  /** No run begins by itself any more; one that is under way is waited for, at most `closeMsMax`. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#running === null) return;
    let timer: ReturnType<typeof setTimeout> | null = null;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, poolLimits.closeMsMax);
    });
    await Promise.race([this.#running, late]);
    if (timer !== null) clearTimeout(timer);
  }
}
