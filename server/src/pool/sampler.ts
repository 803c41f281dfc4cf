import { BackgroundTask, type Clock } from "@sluice/lib";
import type { Ledger, SampledPool } from "../ledger/index.ts";
import type { StakePoolEvents } from "./events.ts";
import type { ReadFigures } from "./figures-source.ts";
import { endedEpochRow, regularMoment, sampleRows } from "./sample.ts";

export interface SamplerOptions {
  /** Milliseconds from one look at the pool to the next: an epoch is sampled at most that late. */
  readonly everyMs: number;
}

export interface SamplerDependencies {
  readonly read: () => Promise<ReadFigures>;
  /** Which pool is sampled; null while its chain is not known. */
  readonly sampled: () => SampledPool | null;
  readonly ledger: Pick<Ledger, "insert">;
  readonly clock: Clock;
  readonly events: Pick<StakePoolEvents, "readingFailed" | "sampled">;
}

/**
 * Writes samples of a pool into the ledger: one every ten minutes, one for each epoch that the pool's update counted,
 * and one of what that update found, which stood until the epoch before had ended. What fails is tried again at the
 * next look; a moment that was missed stays missing.
 */
export class PoolSampler implements AsyncDisposable {
  readonly #dependencies: SamplerDependencies;
  readonly #looking: BackgroundTask;
  #writtenAt = 0;
  #writtenEpoch: bigint | null = null;

  constructor({ everyMs }: SamplerOptions, dependencies: SamplerDependencies) {
    this.#dependencies = dependencies;
    const { clock, events } = dependencies;
    this.#looking = new BackgroundTask(
      { everyMs },
      { clock, work: () => this.#look(), onError: (error) => events.readingFailed("samples", error) },
    );
    void this.#looking.run();
  }

  /** Looks now, or joins the look under way. Never rejects. */
  look(): Promise<void> {
    return this.#looking.run();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#looking[Symbol.asyncDispose]();
  }

  async #look(): Promise<void> {
    const { clock, read, sampled } = this.#dependencies;
    const figures = await read();
    const of = sampled();
    const { snapshot, facts } = figures;
    if (of === null || snapshot === null) return;
    const { lastUpdateEpoch } = snapshot.pool;
    // An epoch whose facts are not read yet is sampled once they are.
    if (facts !== null && lastUpdateEpoch === snapshot.epoch && this.#writtenEpoch !== lastUpdateEpoch) {
      const ended = endedEpochRow(of, figures);
      if (ended !== null) await this.#dependencies.ledger.insert("pool_samples", [ended]);
      await this.#write(of, figures, { at: Number(snapshot.epochStartTimestamp) * 1_000, isEpoch: true });
      this.#writtenEpoch = lastUpdateEpoch;
    }
    const at = regularMoment(clock.now());
    if (at === this.#writtenAt) return;
    await this.#write(of, figures, { at, isEpoch: false });
    this.#writtenAt = at;
  }

  async #write(of: SampledPool, figures: ReadFigures, moment: { at: number; isEpoch: boolean }): Promise<void> {
    const rows = sampleRows(of, figures, moment);
    if (rows === null) return;
    const { ledger, events } = this.#dependencies;
    // Validators first: an epoch whose pool was sampled has them.
    if (rows.validators.length > 0) await ledger.insert("pool_validator_samples", rows.validators);
    await ledger.insert("pool_samples", [rows.pool]);
    events.sampled(moment.isEpoch ? "epoch" : "regular");
  }
}
