import type { BundleState } from "@sluice/contract/engine";
import type { Signature, Slot } from "@sluice/wire/identifiers";
import type { BundleChange, BundleRecord } from "../../model/bundle.ts";
import { isTerminal, stepped } from "../../model/lifecycle.ts";
import type { WatchedPool } from "../bundle-watch.ts";
import { addressNamed } from "./names.ts";

/** Bundles in memory under the engine's own lifecycle. What a step does may fail before or after it is done. */
export class SimulatedPool implements WatchedPool {
  readonly records = new Map<string, BundleRecord>();
  readonly history = new Map<string, BundleState[]>();
  readonly #live = new Map<string, BundleRecord>();
  /** Called before a step and after it; a throw there is a failing disk, or an answer that was lost. */
  disturb: (when: "before" | "after") => void = () => {};
  now = 0;

  get liveCount(): number {
    return this.#live.size;
  }

  add(record: BundleRecord): void {
    this.history.set(record.id, [record.state]);
    this.#set(record);
  }

  forwarded(id: string, slot: bigint): void {
    const record = this.#live.get(id);
    const times = (record?.forwarded?.times ?? 0) + 1;
    if (record !== undefined) {
      this.#set({ ...record, forwarded: { times, slot: slot as Slot, leader: addressNamed("leader") } });
    }
  }

  everyLive(): Iterable<BundleRecord> {
    return [...this.#live.values()];
  }

  everyAccepted(): Iterable<BundleRecord> {
    return [...this.#live.values()].filter(({ state }) => state === "accepted");
  }

  live(id: string): BundleRecord | null {
    return this.#live.get(id) ?? null;
  }

  holding(signature: Signature): readonly BundleRecord[] {
    return this.#holders.get(signature)?.flatMap((id) => this.#live.get(id) ?? []) ?? [];
  }

  readonly #holders = new Map<Signature, string[]>();

  async change(id: string, change: BundleChange): Promise<BundleRecord | null> {
    await Promise.resolve();
    this.disturb("before");
    const record = this.#live.get(id);
    const next = record === undefined ? null : stepped(record, change, this.now);
    if (next !== null) {
      this.#set(next);
      this.history.get(id)?.push(next.state);
    }
    this.disturb("after");
    return next;
  }

  #set(record: BundleRecord): void {
    if (!this.records.has(record.id)) {
      for (const signature of record.signatures) {
        this.#holders.set(signature, [...(this.#holders.get(signature) ?? []), record.id]);
      }
    }
    this.records.set(record.id, record);
    if (isTerminal(record.state)) this.#live.delete(record.id);
    else this.#live.set(record.id, record);
  }
}
