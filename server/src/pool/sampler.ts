import { BackgroundTask, type Clock } from "@sluice/lib";
import type { Ledger, PoolSampleReads, SampledPool } from "../ledger/index.ts";
import type { StakePoolEvents } from "./events.ts";
import type { ReadFigures } from "./figures-source.ts";
import { endedEpochRow, regularMoment, sampleRows } from "./sample.ts";

export interface SamplerOptions {
  /** Milliseconds from one look at the pool to the next: an epoch is sampled at most that late. */
  readonly everyMs: number;
}

export interface SamplerDependencies {
  /** Whether a node has been heard of; before, there is nothing to look at. */
  readonly hasNode: () => boolean;
  /** A reading that begins when it is asked for. */
  readonly read: () => Promise<ReadFigures>;
  /** Which pool is sampled; null while its chain is not known. */
  readonly sampled: () => SampledPool | null;
  readonly ledger: Pick<Ledger, "insert"> & { readonly poolSamples: Pick<PoolSampleReads, "lastUpTo"> };
  readonly clock: Clock;
  readonly events: Pick<StakePoolEvents, "readingFailed" | "sampled">;
}

/** How soon a look is repeated that found no node. */
const nodeWaitMs = 1_000;

/**
 * Writes samples of a pool into the ledger: one every ten minutes, one for each epoch that the pool's update counted,
 * and one of what that update found, which stood until the epoch before had ended. A moment that has a sample keeps it:
 * who begins later in the same epoch, or in the same ten minutes, finds the pool otherwise. What fails is tried again
 * at the next look; a moment that was missed stays missing.
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
    const { clock, hasNode, read, sampled } = this.#dependencies;
    if (!hasNode()) return this.#looking.runWithin(nodeWaitMs);
    const at = regularMoment(clock.now());
    const figures = await read();
    const of = sampled();
    const { snapshot, facts } = figures;
    if (of === null || snapshot === null) return;
    const { lastUpdateEpoch } = snapshot.pool;
    // An epoch whose facts are not read yet is sampled once they are.
    if (facts !== null && lastUpdateEpoch === snapshot.epoch && this.#writtenEpoch !== lastUpdateEpoch) {
      const ended = endedEpochRow(of, figures);
      if (ended !== null && !(await this.#has(of, ended.at))) {
        await this.#dependencies.ledger.insert("pool_samples", [ended]);
      }
      const start = Number(snapshot.epochStartTimestamp) * 1_000;
      if (!(await this.#has(of, start, lastUpdateEpoch))) await this.#write(of, figures, { at: start, isEpoch: true });
      this.#writtenEpoch = lastUpdateEpoch;
    }
    if (at === this.#writtenAt) return;
    if (!(await this.#has(of, at))) await this.#write(of, figures, { at, isEpoch: false });
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

  /** Whether a moment has a sample, of a pool that was updated in an epoch where one is named. */
  async #has(of: SampledPool, atMs: number, updatedIn: bigint | null = null): Promise<boolean> {
    const found = await this.#dependencies.ledger.poolSamples.lastUpTo(of, { fromMs: atMs, toMs: atMs });
    return found !== null && (updatedIn ?? found.updatedIn) === found.updatedIn;
  }
}
