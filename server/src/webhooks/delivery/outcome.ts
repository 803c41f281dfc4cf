import type { Random } from "@sluice/lib";
import type { DeliveryOutcome, QueuedDelivery, WebhookRecord, WebhookRetryPolicy } from "../../state/index.ts";
import type { AttemptFact } from "./attempt-fact.ts";
import type { Exchanged } from "./exchange.ts";
import { retryDelayMs } from "./retry-schedule.ts";

interface Ended {
  readonly row: QueuedDelivery;
  /** Null when the data of the event is not to be had, so that nothing was sent. */
  readonly exchanged: Exchanged | null;
  /** Unix milliseconds when it ended. */
  readonly at: number;
}

/** What an attempt leads to. A receiver that is gone for good gets nothing again; its owner may recover it. */
export function outcomeOf({ row, exchanged, at }: Ended, policy: WebhookRetryPolicy, random: Random): DeliveryOutcome {
  const { deliveryId } = row;
  if (exchanged === null) {
    const { attempts } = row;
    return { kind: "exhausted", deliveryId, attempts, at, statusCode: null, error: "DATA_UNAVAILABLE" };
  }
  if (exchanged.verdict === "delivered") return { kind: "delivered", deliveryId };
  const attempts = row.attempts + 1;
  const { statusCode, error } = exchanged;
  const failed = { deliveryId, attempts, at, statusCode, error };
  if (exchanged.verdict === "gone" || attempts >= policy.maxAttempts) return { kind: "exhausted", ...failed };
  const delayMs = Math.max(retryDelayMs(attempts, policy, random), exchanged.retryAfterMs ?? 0);
  return { kind: "failed", dueAt: at + delayMs, ...failed };
}

interface Recorded {
  readonly row: QueuedDelivery;
  readonly webhook: WebhookRecord;
  readonly outcome: DeliveryOutcome;
  readonly exchanged: Exchanged | null;
  /** Unix milliseconds when it began. */
  readonly at: number;
  /** What of its data cannot be made again; null where all can. */
  readonly detail: string | null;
}

/** Larger data of an account is read anew where a delivery that succeeded is sent once more. */
const detailCharactersMax = 128 * 1024;

/** What the ledger keeps of an attempt. */
export function factOf({ row, webhook, outcome, exchanged, at, detail }: Recorded): AttemptFact {
  return {
    at,
    accountId: webhook.accountId,
    webhookId: webhook.id,
    deliveryId: row.deliveryId,
    eventId: row.eventId,
    event: row.event,
    network: webhook.network,
    createdAt: row.createdAt,
    attempt: exchanged === null ? row.attempts : row.attempts + 1,
    outcome: outcome.kind,
    statusCode: exchanged?.statusCode ?? null,
    error: outcome.kind === "delivered" ? "" : outcome.error,
    latencyMs: exchanged?.latencyMs ?? 0,
    requestFields: exchanged?.fields ?? [],
    answer: exchanged === null ? "" : new TextDecoder().decode(exchanged.answer),
    slot: row.slot,
    blockhash: row.blockhash,
    ordinal: row.ordinal,
    txIndex: row.txIndex,
    account: row.account,
    // What failed keeps its own in the store as long as it can be sent again.
    detail: outcome.kind === "delivered" && (detail?.length ?? 0) <= detailCharactersMax ? detail : null,
  };
}
