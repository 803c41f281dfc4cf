import type { Network } from "@sluice/contract/tiers";
import type { LeaseRecord } from "./lease-records.ts";
import type { WebhookTold } from "./webhook-delivery-records.ts";

/** What the scheduler of webhooks writes: deliveries, and how far it has come. All times are Unix milliseconds. */

/** The stages of the log at which events of webhooks happen. */
export const webhookStages = ["confirmed", "finalized"] as const;
export type WebhookStage = (typeof webhookStages)[number];

/** One event for one webhook, before its first attempt. It has no body, which is made of its place on the chain. */
export interface NewDelivery {
  /** Follows from the webhook and the event, so that the same delivery is made once however often it is asked for. */
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly eventId: string;
  readonly event: string;
  readonly slot: bigint;
  readonly blockhash: string;
  /** The event's place among those of its block. */
  readonly ordinal: number;
  /** The transaction's place in the block, for events of one. */
  readonly txIndex: number | null;
  /** For events of an account. */
  readonly account: string | null;
  /**
   * JSON text of those filters of the webhook, as they were, that the block does not decide: they are asked before the
   * first attempt. Null where all are decided.
   */
  readonly undecided: string | null;
}

/** Where the scheduler of a shard is at one stage. */
export interface WebhookCursor {
  readonly shard: number;
  readonly stage: WebhookStage;
  readonly cursor: string;
}

/** Blocks of one stage that a shard has matched: all of it is written, or nothing. */
export interface ScheduleStep {
  readonly stage: WebhookStage;
  /** Before them and after them. */
  readonly from: string;
  readonly to: string;
  /** Of the network's webhooks as they were matched. */
  readonly revision: bigint;
  readonly deliveries: readonly NewDelivery[];
}

/** A webhook that is behind at a stage: it was told up to `from`. */
export interface BehindWebhook {
  readonly webhookId: string;
  readonly from: string;
}

export interface CatchUpStep extends Omit<ScheduleStep, "from"> {
  readonly webhooks: readonly BehindWebhook[];
}

/** `REVISION`: webhooks have changed since. `CURSOR`: another one has moved it. */
export type StepRefusal = { readonly ok: false; readonly code: "REVISION" | "CURSOR" };

/** A webhook that is behind, and since when. */
export interface BehindQueue {
  readonly webhookId: string;
  readonly cursors: Readonly<Record<WebhookStage, string | null>>;
  readonly since: number;
}

/** Slots of which owners are told that nothing was told of them. */
export interface ScheduleGap {
  readonly stage: WebhookStage;
  readonly from: bigint;
  readonly to: bigint;
  readonly reason: string;
}

/** The part of one shard of a network. Every method throws SluiceError; under a lease that is over all of them do. */
export interface ShardSchedule {
  /** Cursors of all shards of the network, as they were last laid out. */
  cursors(): Promise<readonly WebhookCursor[]>;
  /** Replaces all of them, where they still are those of `seen`; else false. */
  layOut(next: readonly WebhookCursor[], seen: readonly WebhookCursor[]): Promise<boolean>;
  /**
   * Writes deliveries and the cursor after them. No delivery is written for a webhook that waits for credits, or of
   * which more than `webhookLimits.waiting` would wait: it is behind from `from` on, and named in the outcome.
   */
  step(step: ScheduleStep): Promise<{ readonly ok: true; readonly behind: readonly string[] } | StepRefusal>;
  /** Moves the cursor back to what is told anew, or over blocks that have no delivery. */
  move(step: Pick<ScheduleStep, "stage" | "from" | "to">): Promise<boolean>;
  /** As `step`, of webhooks that are behind; those for which there is no room stay where they are. */
  catchUp(step: CatchUpStep): Promise<{ readonly ok: true; readonly full: readonly string[] } | StepRefusal>;
  /** They are no longer behind at the stage. False, and nothing is changed, where one is not where it is said to be. */
  join(stage: WebhookStage, webhooks: readonly BehindWebhook[]): Promise<boolean>;
  /** All webhooks of the network that are behind. */
  behind(): Promise<readonly BehindQueue[]>;
  /**
   * Disables an active webhook that was behind for too long, as a change of its network's webhooks, and tells its
   * owner; false when it was not active.
   */
  disableBehind(told: WebhookTold): Promise<boolean>;
  /** Notes of webhooks that their owners are shown. The same gap is noted once. */
  noteGap(webhookIds: readonly string[], gap: ScheduleGap): Promise<void>;
}

export interface ScheduleStore {
  /** What the holder of the lease writes through. */
  under(lease: Pick<LeaseRecord, "name" | "epoch">, of: { network: Network; shard: number }): ShardSchedule;
}
