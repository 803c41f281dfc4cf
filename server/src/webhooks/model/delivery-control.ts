import type { WebhookEventName } from "@sluice/contract/webhooks";
import type { WebhookRecord } from "../../state/index.ts";

/** What owners do with deliveries. Times are Unix milliseconds. */

/** A delivery that is attempted next. */
export interface AcceptedDelivery {
  readonly deliveryId: string;
  readonly eventId: string;
}

export interface TestDelivery {
  /** A name of an event, or `test.webhook`. */
  readonly event: WebhookEventName | "test.webhook";
  /** JSON text of the whole `data`. */
  readonly data: string;
}

/** A delivery as its owner sees it. */
export interface DeliveryReport {
  readonly id: string;
  readonly webhookId: string;
  readonly eventId: string;
  readonly event: string;
  /** `failed` has been given up; `parked` waits for credits. */
  readonly status: "success" | "failed" | "pending" | "parked";
  /** Of the last attempt; null before the first, and where there was no answer. */
  readonly statusCode: number | null;
  readonly attempts: number;
  readonly createdAt: number;
  readonly lastAttemptAt: number | null;
  /** Of the last attempt; null where it succeeded. */
  readonly error: string | null;
  /** When a delivery that waits is attempted again; null where it was never tried, or has ended. */
  readonly nextAttemptAt: number | null;
}

export interface AttemptReport {
  readonly attempt: number;
  readonly at: number;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly latencyMs: number;
  readonly requestHeaders: Readonly<Record<string, string>>;
  /** The first 16 KiB of the answer's body. */
  readonly answer: string;
}

export interface DeliveryQuestion {
  readonly limit: number;
  /** The `nextCursor` of the page before; null for the first. */
  readonly cursor: string | null;
  /** Whether deliveries that wait come first. */
  readonly pending: boolean;
  /** Only these of the finished ones; null for all. */
  readonly status: "success" | "failed" | null;
}

/** Deliveries of webhooks, for their owners. Every method throws SluiceError. */
export interface DeliveryControl {
  /** Makes a delivery with an event id of its own, which waits for no rate. */
  test(webhook: WebhookRecord, test: TestDelivery): Promise<AcceptedDelivery>;
  /** Attempts a delivery once more, whatever became of it; null where the webhook has no such delivery. */
  retry(webhook: WebhookRecord, deliveryId: string): Promise<AcceptedDelivery | null>;
  /** Whose a delivery is; null where it is not known. */
  webhookOf(deliveryId: string): Promise<string | null>;
  /** Attempts anew what was given up since then; says how many deliveries that is. */
  recover(webhook: WebhookRecord, since: number): Promise<number>;
  /** @throws {SluiceError} INVALID_INPUT for a cursor that is none of this list */
  list(
    webhook: WebhookRecord,
    question: DeliveryQuestion,
  ): Promise<{ readonly deliveries: readonly DeliveryReport[]; readonly nextCursor: string | null }>;
  /** A delivery and its attempts, the oldest first; null where the webhook has no such delivery. */
  report(
    webhook: WebhookRecord,
    deliveryId: string,
  ): Promise<{ readonly delivery: DeliveryReport; readonly attempts: readonly AttemptReport[] } | null>;
}
