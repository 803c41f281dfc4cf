import type { HeldWebhookQueue } from "../../state/index.ts";
import type { DeliveryDependencies } from "./interfaces.ts";
import type { QueueRows } from "./queue-rows.ts";
import type { StoreCalls } from "./store-calls.ts";

interface QueueReaderDependencies extends Pick<DeliveryDependencies, "clock" | "store"> {
  readonly calls: StoreCalls;
  readonly rows: QueueRows;
  /** Whether each delivery waits for the one before. */
  readonly isInOrder: () => boolean;
  /** Called after each read. */
  readonly wake: () => void;
}

/** Retries that are due within this time are read. */
const horizonMs = 60_000;
const readAgainMs = 1_000;

/** Reads of the store what is not in memory of a queue, one read at a time. */
export class QueueReader {
  readonly #queue: HeldWebhookQueue;
  readonly #dependencies: QueueReaderDependencies;
  #isReading = false;

  constructor(queue: HeldWebhookQueue, dependencies: QueueReaderDependencies) {
    this.#queue = queue;
    this.#dependencies = dependencies;
  }

  get isReading(): boolean {
    return this.#isReading;
  }

  /** Begins to read where something is lacking. */
  refill(): void {
    const { clock, rows, wake } = this.#dependencies;
    const wantsRetries = rows.wantsRetries(clock.now());
    if (this.#isReading || !(rows.wantsFresh || wantsRetries)) return;
    this.#isReading = true;
    void this.#read(wantsRetries)
      .finally(() => {
        this.#isReading = false;
      })
      .then(wake);
  }

  async #read(wantsRetries: boolean): Promise<void> {
    const { clock, store, calls, rows, isInOrder } = this.#dependencies;
    const { webhookId } = this.#queue;
    const reading = rows.beginRead();
    const { aside } = rows;
    try {
      if (wantsRetries) {
        // In order, all that is tried again comes first, however late.
        const until = isInOrder() ? Number.MAX_SAFE_INTEGER : clock.now() + horizonMs;
        const limit = rows.retryLimit;
        const found = await calls.once("retries", () => store.retries(webhookId, { until, limit, except: aside }));
        if (found === null) return await this.#pause();
        rows.loadRetries(found, { until, limit, reading });
      }
      if (!rows.wantsFresh) return;
      const limit = rows.freshLimit;
      const found = await calls.once("deliveries", () => store.fresh(webhookId, limit, aside));
      if (found === null) return await this.#pause();
      rows.loadFresh(found, limit, reading);
    } finally {
      rows.endRead();
    }
  }

  /** While the store fails nothing is read again at once. */
  #pause(): Promise<void> {
    return new Promise((resolve) => {
      this.#dependencies.clock.after(readAgainMs, resolve);
    });
  }
}
