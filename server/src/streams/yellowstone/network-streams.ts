import type { FilterSet } from "@sluice/geyser";
import type { Clock, Random } from "@sluice/lib";
import type { BlockReader } from "../../events/index.ts";
import { GrpcStatusError } from "../../net/index.ts";
import type { FlowBlock } from "../flow/flow-block.ts";
import type { NetworkFlow } from "../flow/flows.ts";
import type { YellowstoneEvents } from "./events.ts";
import { Plans } from "./plans.ts";
import { BlockContent } from "./slot-content.ts";
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
  readonly plans: Plans;
  /** What their subscriptions need of it. */
  readonly parts;

  constructor(flow: NetworkFlow, { clock, random, reader, events }: NetworkStreamsDependencies) {
    const make = (block: FlowBlock): BlockContent => new BlockContent(block, { reader, nowMs: clock.now() });
    this.plans = new Plans({ random });
    this.parts = {
      flow,
      plans: this.plans,
      statuses: new SlotStatuses(flow),
      contentOf: (block: FlowBlock) => block.form(make),
      now: () => clock.now(),
      gap: () => events.gapTold(flow.network),
      late: () => events.toldLate(flow.network),
    };
  }

  /** @throws {GrpcStatusError} INVALID_ARGUMENT for what no source of this network gives */
  requireServed({ needs }: FilterSet): void {
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
