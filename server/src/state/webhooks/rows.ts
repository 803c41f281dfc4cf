import { networks } from "@sluice/contract/tiers";
import { corrupt, numberOf, numberOrNull, oneOf, parse } from "../rows.ts";
import type { RetiredSecret, WebhookRecord, WebhookRetryPolicy } from "../webhook-records.ts";
import { webhookStatuses } from "../webhook-records.ts";
import type { WebhookRow } from "../webhook-tables.ts";

/** @throws {StateError} CORRUPT for a row that no version can have written; so do the functions below. */
export function toWebhook(row: WebhookRow): WebhookRecord {
  return {
    id: row.id,
    accountId: row.account_id,
    network: oneOf("webhooks.network", row.network, networks),
    url: row.url,
    events: toEvents(row.events),
    filters: row.filters,
    description: row.description,
    retryPolicy: toRetryPolicy(row.retry_policy),
    fifo: row.fifo !== 0n,
    status: oneOf("webhooks.status", row.status, webhookStatuses),
    statusReason: row.status_reason,
    statusAt: numberOf(row.status_at),
    secret: Uint8Array.from(row.secret),
    nextSecret: row.next_secret === null ? null : Uint8Array.from(row.next_secret),
    overlapEndsAt: numberOrNull(row.overlap_ends_at),
    retiredSecrets: row.retired_secrets === null ? [] : toRetiredSecrets(row.retired_secrets),
    createdAt: numberOf(row.created_at),
    updatedAt: numberOf(row.updated_at),
    lastSuccessAt: numberOrNull(row.last_success_at),
    failingSince: numberOrNull(row.failing_since),
  };
}

function toEvents(text: string): string[] {
  const events = parse("webhooks.events", text);
  if (!Array.isArray(events)) throw corrupt("webhooks.events");
  return events.map((event: unknown) => {
    if (typeof event !== "string") throw corrupt("webhooks.events");
    return event;
  });
}

/** What is stored of retired secrets. */
export const retiredSecretsColumn = (retired: readonly RetiredSecret[]): string | null =>
  retired.length === 0
    ? null
    : JSON.stringify(retired.map(({ secret, endsAt }) => ({ secret: secret.toBase64(), ends_at: endsAt })));

/** The oldest first. */
export function toRetiredSecrets(text: string): RetiredSecret[] {
  const listed = parse("webhooks.retired_secrets", text);
  if (!Array.isArray(listed)) throw corrupt("webhooks.retired_secrets");
  return listed.map((value: unknown) => {
    const { secret, ends_at: endsAt }: Record<string, unknown> = typeof value === "object" ? { ...value } : {};
    if (typeof secret !== "string" || typeof endsAt !== "number") throw corrupt("webhooks.retired_secrets");
    return { secret: Uint8Array.fromBase64(secret), endsAt };
  });
}

/** What is stored of a retry policy. */
export const retryPolicyColumn = ({ maxAttempts, backoffMultiplier }: WebhookRetryPolicy): string =>
  JSON.stringify({ max_attempts: maxAttempts, backoff_multiplier: backoffMultiplier });

function toRetryPolicy(text: string): WebhookRetryPolicy {
  const value = parse("webhooks.retry_policy", text);
  if (typeof value !== "object" || value === null) throw corrupt("webhooks.retry_policy");
  const { max_attempts: maxAttempts, backoff_multiplier: backoffMultiplier }: Record<string, unknown> = { ...value };
  if (typeof maxAttempts !== "number" || typeof backoffMultiplier !== "number") throw corrupt("webhooks.retry_policy");
  return { maxAttempts, backoffMultiplier };
}
