import { numberOf, numberOrNull } from "../rows.ts";
import type { QueuedDelivery } from "../webhook-delivery-records.ts";
import type { WebhookDeliveryRow } from "../webhook-tables.ts";

/** A row of a queue, without a detail that is long. */
export type ListedRow = WebhookDeliveryRow & { readonly is_long: bigint };

export const toListed = (row: ListedRow): QueuedDelivery =>
  row.is_long === 0n ? toDelivery(row) : { ...toDelivery(row), hasLongDetail: true };

export const toDelivery = (row: WebhookDeliveryRow): QueuedDelivery => ({
  deliveryId: row.delivery_id,
  webhookId: row.webhook_id,
  eventId: row.event_id,
  event: row.event,
  slot: row.slot,
  blockhash: row.blockhash,
  ordinal: numberOf(row.ordinal),
  txIndex: numberOrNull(row.tx_index),
  account: row.account,
  undecided: row.undecided,
  attempts: numberOf(row.attempts),
  createdAt: numberOf(row.created_at),
  dueAt: numberOrNull(row.due_at),
  lastAttemptAt: numberOrNull(row.last_attempt_at),
  lastStatusCode: numberOrNull(row.last_status_code),
  lastError: row.last_error,
  detail: row.detail,
});
