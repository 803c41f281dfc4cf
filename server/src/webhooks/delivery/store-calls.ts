import { backoffDelayMs, sleep } from "@sluice/lib";
import type { DeliveryDependencies } from "./interfaces.ts";

const backoff = { baseMs: 50, maxMs: 2_000 };

/** Calls of the store that are repeated until it answers: what an attempt has led to must not be lost with it. */
export class StoreCalls {
  readonly #dependencies: Pick<DeliveryDependencies, "clock" | "random" | "events">;
  #isFailing = false;

  constructor(dependencies: Pick<DeliveryDependencies, "clock" | "random" | "events">) {
    this.#dependencies = dependencies;
  }

  /** The result, or null once it is not needed any more. Never rejects. */
  async until<T>(what: string, isNeeded: () => boolean, call: () => Promise<T>): Promise<T | null> {
    const { clock, random } = this.#dependencies;
    for (let tries = 0; isNeeded(); tries += 1) {
      try {
        const result = await call();
        this.works();
        return result;
      } catch (error) {
        this.failed(what, error);
        await sleep(clock, backoffDelayMs(tries, backoff, random));
      }
    }
    return null;
  }

  /** The result, or null when it fails: it is asked again at another time. Never rejects. */
  async once<T>(what: string, call: () => Promise<T>): Promise<T | null> {
    try {
      const result = await call();
      this.works();
      return result;
    } catch (error) {
      this.failed(what, error);
      return null;
    }
  }

  works(): void {
    if (this.#isFailing) this.#dependencies.events.storeWorks();
    this.#isFailing = false;
  }

  failed(what: string, error: unknown): void {
    this.#dependencies.events.storeFailed({ what, error, isFirst: !this.#isFailing });
    this.#isFailing = true;
  }
}
