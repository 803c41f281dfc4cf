import type { Clock, Timer } from "@sluice/lib";
import type { Slot } from "@sluice/wire/identifiers";
import type { BlockSource, SourceSink } from "../source.ts";
import type { NodeBlocks } from "./node-blocks.ts";

/** The slots that one node shows, by its slot feed, which subscribes where it can and asks where it cannot. */
export interface NodeSlots {
  slotOf(commitment: "confirmed" | "finalized"): bigint | null;
  /** Whether slots of the commitment arrive. */
  isLive(commitment: "confirmed"): boolean;
}

const lookMs = 50;

/** A node that is asked for each block as its slot feed says that there is one. Any node is at least this. */
export class PollingSource implements BlockSource {
  readonly name: string;
  readonly node: string;
  readonly kind = "polling";
  readonly bringsBlocks = false;
  readonly fetchBlock: BlockSource["fetchBlock"];
  readonly fetchDigest: BlockSource["fetchDigest"];
  readonly fetchSlots: BlockSource["fetchSlots"];
  readonly #slots: NodeSlots;
  readonly #clock: Pick<Clock, "every">;
  #timer: Timer | null = null;
  #isUp = false;
  readonly #told: Record<"confirmed" | "finalized", bigint | null> = { confirmed: null, finalized: null };

  constructor(
    { node }: { readonly node: string },
    dependencies: { readonly clock: Pick<Clock, "every">; readonly slots: NodeSlots; readonly blocks: NodeBlocks },
  ) {
    const { clock, slots, blocks } = dependencies;
    this.name = node;
    this.node = node;
    this.#clock = clock;
    this.#slots = slots;
    this.fetchBlock = (slot, signal) => blocks.fetchBlock(slot, signal);
    this.fetchDigest = (slot, commitment, signal) => blocks.fetchDigest(slot, commitment, signal);
    this.fetchSlots = (from, to, signal) => blocks.fetchSlots(from, to, signal);
  }

  start(sink: SourceSink): void {
    this.#timer ??= this.#clock.every(lookMs, () => this.#look(sink), { keepsAlive: true });
    this.#look(sink);
  }

  #look(sink: SourceSink): void {
    const isUp = this.#slots.isLive("confirmed");
    if (isUp !== this.#isUp) {
      this.#isUp = isUp;
      if (isUp) sink.up(this);
      else sink.down(this, "silent");
    }
    if (!isUp) return;
    for (const stage of ["confirmed", "finalized"] as const) {
      const slot = this.#slots.slotOf(stage);
      if (slot === null || slot === this.#told[stage]) continue;
      this.#told[stage] = slot;
      sink.slot(this, { slot: slot as Slot, parent: null, stage });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#timer?.cancel();
  }
}
