import type { FilterSet } from "@sluice/geyser";
import type { Clock, Random } from "@sluice/lib";
import type { BlockReader } from "../../events/index.ts";
import { GrpcStatusError } from "../../net/index.ts";
import type { FlowBlock } from "../flow/flow-block.ts";
import type { NetworkFlow } from "../flow/flows.ts";
import type { YellowstoneEvents } from "./events.ts";
import type { NodeFeed } from "./node-feed.ts";
import { Plans } from "./plans.ts";
import { BlockContent, type SlotExtras } from "./slot-content.ts";
import { SlotStatuses } from "./slot-statuses.ts";

export interface NetworkStreamsDependencies {
  readonly clock: Pick<Clock, "now">;
  readonly random: Random;
  /** Shared with the other protocols of the flow. */
  readonly reader: BlockReader;
  readonly events: Pick<YellowstoneEvents, "gapTold" | "toldLate">;
}

/** What the streams of one network share, as long as its log is open. */
export class NetworkStreams {
  readonly #with: (block: FlowBlock, extras: SlotExtras) => BlockContent;
  readonly #contents = new WeakMap<FlowBlock, BlockContent>();
  readonly plans: Plans;
  /** What their subscriptions need of it. */
  readonly parts;
  /** Null where no node of the network has a Yellowstone stream. */
  readonly feed: NodeFeed | null;

  constructor(flow: NetworkFlow, feed: NodeFeed | null, { clock, random, reader, events }: NetworkStreamsDependencies) {
    const make = (block: FlowBlock): BlockContent => new BlockContent(block, { reader, nowMs: clock.now() });
    this.plans = new Plans({ random });
    this.feed = feed;
    this.#with = (block, extras) => new BlockContent(block, { reader, nowMs: clock.now(), extras });
    this.parts = {
      flow,
      plans: this.plans,
      statuses: new SlotStatuses(flow),
      contentOf: (block: FlowBlock) => block.form(make),
      contentWith: (block: FlowBlock, extras: SlotExtras) => this.#contentWith(block, extras),
      now: () => clock.now(),
      gap: () => events.gapTold(flow.network),
      late: () => events.toldLate(flow.network),
    };
  }

  /** Of a block with what a node tells beside it; the newest are remembered for those who are told together. */
  #contentWith(block: FlowBlock, extras: SlotExtras): BlockContent {
    const known = this.#contents.get(block);
    if (known !== undefined && isSame(known, extras)) return known;
    const content = this.#with(block, extras);
    this.#contents.set(block, content);
    return content;
  }

  /** @throws {GrpcStatusError} INVALID_ARGUMENT for what no source of this network gives */
  requireServed({ needs }: FilterSet): void {
    if (this.feed !== null) return;
    const missing = needs.accounts
      ? "accounts"
      : needs.entries
        ? "entries"
        : needs.interslot
          ? "interslot_updates"
          : null;
    if (missing === null) return;
    const text = `${missing} need a node with a Yellowstone source (;grpc=), and this network has none`;
    throw new GrpcStatusError("INVALID_ARGUMENT", `failed to create filter: ${text}`);
  }
}

/** Whether a content was made with the same: one that began later has less of the first slots. */
function isSame(content: BlockContent, { accounts, entries }: SlotExtras): boolean {
  return content.accounts.length === accounts.length && content.entries.length === entries.length;
}
