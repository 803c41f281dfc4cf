import type { ChainEventName } from "@sluice/contract/webhooks";

/** The load under which processes are killed. */

export const killsLeaseMs = 2_000;
/** Events of a slot for each webhook, where rows are committed without a chain. */
export const eventsOfSlot = 4;
/** More of a webhook do not wait: nothing is scheduled meanwhile. */
export const waitingMax = 400;

/** What rows without a chain are events of, in turn. */
export const rowEvents: readonly ChainEventName[] = [
  "transaction.confirmed",
  "account.updated",
  "account.updated",
  "account.updated",
];
/** What the receiver of some webhooks refuses, all of it, until it is well. */
export const refusedEvent: ChainEventName = "transaction.confirmed";
/** A name that has three addresses, of which only the last one takes connections. */
export const severalName = "several.example";
export const severalAddresses = ["127.0.0.2", "127.0.0.3", "127.0.0.1"];

interface KilledWebhook {
  /** Delivered one after the other. */
  readonly isInOrder: boolean;
  /** Where a chain tells them. */
  readonly events: readonly ChainEventName[];
  /** Whether its receiver refuses `refusedEvent`. */
  readonly refuses?: true;
  /** Whether it is called by `severalName`. */
  readonly hasSeveral?: true;
}

export const killedWebhooks: readonly KilledWebhook[] = [
  { isInOrder: true, events: ["block.confirmed", "block.finalized"] },
  { isInOrder: true, events: ["transaction.finalized"] },
  { isInOrder: false, events: ["transaction.confirmed"] },
  { isInOrder: false, events: ["transaction.confirmed", "transaction.finalized"] },
  { isInOrder: false, events: ["block.confirmed", "transaction.confirmed"], refuses: true },
  { isInOrder: false, events: ["block.finalized"], hasSeveral: true },
];

/** By the webhook's place among them. */
export const refuses = (webhook: number, event: string): boolean =>
  event === refusedEvent && killedWebhooks[webhook]?.refuses === true;

/** By the webhook's place among them. */
export const isInOrder = (webhook: number): boolean => killedWebhooks[webhook]?.isInOrder === true;
