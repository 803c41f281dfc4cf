/** The rows of webhooks, as both drivers give them; bytes are a Uint8Array or a subclass of it. */
export interface WebhookRow {
  id: string;
  account_id: string;
  network: string;
  url: string;
  /** JSON list of names of events. */
  events: string;
  /** JSON text of the filters as they were given, validated. */
  filters: string;
  description: string;
  /** JSON text of `{max_attempts, backoff_multiplier}`. */
  retry_policy: string;
  fifo: bigint;
  /** `active`, `paused` or `disabled`. */
  status: string;
  status_reason: string | null;
  status_at: bigint;
  /** Sealed under the master key, bound to `webhookSecretId`. */
  secret: Uint8Array;
  /** The secret that takes over when the overlap ends; null where none was rotated in. */
  next_secret: Uint8Array | null;
  overlap_ends_at: bigint | null;
  /** JSON list of `{secret, ends_at}`, the secret in base64; null for none. */
  retired_secrets: string | null;
  created_at: bigint;
  updated_at: bigint;
  last_success_at: bigint | null;
  failing_since: bigint | null;
  /** When its owner was told last what can be recovered; null before the first time. */
  recoverable_told_at: bigint | null;
}

/** The changes of a network's webhooks that matter to matching or delivery, counted by the commits that make them. */
export interface WebhookRevisionRow {
  network: string;
  revision: bigint;
}

/** Which webhook a revision changed, made or deleted. */
export interface WebhookChangeRow {
  network: string;
  revision: bigint;
  webhook_id: string;
}

/** Up to where the scheduler of a shard has followed the log at one stage. */
export interface WebhookCursorRow {
  network: string;
  shard: bigint;
  /** `confirmed` or `finalized`. */
  stage: string;
  cursor: string;
  /** Of the lease under which it was written last. */
  epoch: bigint;
}

/** The queue of one webhook. It outlives its webhook until its deliveries are deleted. */
export interface WebhookQueueRow {
  webhook_id: string;
  /** The worker that delivers it; empty for nobody. */
  holder: string;
  /** One more with each worker that takes it. */
  epoch: bigint;
  /** Deliveries that wait. */
  waiting: bigint;
  /** Since when it waits for credits. */
  parked_at: bigint | null;
  /** Cursors of the log from which its deliveries are still to be made; null where it is not behind. */
  behind_confirmed: string | null;
  behind_finalized: string | null;
  behind_since: bigint | null;
  /** How often its owner has made something due; null for never. */
  asked: bigint | null;
}

export interface WebhookWorkerRow {
  worker: string;
  beats: bigint;
}

/** One event for one webhook. It has no body, which is made again from its place on the chain. */
export interface WebhookDeliveryRow {
  delivery_id: string;
  webhook_id: string;
  event_id: string;
  event: string;
  slot: bigint;
  blockhash: string;
  /** The event's place among those of its block. */
  ordinal: bigint;
  tx_index: bigint | null;
  account: string | null;
  /** `pending` or `exhausted`. */
  status: string;
  attempts: bigint;
  created_at: bigint;
  /** 0 before the first attempt, the time of the next one after it, null when exhausted. */
  due_at: bigint | null;
  last_attempt_at: bigint | null;
  last_status_code: bigint | null;
  last_error: string | null;
  /** What cannot be made again from the chain: data of an account that was read; the whole data of a test. */
  detail: string | null;
  /** JSON text of the filters that the block did not decide; null where it decided all. */
  undecided: string | null;
}

/** Facts of attempts that were committed together, until the ledger has them. */
export interface WebhookFactsRow {
  /** In the order of the commits of one process. */
  id: string;
  /** Which delivered them, and takes them to the ledger. */
  worker: string;
  count: bigint;
  /** Characters of `facts`. */
  length: bigint;
  /** JSON objects with commas between. */
  facts: string;
}

/** What the owner of a webhook is told of it. */
export interface WebhookNoticeRow {
  id: string;
  webhook_id: string;
  at: bigint;
  code: string;
  /** JSON text. */
  detail: string;
}

export interface WebhookTables {
  webhooks: WebhookRow;
  webhook_revisions: WebhookRevisionRow;
  webhook_changes: WebhookChangeRow;
  webhook_cursors: WebhookCursorRow;
  webhook_queues: WebhookQueueRow;
  webhook_workers: WebhookWorkerRow;
  webhook_deliveries: WebhookDeliveryRow;
  webhook_notices: WebhookNoticeRow;
  webhook_facts: WebhookFactsRow;
}
