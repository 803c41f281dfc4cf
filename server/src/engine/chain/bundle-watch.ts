import type { Clock } from "@sluice/lib";
import type { Slot } from "@sluice/wire/identifiers";
import type { BundleChange, BundlePool, BundleRecord } from "../model/bundle.ts";
import type { EngineChain } from "../model/ports.ts";
import { claimsBefore, type EndView, endOf, landingOf, type SeenBlock, type Spoil } from "./bundle-fate.ts";
import type { ForkWindow } from "./fork-window.ts";

/** Steps of bundles that are on their way to the disk at a time. */
const stepsMax = 256;
/** What is kept of bundles that are gone is swept when it is this much more than there are live ones. */
const sweepAbove = 1_024;

export type WatchedPool = Pick<BundlePool, "everyLive" | "live" | "liveCount" | "holding" | "change">;

/** Live bundles against the blocks that are looked at: which of them are in one, and which can no longer be in any. */
export class BundleWatch {
  readonly #pool: WatchedPool;
  readonly #chain: Pick<EngineChain, "newestSlot">;
  readonly #clock: Clock;
  /** Bundles that are whole in a block of the window, and the block's slot. */
  readonly #landings = new Map<string, Slot>();
  readonly #spoils = new Map<string, Spoil>();
  readonly #overSince = new Map<string, NonNullable<EndView["overSince"]>>();
  /** Bundles that were looked for in every block that was in the window when they were first seen here. */
  readonly #known = new Set<string>();
  readonly #inherited: Set<string>;

  constructor(dependencies: { readonly pool: WatchedPool; readonly chain: EngineChain; readonly clock: Clock }) {
    this.#pool = dependencies.pool;
    this.#chain = dependencies.chain;
    this.#clock = dependencies.clock;
    this.#inherited = new Set([...dependencies.pool.everyLive()].map(({ id }) => id));
  }

  /** Looks for bundles in a new block. Gives the units of those that are whole in it. Throws what the pool throws. */
  async look(seen: SeenBlock): Promise<number> {
    const records = new Map<string, BundleRecord>();
    if (this.#pool.liveCount > 0) {
      for (const signature of seen.places.keys()) {
        for (const record of this.#pool.holding(signature)) records.set(record.id, record);
      }
    }
    return await this.#judge([...records.values()], seen);
  }

  /** Looks for bundles that came since in the blocks that were looked at before they were known. */
  async lookBack(window: ForkWindow): Promise<void> {
    const fresh: BundleRecord[] = [];
    for (const record of this.#pool.everyLive()) {
      if (!this.#known.has(record.id) && record.signatures.length > 0) fresh.push(record);
    }
    for (const seen of fresh.length === 0 ? [] : window.lately()) {
      const present = fresh.filter(({ signatures }) => signatures.some((each) => seen.places.has(each)));
      if (present.length === 0) continue;
      await this.#judge(present, seen);
      if (window.isFinal(seen.block.slot)) await this.finalized(seen);
    }
    for (const { id } of fresh) this.#known.add(id);
  }

  /** A block was lost with its fork. Its bundles may still be in another block; until that is known they stay as they are. */
  lost({ block, landed }: SeenBlock): void {
    for (const id of landed) this.#landings.delete(id);
    for (const [id, spoil] of this.#spoils) if (spoil.slot === block.slot) this.#spoils.delete(id);
  }

  /** A block is finalized, and with it the bundles in it, and the end of those that it spoilt. */
  async finalized({ block, landed }: SeenBlock): Promise<void> {
    const { slot, blockhash } = block;
    await this.#endSpoilt(block);
    await this.#step([...landed].map((id) => [id, { to: "finalized", landed: { slot, blockhash } }]));
    for (const id of landed) this.#landings.delete(id);
  }

  /** Ends the bundles that can no longer land. */
  async end(window: ForkWindow): Promise<void> {
    const { tip, base } = window;
    const ends: [string, BundleChange][] = [];
    for (const record of this.#pool.everyLive()) {
      if (this.#landings.has(record.id)) continue;
      // After a restart blocks are looked at again: one that is still ahead is not lost.
      if (record.landed !== null && record.landed.slot > tip.slot) continue;
      const spoil = this.#spoils.get(record.id) ?? null;
      const isInherited = this.#inherited.has(record.id);
      const change = endOf(record, { tip, base, spoil, isInherited, overSince: this.#isOver(record, tip.slot) });
      if (change !== null) ends.push([record.id, change]);
    }
    await this.#step(ends);
    this.#sweep();
  }

  /** Bundles that are older than the blocks that will be looked at; they are looked for one by one. */
  async judgeOld(records: readonly BundleRecord[], seen: SeenBlock): Promise<void> {
    await this.#judge(records, seen);
    await this.finalized(seen);
  }

  /** What another bundle spoilt ends while that one is still live, so that the reason is found again after a failure. */
  async #endSpoilt({ slot, height }: SeenBlock["block"]): Promise<void> {
    const view = { tip: { slot }, base: { slot, height }, overSince: null, isInherited: true };
    await this.#step(
      [...this.#spoils].flatMap(([id, spoil]): [string, BundleChange][] => {
        const record = spoil.slot === slot && !this.#landings.has(id) ? this.#pool.live(id) : null;
        const change = record === null ? null : endOf(record, { ...view, spoil });
        return change === null ? [] : [[id, change]];
      }),
    );
  }

  #isOver({ id, expiresAt }: BundleRecord, looked: Slot): EndView["overSince"] {
    const known = this.#overSince.get(id);
    if (known !== undefined || this.#clock.now() < expiresAt) return known ?? null;
    const confirmed = this.#chain.newestSlot("confirmed") ?? looked;
    const over = { confirmed, processed: this.#chain.newestSlot("processed") ?? confirmed };
    this.#overSince.set(id, over);
    return over;
  }

  async #judge(records: readonly BundleRecord[], seen: SeenBlock): Promise<number> {
    const { slot, blockhash } = seen.block;
    const judged = records.map((record) => ({ record, landing: landingOf(record, seen) }));
    const changes: [string, BundleChange][] = [];
    const landed: string[] = [];
    const second: BundleRecord[] = [];
    for (const { record, landing } of judged.toSorted((one, other) => claimsBefore(one.record, other.record))) {
      if (landing?.isWhole !== true) continue;
      if (record.signatures.some((each) => (seen.ours.get(each) ?? record.id) !== record.id)) {
        second.push(record);
        continue;
      }
      landed.push(record.id);
      for (const signature of record.signatures) seen.ours.set(signature, record.id);
      // One that is included already is included here in place of a block that was lost, or was looked at before.
      changes.push([record.id, { to: "included", slot, blockhash, tip: landing.tip }]);
    }
    await this.#step(changes);
    for (const { record, landing } of judged) {
      if (landing === null || landing.isWhole || this.#spoils.has(record.id)) continue;
      const isTaken = landing.present.some((signature) => seen.ours.has(signature));
      const reason = isTaken ? "already_processed" : "not_landed";
      this.#spoils.set(record.id, { slot, reason, detail: landing.detail });
    }
    for (const { id } of second) {
      const detail = `its transactions are in slot ${slot} as part of another bundle`;
      if (!this.#spoils.has(id)) this.#spoils.set(id, { slot, reason: "already_processed", detail });
    }
    for (const id of landed) {
      seen.landed.add(id);
      this.#landings.set(id, slot);
      this.#spoils.delete(id);
    }
    return [...seen.ours.keys()].reduce(
      (sum, each) => sum + (seen.block.transactions[seen.places.get(each) ?? -1]?.units ?? 0),
      0,
    );
  }

  /** A step that the lifecycle does not have was made before: after a failure or a restart they are asked for again. */
  async #step(changes: readonly [string, BundleChange][]): Promise<void> {
    for (let at = 0; at < changes.length; at += stepsMax) {
      await Promise.all(changes.slice(at, at + stepsMax).map(([id, change]) => this.#pool.change(id, change)));
    }
  }

  #sweep(): void {
    if (this.#known.size <= this.#pool.liveCount + sweepAbove) return;
    for (const kept of [this.#known, this.#inherited, this.#spoils, this.#overSince]) {
      for (const id of kept.keys()) if (this.#pool.live(id) === null) kept.delete(id);
    }
  }
}
