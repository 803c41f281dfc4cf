import { yellowstoneBounds } from "@sluice/contract/yellowstone";
import { GrpcStatusError } from "../../net/index.ts";
import type { FlowFrom } from "../flow/flow-receiver.ts";
import type { FeedItem, NodeFeed, NodeFeedListener } from "./node-feed.ts";
import type { Outgoing } from "./outgoing.ts";
import type { Plan } from "./plan.ts";

/** What one slot may hold of what a stream asks for, at most, before its client counts as slow whatever it reads. */
const slotBytesMax = 16 * yellowstoneBounds.waitingBytes;

export interface ProcessedSubscriptionDependencies {
  readonly feed: NodeFeed;
  readonly outgoing: Outgoing;
  readonly end: (fault: GrpcStatusError) => void;
}

/** What one stream at processed is told: what a node tells, as it comes. */
export class ProcessedSubscription implements NodeFeedListener, Disposable {
  readonly plan: Plan;
  readonly isProcessed = true;
  readonly #dependencies: ProcessedSubscriptionDependencies;
  #joined: Disposable | null = null;
  #isSlotOver = false;

  constructor(plan: Plan, dependencies: ProcessedSubscriptionDependencies) {
    this.plan = plan;
    this.#dependencies = dependencies;
  }

  get request(): Plan["request"] {
    return this.plan.request;
  }

  get position(): FlowFrom {
    return "live";
  }

  begin(): void {
    this.#joined = this.#dependencies.feed.join(this);
  }

  item(item: FeedItem): void {
    const { outgoing, end } = this.#dependencies;
    const max = this.#isSlotOver ? yellowstoneBounds.waitingBytes : slotBytesMax;
    // The client has until the next slot begins for what one held.
    this.#isSlotOver = item.kind === "slot" && item.update.status === "processed";
    if (outgoing.waitingBytes > max) end(new GrpcStatusError("INTERNAL", "lagged to send an update"));
    else outgoing.send(this.plan.itemMessages(item));
  }

  lost(): void {
    this.#dependencies.end(missed());
  }

  [Symbol.dispose](): void {
    this.#joined?.[Symbol.dispose]();
    this.#joined = null;
  }
}

/** The text of yellowstone-grpc for a server that has missed something itself. */
export const missed = (): GrpcStatusError => new GrpcStatusError("INTERNAL", "lagged to receive geyser messages");
