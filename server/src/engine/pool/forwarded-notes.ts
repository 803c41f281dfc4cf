import type { BundleStore } from "../../state/index.ts";
import type { BundleRecord } from "../model/bundle.ts";
import { Duty } from "./duty.ts";
import type { LiveBundles } from "./live-bundles.ts";
import { poolLimits } from "./pool-options.ts";

type At = Pick<NonNullable<BundleRecord["forwarded"]>, "slot" | "leader">;

/**
 * Counts in memory how often bundles were forwarded and writes the counts of a second together. A step writes its
 * bundle's count as well, so only what a kill catches within that second is forgotten.
 */
export class ForwardedNotes implements AsyncDisposable {
  readonly #live: LiveBundles;
  readonly #store: Pick<BundleStore, "noteForwarded">;
  /** Ids whose counts the disk does not have; never more than there are live bundles. */
  readonly #unwritten = new Set<string>();
  readonly #duty: Duty;

  constructor(
    options: { readonly hasTimers: boolean },
    dependencies: {
      readonly live: LiveBundles;
      readonly store: Pick<BundleStore, "noteForwarded">;
      readonly caught: (error: unknown) => void;
    },
  ) {
    this.#live = dependencies.live;
    this.#store = dependencies.store;
    this.#duty = new Duty(options, { work: () => this.#writeAll(), caught: dependencies.caught });
  }

  note(ids: readonly string[], { slot, leader }: At): void {
    for (const id of ids) {
      const live = this.#live.get(id);
      if (live === null) continue;
      const times = (live.record.forwarded?.times ?? 0) + 1;
      this.#live.replace(live, { ...live.record, forwarded: { times, slot, leader } });
      this.#unwritten.add(id);
    }
    if (this.#unwritten.size > 0) this.#duty.within(poolLimits.forwardedMs);
  }

  /** Writes what is not written; joins a run that is under way. Never rejects. */
  write(): Promise<void> {
    return this.#duty.run();
  }

  ended(id: string): void {
    this.#unwritten.delete(id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#duty[Symbol.asyncDispose]();
    await this.#duty.run();
  }

  async #writeAll(): Promise<void> {
    while (this.#unwritten.size > 0) {
      const ids = [...this.#unwritten].slice(0, poolLimits.forwardedBatch);
      const notes = ids.flatMap((id) => {
        const forwarded = this.#live.get(id)?.record.forwarded ?? null;
        return forwarded === null ? [] : [{ id, forwarded }];
      });
      // What is forwarded while this is written is noted again.
      for (const id of ids) this.#unwritten.delete(id);
      await this.#write(notes);
    }
  }

  async #write(notes: Parameters<BundleStore["noteForwarded"]>[0]): Promise<void> {
    try {
      await this.#store.noteForwarded(notes);
    } catch (error) {
      for (const { id } of notes) if (this.#live.get(id) !== null) this.#unwritten.add(id);
      this.#duty.within(poolLimits.outcomesRetryMs);
      throw error;
    }
  }
}
