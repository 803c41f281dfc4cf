import { BackgroundTask, type Clock } from "@sluice/lib";
import type { StoreCondition, StoreEvents } from "../observe/index.ts";
import type { Stores } from "./stores.ts";

/** How often each store is asked; the embedded engine of the ledger spends a millisecond on it. */
const lookMs = { state: 1_000, hot: 1_000, ledger: 5_000 } as const;

interface Watched {
  readonly driver: string;
  reach(): Promise<void>;
}

/**
 * Asks each store now and then for nothing at all, so that it is known, measured and told when one does not answer,
 * whether or not a request needs it. One store never waits for another.
 */
export class StoreWatch implements AsyncDisposable {
  readonly #clock: Clock;
  readonly #events: StoreEvents;
  readonly #conditions = new Map<string, StoreCondition>();
  readonly #tasks: readonly BackgroundTask[];

  constructor(stores: Readonly<Record<keyof Stores, Watched>>, dependencies: { clock: Clock; events: StoreEvents }) {
    this.#clock = dependencies.clock;
    this.#events = dependencies.events;
    this.#tasks = (["state", "ledger", "hot"] as const).map((name) => {
      const { driver } = stores[name];
      const sinceMs = this.#clock.now();
      this.#conditions.set(name, { store: name, driver, isUp: true, sinceMs, latencyMs: null, lastFailure: null });
      const work = (): Promise<void> => this.#look(name, stores[name]);
      return new BackgroundTask({ everyMs: lookMs[name] }, { clock: this.#clock, work, onError: () => undefined });
    });
  }

  /** What is known of each store now. */
  get conditions(): readonly StoreCondition[] {
    return [...this.#conditions.values()];
  }

  /** Asks all of them at once. Never rejects. */
  async look(): Promise<void> {
    await Promise.all(this.#tasks.map((task) => task.run()));
  }

  async #look(name: keyof Stores, store: Watched): Promise<void> {
    const before = this.#conditions.get(name);
    if (before === undefined) return;
    const beganMs = this.#clock.monotonic();
    let condition: StoreCondition;
    try {
      await store.reach();
      const latencyMs = this.#clock.monotonic() - beganMs;
      condition = { ...before, ...this.#since(before, true), latencyMs };
    } catch (error) {
      const lastFailure = { reason: reasonOf(error), atMs: this.#clock.now() };
      condition = { ...before, ...this.#since(before, false), lastFailure };
    }
    this.#conditions.set(name, condition);
    this.#events.storeSeen(condition, before);
  }

  #since(before: StoreCondition, isUp: boolean): Pick<StoreCondition, "isUp" | "sinceMs"> {
    return { isUp, sinceMs: before.isUp === isUp ? before.sinceMs : this.#clock.now() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#tasks.map((task) => task[Symbol.asyncDispose]()));
  }
}

/** The innermost cause says most: what wraps it is for callers. */
function reasonOf(error: unknown): string {
  let at = error;
  for (let depth = 0; depth < 8 && at instanceof Error && at.cause instanceof Error; depth += 1) at = at.cause;
  return at instanceof Error ? at.message : String(at);
}
