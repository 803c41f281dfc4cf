import type { Network } from "@sluice/contract/tiers";
import type { WebhookNotice, WebhookRecord } from "./webhook-records.ts";
import type { WebhookWorkerRow } from "./webhook-tables.ts";

/** Deliveries of webhooks: what waits, who delivers it, and what has become of it. All times are Unix milliseconds. */

/** The one form of a delivery's id: a prefix and 32 hex digits, of a hash or by chance. `hex` has at least so many. */
export const deliveryIdOfHex = (hex: string): string => `delivery_${hex.slice(0, 32)}`;

/** One event for one webhook, while it waits or can be recovered. */
export interface QueuedDelivery {
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly eventId: string;
  readonly event: string;
  readonly slot: bigint;
  readonly blockhash: string;
  /** The event's place among those of its block. */
  readonly ordinal: number;
  readonly txIndex: number | null;
  readonly account: string | null;
  /** As of `NewDelivery`. */
  readonly undecided: string | null;
  readonly attempts: number;
  readonly createdAt: number;
  /** 0 before the first attempt, the time of the next one after it, null when it is exhausted. */
  readonly dueAt: number | null;
  readonly lastAttemptAt: number | null;
  readonly lastStatusCode: number | null;
  readonly lastError: string | null;
  /** What cannot be made again from the chain: data of an account that was read; the whole data of a test. */
  readonly detail: string | null;
  /** Set where there is a detail that is too long to be read along with others; `detail` gives it. */
  readonly hasLongDetail?: true;
}

/** A longer detail is not read along: a queue in memory holds thousands of deliveries. */
export const shortDetailMax = 4_096;

/** A queue that a worker holds. What it writes of its deliveries is refused once another worker has taken it. */
export interface HeldWebhookQueue {
  readonly webhookId: string;
  readonly epoch: bigint;
}

/** What a worker looks at of a queue that it holds. */
export interface WebhookQueueCounts {
  readonly epoch: bigint;
  /** Deliveries that wait. */
  readonly waiting: number;
  /** How often owners have made something of it due, what had a time of its own included. */
  readonly asked: number;
}

/** A queue as it was taken, with its webhook as it is set now. */
export interface TakenWebhookQueue extends HeldWebhookQueue, WebhookQueueCounts {
  /** Since when it waits for credits. */
  readonly parkedAt: number | null;
  /** Null for a webhook that was deleted. */
  readonly webhook: WebhookRecord | null;
}

/** A queue whose deliveries have waited for credits for too long. */
export interface OverdueQueue extends HeldWebhookQueue {
  readonly deliveries: number;
}

/** A queue of which somebody has to take care. */
export interface FreeWebhookQueue extends HeldWebhookQueue {
  /** Empty for nobody. */
  readonly holder: string;
}

/** What is to be tried again until then, at most `limit`, but for these events. */
export interface RetriesPage {
  readonly until: number;
  readonly limit: number;
  readonly except?: readonly string[];
}

/** What an attempt has led to. */
export type DeliveryOutcome =
  | { readonly kind: "delivered"; readonly deliveryId: string }
  | ({ readonly kind: "failed"; readonly dueAt: number } & FailedAttempt)
  | ({ readonly kind: "exhausted" } & FailedAttempt);

interface FailedAttempt {
  readonly deliveryId: string;
  /** This one counted. */
  readonly attempts: number;
  readonly at: number;
  readonly statusCode: number | null;
  readonly error: string;
}

/** What is to be known of an attempt later: committed with its outcome, and kept until the ledger has it. */
export interface KeptFact {
  /** Which takes it to the ledger. */
  readonly worker: string;
  /** JSON text of an object. */
  readonly fact: string;
}

/** Facts that were committed together. */
export interface KeptFacts {
  readonly id: string;
  /** JSON text of a list of objects. */
  readonly facts: string;
}

/** A delivery whose data is given with it and is of no block: a test, or what an owner is told of its webhooks. */
export interface SingleDelivery {
  readonly deliveryId: string;
  readonly eventId: string;
  readonly event: string;
  /** JSON text. */
  readonly data: string;
}

/** A delivery that has ended, as it was made. */
export type RevivedDelivery = Omit<
  QueuedDelivery,
  "undecided" | "dueAt" | "lastAttemptAt" | "lastStatusCode" | "lastError" | "hasLongDetail"
>;

/** Where a delivery stands among those that wait. */
export type QueuePlace = Pick<QueuedDelivery, "dueAt" | "slot" | "ordinal" | "deliveryId">;

/** What the owner of a webhook is told of it, and an event about it for the account's other webhooks that name it. */
export interface WebhookTold extends Pick<WebhookNotice, "webhookId" | "code" | "detail"> {
  readonly event: Omit<SingleDelivery, "deliveryId">;
}

export interface RecoverableTelling {
  readonly webhookId: string;
  readonly everyMs: number;
  /** What is told of so many deliveries, the first of which was given up then. */
  readonly told: (found: { readonly deliveries: number; readonly since: number }) => WebhookTold;
}

export interface WebhookDisabling extends WebhookTold {
  readonly reason: string;
  readonly at: number;
}

/**
 * Queues of deliveries. A worker holds whole queues; it beats one row for all of them, and who sees no beat takes them
 * over. Every method throws SluiceError. Deliveries of a queue are written under its epoch.
 */
export interface WebhookDeliveryStore {
  /** Whether other processes can use this database; if not, workers other than this one are dead. */
  readonly isShared: boolean;
  /** In the form of `deliveryIdOf`, by chance. */
  newDeliveryId(): string;

  /** Shows that the worker lives. */
  beat(worker: string): Promise<void>;
  /** All that are known, with the count of their beats. At most 10,000. */
  workers(): Promise<readonly WebhookWorkerRow[]>;
  /** Forgets a worker that has ended or is presumed dead, and gives its queues up; says how many. */
  forget(worker: string): Promise<number>;
  /** Queues of active webhooks of these networks in which something waits and that nobody holds. */
  free(networks: readonly Network[], limit: number): Promise<readonly FreeWebhookQueue[]>;
  /** Takes those that are as they were seen, each in a new epoch. At most 500. */
  take(worker: string, queues: readonly HeldWebhookQueue[]): Promise<readonly TakenWebhookQueue[]>;
  /** As they are now; those that another worker has taken are not there. At most 500. */
  find(webhookIds: readonly string[]): Promise<readonly FreeWebhookQueue[]>;
  /** Gives up those that are still held under their epochs. At most 500. */
  release(queues: readonly HeldWebhookQueue[]): Promise<void>;
  /** Queues that wait for credits since `before` or longer, and how many of their deliveries have waited as long. */
  overdue(before: number, limit: number): Promise<readonly OverdueQueue[]>;
  /** How many queues somebody holds. */
  heldQueues(): Promise<number>;
  /** The queues of a worker, by webhook. */
  held(worker: string): Promise<ReadonlyMap<string, WebhookQueueCounts>>;

  /** Those never tried, in the order of the chain, but for these events. */
  fresh(webhookId: string, limit: number, except?: readonly string[]): Promise<readonly QueuedDelivery[]>;
  /** Those to be tried again, the first due first. */
  retries(webhookId: string, page: RetriesPage): Promise<readonly QueuedDelivery[]>;
  /** Those that wait and were made by then, in the order of the chain. */
  waitingSince(webhookId: string, before: number, limit: number): Promise<readonly QueuedDelivery[]>;
  /** When the first is to be tried again; null where none is. */
  nextRetry(webhookId: string): Promise<number | null>;
  /**
   * Writes an outcome together with others, and its fact where there is one; false, and nothing done, when the queue is
   * another worker's by now.
   */
  record(queue: HeldWebhookQueue, outcome: DeliveryOutcome, fact?: KeptFact | null): Promise<boolean>;
  /** Facts that a worker has kept, the oldest first. */
  facts(worker: string, limit: number): Promise<readonly KeptFacts[]>;
  /** Facts of workers that are not known any more. */
  orphanedFacts(limit: number): Promise<readonly KeptFacts[]>;
  /**
   * Commits whose facts hold this text, the newest first: what the ledger may not have yet. Looked at are the newest
   * that have so many characters, at most 10,000 of them, so that it costs no more however much is kept.
   */
  factsWith(text: string, charactersMax: number): Promise<readonly KeptFacts[]>;
  /** The ledger has these. At most 1,000. */
  dropFacts(ids: readonly string[]): Promise<void>;
  /** Drops the oldest facts beyond so many characters in all; says how many attempts that is. */
  boundFacts(charactersMax: number): Promise<number>;
  /** Keeps what was read for a delivery, so that all its attempts say the same. */
  keepDetail(queue: HeldWebhookQueue, deliveryId: string, detail: string): Promise<boolean>;
  /** `parkedAt` null unparks it. False when the queue is another worker's by now. */
  park(queue: HeldWebhookQueue, parkedAt: number | null): Promise<boolean>;

  /** An attempt has succeeded: says since when attempts had failed, null where they had not. */
  succeeded(webhookId: string, at: number): Promise<number | null>;
  /** Attempts fail since `at`, unless they have failed since earlier; says since when. */
  failing(webhookId: string, at: number): Promise<number>;
  /** Disables an active webhook and tells its owner; false when it was not active. */
  disable(disabling: WebhookDisabling): Promise<boolean>;
  /** How many deliveries of a webhook can be recovered. */
  exhausted(webhookId: string): Promise<number>;
  /**
   * Tells an owner what can be recovered, as `tell` does, unless nothing was given up since it was told last
   * (`nothing`), or that was less than `everyMs` ago (`later`).
   */
  tellRecoverable(telling: RecoverableTelling): Promise<"told" | "nothing" | "later">;
  /** Writes a notice, and a delivery of its event for each active webhook of the account that names it; at most 100. */
  tell(told: WebhookTold): Promise<void>;

  /** A delivery before all others of an active webhook; false when it is not active. */
  addSingle(webhookId: string, delivery: SingleDelivery): Promise<boolean>;
  /** Makes a delivery of the webhook due now, also one that is exhausted; null when there is none. */
  retry(webhookId: string, deliveryId: string): Promise<QueuedDelivery | null>;
  /** Makes a delivery that has ended anew, due now; false for one that is there, or whose webhook is not. */
  revive(delivery: RevivedDelivery): Promise<boolean>;
  /** Makes those exhausted deliveries due now that were given up since then, at most `limit`; says how many. */
  recover(webhookId: string, since: number, limit: number): Promise<number>;
  /** Those that wait, in the order in which they will be tried; after this one unless null. */
  pending(webhookId: string, after: QueuePlace | null, limit: number): Promise<readonly QueuedDelivery[]>;
  /** Those of the ids that wait or are exhausted, of any account, without long details. At most 1,000. */
  get(deliveryIds: readonly string[]): Promise<readonly QueuedDelivery[]>;
  /** The detail of a delivery, however long; null where there is none. */
  detail(deliveryId: string): Promise<string | null>;
  /** Deletes exhausted deliveries of before then, at most `limit`; says how many. */
  dropExhausted(before: number, limit: number): Promise<number>;
}
