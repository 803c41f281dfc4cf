import { BackgroundTask, type Clock } from "@sluice/lib";
import type { WebhookStore } from "../../state/index.ts";

/** So many deliveries in a transaction: about 20 ms on SQLite. */
const deletedAtOnce = 2_000;
/** What another process, or this one before it was killed, has left is looked for this often. */
const everyMs = 60_000;

/** Deletes what deleted webhooks have left, in small steps: soon after a deletion, and once a minute. */
export class WebhookCleaning implements AsyncDisposable {
  readonly #task: BackgroundTask;
  #isClosed = false;

  constructor(dependencies: {
    readonly clock: Clock;
    readonly store: Pick<WebhookStore, "clean">;
    readonly onError: (error: unknown) => void;
  }) {
    const { clock, store, onError } = dependencies;
    const work = async (): Promise<void> => {
      while (!this.#isClosed && (await store.clean(deletedAtOnce)) > 0);
    };
    this.#task = new BackgroundTask({ everyMs }, { clock, work, onError });
  }

  /** A webhook was deleted. */
  deleted(): void {
    this.#task.runWithin(0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#task[Symbol.asyncDispose]();
  }
}
