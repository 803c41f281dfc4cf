import type { Network } from "@sluice/contract/tiers";
import type { PageRequest, RecordPage } from "./page.ts";

/** Webhooks: what their owners set, and what they are told of them. All times are Unix milliseconds. */

/** `paused` by its owner, `disabled` by this server. */
export const webhookStatuses = ["active", "paused", "disabled"] as const;
export type WebhookStatus = (typeof webhookStatuses)[number];

/** A secret that was rotated out and signs along until its time is over. */
export interface RetiredSecret {
  readonly secret: Uint8Array;
  readonly endsAt: number;
}

/** When failed deliveries are tried again. */
export interface WebhookRetryPolicy {
  readonly maxAttempts: number;
  readonly backoffMultiplier: number;
}

export interface WebhookRecord {
  readonly id: string;
  readonly accountId: string;
  readonly network: Network;
  readonly url: string;
  readonly events: readonly string[];
  /** JSON text of the filters as they were given, validated. */
  readonly filters: string;
  readonly description: string;
  readonly retryPolicy: WebhookRetryPolicy;
  /** Whether a delivery waits until the one before has ended. */
  readonly fifo: boolean;
  readonly status: WebhookStatus;
  /** Why it is disabled; null in the other states. */
  readonly statusReason: string | null;
  readonly statusAt: number;
  /** The text of the secret, sealed under the master key and bound to `webhookSecretId`. */
  readonly secret: Uint8Array;
  /** The secret that signs along, and takes over when the overlap ends; null where none was rotated in. */
  readonly nextSecret: Uint8Array | null;
  /** Until when `secret` signs along. */
  readonly overlapEndsAt: number | null;
  /** Those from before `secret`, the oldest first; the time of some may be over. */
  readonly retiredSecrets: readonly RetiredSecret[];
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly lastSuccessAt: number | null;
  /** Since when every attempt has failed; null where the last one succeeded. */
  readonly failingSince: number | null;
}

/** What its owner may set of a webhook. */
export type WebhookContent = Pick<WebhookRecord, "url" | "events" | "filters" | "description" | "retryPolicy" | "fifo">;

/** What its owner changes: what is absent stays as it is, within the retry policy as well. */
export type WebhookContentChanges = Partial<Omit<WebhookContent, "retryPolicy">> & {
  readonly retryPolicy?: Partial<WebhookRetryPolicy>;
};

/** Something that its owner is told of a webhook. */
export interface WebhookNotice {
  readonly id: string;
  readonly webhookId: string;
  readonly at: number;
  /** Such as `gap`, `behind`, `disabled`, `recoverable`. */
  readonly code: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** The notices that are kept of a webhook; the oldest go. */
export const webhookNoticesMax = 50;

/** What a secret of a webhook is bound to when it is sealed. */
export const webhookSecretPrefix = "webhook:";
export const webhookSecretId = (webhookId: string): string => `${webhookSecretPrefix}${webhookId}`;

/** A queue as its owner sees it. */
export interface WebhookQueueState {
  readonly webhookId: string;
  /** Deliveries that wait. */
  readonly waiting: number;
  /** Since when it waits for credits. */
  readonly parkedAt: number | null;
  /** Since when no deliveries are made for it, as too many wait or it is parked. */
  readonly behindSince: number | null;
}

/**
 * Webhooks by owner account. Methods with an `accountId` see the webhooks of that account alone. Every method throws
 * SluiceError. A change that matters to matching or delivery counts the revision of its network in its own transaction.
 */
export interface WebhookStore {
  /** Draws the id first, since the secret is sealed for it. */
  newId(): string;
  /** Null when the account has `most` webhooks already. */
  create(
    webhook: WebhookContent & Pick<WebhookRecord, "id" | "accountId" | "network" | "secret">,
    most: number,
  ): Promise<WebhookRecord | null>;
  get(accountId: string, id: string): Promise<WebhookRecord | null>;
  /**
   * Oldest first; of one network when it is given. A page ends before `limit` where the filters of its webhooks come to
   * more than 8 MiB.
   */
  list(
    page: PageRequest & { readonly accountId: string; readonly network?: Network },
  ): Promise<RecordPage<WebhookRecord>>;
  /** Null when there is none. Changes of description alone are no revision. */
  update(accountId: string, id: string, changes: WebhookContentChanges): Promise<WebhookRecord | null>;
  /** By its owner. `active` takes the reason away and begins a new count of failures. */
  setStatus(accountId: string, id: string, status: "active" | "paused"): Promise<WebhookRecord | null>;
  /**
   * Sets the newest secret. All that signed go on doing so until their own time is over; that of the one before ends
   * with the overlap. Null when there is no such webhook, `full` where `webhookLimits.secrets` sign already.
   * `at` is the present time.
   */
  rotateSecret(
    accountId: string,
    id: string,
    rotation: { readonly nextSecret: Uint8Array; readonly overlapEndsAt: number; readonly at: number },
  ): Promise<WebhookRecord | "full" | null>;
  /** The rotated secret takes over at once; a webhook without one stays as it is. */
  endOverlap(accountId: string, id: string): Promise<WebhookRecord | null>;
  /** Whether there was one. Its deliveries are gone with its queue, by `clean`. */
  delete(accountId: string, id: string): Promise<boolean>;
  /** Webhooks of the account by status. */
  count(accountId: string): Promise<Readonly<Record<WebhookStatus, number>>>;
  /** Newest first. */
  notices(webhookId: string): Promise<readonly WebhookNotice[]>;
  addNotice(webhookId: string, notice: Pick<WebhookNotice, "code" | "detail">): Promise<void>;
  /** Those of the ids that have a queue. At most 1,000. */
  queues(ids: readonly string[]): Promise<readonly WebhookQueueState[]>;

  /** Changes of the network's webhooks so far; 0 before the first. */
  revision(network: Network): Promise<bigint>;
  /** The present revision and the webhooks that changed since `seen`; null when not all of them are known any more. */
  changedSince(
    network: Network,
    seen: bigint,
  ): Promise<{ readonly revision: bigint; readonly ids: readonly string[] | null }>;
  /** Those of the network after this id, in the order of ids, until `limit` or 8 MiB of filters; empty at the end. */
  page(network: Network, after: string, limit: number): Promise<readonly WebhookRecord[]>;
  /** Those of the ids that are there. At most 100. */
  read(ids: readonly string[]): Promise<readonly WebhookRecord[]>;
  /**
   * Deletes what deleted webhooks have left: at most `most` deliveries, else a queue with its notices. Says how many
   * rows there were; 0 where nothing is left.
   */
  clean(most: number): Promise<number>;
}
