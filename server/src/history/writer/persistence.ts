import type { Network } from "@sluice/contract/tiers";
import { backoffDelayMs, type Clock, sleep, systemRandom } from "@sluice/lib";
import { isTransient } from "../../ledger/index.ts";
import type { HistoryEvents } from "../events.ts";

/** Waits between attempts, in milliseconds; the last one also where the ledger refuses for good. */
const waits = { firstMs: 100, lastMs: 10_000 } as const;

/** The writer was told to end while the ledger took nothing. */
class EndedError extends Error {
  override readonly name = "EndedError";
}

/** Repeats what the ledger does not take until it does, or until the end. */
export class Persistence {
  readonly #network: Network;
  readonly #dependencies: {
    readonly clock: Clock;
    readonly events: Pick<HistoryEvents, "writerFailed" | "writerWorks">;
    readonly signal: AbortSignal;
  };
  #isFailing = false;

  constructor(
    network: Network,
    dependencies: {
      readonly clock: Clock;
      readonly events: Pick<HistoryEvents, "writerFailed" | "writerWorks">;
      readonly signal: AbortSignal;
    },
  ) {
    this.#network = network;
    this.#dependencies = dependencies;
  }

  /** At the end it is still tried once. @throws {EndedError} when it failed at the end */
  async keep<T>(work: () => Promise<T>): Promise<T> {
    const { clock, events, signal } = this.#dependencies;
    for (let attempt = 0; ; attempt++) {
      if (signal.aborted && attempt > 0) throw new EndedError("the writer ends");
      try {
        const value = await work();
        if (this.#isFailing) events.writerWorks(this.#network);
        this.#isFailing = false;
        return value;
      } catch (error) {
        events.writerFailed(this.#network, { error, isFirst: !this.#isFailing });
        this.#isFailing = true;
        const options = { baseMs: waits.firstMs, maxMs: waits.lastMs };
        await sleep(clock, isTransient(error) ? backoffDelayMs(attempt, options, systemRandom) : waits.lastMs, signal);
      }
    }
  }

  /** Before the writer begins again. */
  pause(): Promise<void> {
    return sleep(this.#dependencies.clock, waits.firstMs * 10, this.#dependencies.signal);
  }
}
