import type { Webhook, WebhookDelivery, WebhookDeliveryDetail, WebhookFilters } from "@sluice/contract/schemas";
import type { WebhookNotice, WebhookQueueState, WebhookRecord } from "../../state/index.ts";
import type { AttemptReport, DeliveryReport } from "../model/delivery-control.ts";
import type { DisablingReason } from "../model/operational-events.ts";

/** Records as the API shows them. */

const isoTime = (ms: number): string => new Date(ms).toISOString();
const isoTimeOrNull = (ms: number | null): string | null => (ms === null ? null : isoTime(ms));

/** The filters of a record: they were checked before they were stored. */
export const filtersOf = ({ filters }: Pick<WebhookRecord, "filters">): WebhookFilters => JSON.parse(filters);

/** What a record says with its queue and notices. `nowMs` is the present time. */
export function webhookBody(
  record: WebhookRecord,
  more: {
    readonly queue: WebhookQueueState | null;
    readonly notices: readonly WebhookNotice[];
    readonly nowMs: number;
  },
): Webhook {
  const { queue, notices, nowMs } = more;
  const overlaps = record.nextSecret !== null && (record.overlapEndsAt ?? 0) > nowMs;
  return {
    webhook_id: record.id,
    url: record.url,
    status: record.status,
    status_reason: record.statusReason,
    network: record.network,
    events: [...record.events],
    filters: filtersOf(record),
    description: record.description,
    retry_policy: {
      max_attempts: record.retryPolicy.maxAttempts,
      backoff_multiplier: record.retryPolicy.backoffMultiplier,
    },
    fifo: record.fifo,
    created_at: isoTime(record.createdAt),
    updated_at: isoTime(record.updatedAt),
    last_success_at: isoTimeOrNull(record.lastSuccessAt),
    failing_since: isoTimeOrNull(record.failingSince),
    waiting: queue?.waiting ?? 0,
    parked_since: isoTimeOrNull(queue?.parkedAt ?? null),
    behind_since: isoTimeOrNull(queue?.behindSince ?? null),
    secret_overlap_ends_at: overlaps ? isoTimeOrNull(record.overlapEndsAt) : null,
    notices: notices.map(noticeBody),
  };
}

const disablingTexts: Readonly<Record<DisablingReason, string>> = {
  gone: "its receiver answered 410. Resume it when the receiver is back",
  failing: "no delivery succeeded for 5 days. Resume it when its receiver is well",
  behind:
    "its events were not delivered for 7 days, as too many deliveries waited or the account had no credits. Resume it " +
    "to be told of what happens from then on",
};

const noticeTexts: Readonly<Record<string, (detail: WebhookNotice["detail"]) => string>> = {
  disabled: ({ reason }) => `It was disabled: ${disablingText(String(reason))}.`,
  recoverable: ({ deliveries, since }) =>
    `Its receiver answers again. ${String(deliveries)} deliveries since ${timeText(since)} were given up and can be recovered.`,
  given_up: ({ deliveries, since }) =>
    `${String(deliveries)} deliveries were given up, as the account has had no credits since ${timeText(since)}. They can be recovered for 14 days.`,
  gap: ({ from, to }) =>
    `No source had the blocks of slots ${String(from)} to ${String(to)}: their events were not delivered.`,
  behind: ({ since }) => `Too many deliveries wait; events since ${String(since)} follow as they are delivered.`,
};

const timeText = (ms: unknown): string => (typeof ms === "number" ? isoTime(ms) : String(ms));

const disablingText = (reason: string): string =>
  Object.entries(disablingTexts).find(([known]) => known === reason)?.[1] ?? reason;

function noticeBody({ code, at, detail }: WebhookNotice): Webhook["notices"][number] {
  const text = noticeTexts[code];
  return { code, at: isoTime(at), message: text === undefined ? JSON.stringify(detail) : text(detail) };
}

export function deliveryBody(report: DeliveryReport): WebhookDelivery {
  const { id, eventId, event, status, statusCode, attempts, createdAt, lastAttemptAt, error, nextAttemptAt } = report;
  return {
    id,
    event_id: eventId,
    event,
    status,
    status_code: statusCode,
    attempts,
    created_at: isoTime(createdAt),
    ...(lastAttemptAt === null
      ? {}
      : { [status === "success" ? "delivered_at" : "last_attempt_at"]: isoTime(lastAttemptAt) }),
    ...(error === null || status === "success" ? {} : { error }),
    ...(nextAttemptAt === null ? {} : { next_attempt_at: isoTime(nextAttemptAt) }),
  };
}

export function deliveryDetailBody(
  delivery: DeliveryReport,
  attempts: readonly AttemptReport[],
): WebhookDeliveryDetail {
  return {
    ...deliveryBody(delivery),
    webhook_id: delivery.webhookId,
    attempt_log: attempts.map(({ attempt, at, statusCode, error, latencyMs, requestHeaders, answer }) => ({
      attempt,
      at: isoTime(at),
      status_code: statusCode,
      error,
      latency_ms: latencyMs,
      request_headers: { ...requestHeaders },
      answer,
    })),
  };
}
