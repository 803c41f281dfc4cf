import type { ChainEventName } from "@sluice/contract/webhooks";

/** The load under which processes are killed. */

export const killsLeaseMs = 2_000;
/** Events of a slot for each webhook, where rows are committed without a chain. */
export const eventsOfSlot = 4;
/** More of a webhook do not wait: nothing is scheduled meanwhile. */
export const waitingMax = 400;

interface KilledWebhook {
  /** Delivered one after the other. */
  readonly isInOrder: boolean;
  /** Where a chain tells them. */
  readonly events: readonly ChainEventName[];
}

export const killedWebhooks: readonly KilledWebhook[] = [
  { isInOrder: true, events: ["block.confirmed", "block.finalized"] },
  { isInOrder: true, events: ["transaction.finalized"] },
  { isInOrder: false, events: ["transaction.confirmed"] },
  { isInOrder: false, events: ["transaction.confirmed", "transaction.finalized"] },
  { isInOrder: false, events: ["block.confirmed", "transaction.confirmed"] },
  { isInOrder: false, events: ["block.finalized"] },
];

/** By the webhook's place among them. */
export const isInOrder = (webhook: number): boolean => killedWebhooks[webhook]?.isInOrder === true;
