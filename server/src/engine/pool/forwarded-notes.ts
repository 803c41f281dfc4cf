import { BackgroundTask, type Timers } from "@sluice/lib";
import type { BundleStore } from "../../state/index.ts";
import type { BundleRecord } from "../model/bundle.ts";
import type { LiveBundles } from "./live-bundles.ts";
import { poolLimits } from "./pool-options.ts";

type At = Pick<NonNullable<BundleRecord["forwarded"]>, "slot" | "leader">;

export interface ForwardedNotesDependencies {
  readonly live: LiveBundles;
  readonly store: Pick<BundleStore, "noteForwarded">;
  readonly clock: Timers;
  readonly onError: (error: unknown) => void;
}

/**
 * Counts in memory how often bundles were forwarded and writes the counts of a second together. A step writes its
 * bundle's count as well, so a kill loses only the counts of that second.
 */
export class ForwardedNotes implements AsyncDisposable {
  readonly #dependencies: ForwardedNotesDependencies;
  /** Ids whose counts are not on disk; never more than there are live bundles. */
  readonly #unwritten = new Set<string>();
  readonly #writing: BackgroundTask;

  constructor(dependencies: ForwardedNotesDependencies) {
    const { clock, onError } = dependencies;
    this.#dependencies = dependencies;
    this.#writing = new BackgroundTask(
      { closeMsMax: poolLimits.closeMsMax },
      { clock, work: () => this.#writeAll(), onError },
    );
  }

  note(ids: readonly string[], { slot, leader }: At): void {
    const { live: bundles } = this.#dependencies;
    for (const id of ids) {
      const live = bundles.get(id);
      if (live === null) continue;
      const times = (live.record.forwarded?.times ?? 0) + 1;
      bundles.replace(live, { ...live.record, forwarded: { times, slot, leader } });
      this.#unwritten.add(id);
    }
    if (this.#unwritten.size > 0) this.#writing.runWithin(poolLimits.forwardedMs);
  }

  /** Writes the counts that are not on disk; joins a run under way. Never rejects. */
  write(): Promise<void> {
    return this.#writing.run();
  }

  ended(id: string): void {
    this.#unwritten.delete(id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writing[Symbol.asyncDispose]();
    await this.#writing.run();
  }

  async #writeAll(): Promise<void> {
    while (this.#unwritten.size > 0) {
      const ids = [...this.#unwritten].slice(0, poolLimits.forwardedBatch);
      const notes = ids.flatMap((id) => {
        const forwarded = this.#dependencies.live.get(id)?.record.forwarded ?? null;
        return forwarded === null ? [] : [{ id, forwarded }];
      });
      // A bundle that is forwarded while this is written is noted again.
      for (const id of ids) this.#unwritten.delete(id);
      await this.#write(notes);
    }
  }

  async #write(notes: Parameters<BundleStore["noteForwarded"]>[0]): Promise<void> {
    const { live, store } = this.#dependencies;
    try {
      await store.noteForwarded(notes);
    } catch (error) {
      for (const { id } of notes) if (live.get(id) !== null) this.#unwritten.add(id);
      this.#writing.runWithin(poolLimits.outcomesRetryMs);
      throw error;
    }
  }
}
