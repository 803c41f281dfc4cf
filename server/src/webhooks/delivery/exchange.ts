import { monotonicMs } from "@sluice/lib";
import type { EgressOutcome } from "../../net/index.ts";
import type { QueuedDelivery, WebhookRecord } from "../../state/index.ts";
import type { EventBody } from "../bodies/webhook-bodies.ts";
import type { SigningSecrets } from "../model/webhook-secrets.ts";
import type { DeliveryDependencies, DeliveryEndpoint } from "./interfaces.ts";
import { retryAfterMs } from "./retry-schedule.ts";
import { signaturesOf } from "./signature.ts";

/** For the whole exchange, from looking up the name to the end of the answer. Source: specification, Delivery rules. */
const exchangeMsMax = 5_000;

/** What an exchange with a receiver has come to. */
export interface Exchanged {
  readonly verdict: "delivered" | "gone" | "failed";
  /** Null where no answer came. */
  readonly statusCode: number | null;
  /** Empty for a success. */
  readonly error: string;
  /** Whether the receiver held its connection for the whole time. */
  readonly isSlow: boolean;
  /** How long the receiver asks to be left alone; null where it does not. */
  readonly retryAfterMs: number | null;
  readonly latencyMs: number;
  readonly fields: readonly (readonly [string, string])[];
  readonly answer: Uint8Array;
}

export interface ExchangeOf {
  readonly webhook: WebhookRecord;
  readonly delivery: QueuedDelivery;
  readonly body: EventBody;
  readonly secrets: SigningSecrets;
  /** Null for a URL that must not be called. */
  readonly endpoint: DeliveryEndpoint | null;
}

/**
 * The body of all attempts of a delivery: the same bytes for the same event. All values but the data are of characters
 * that JSON takes as they are.
 */
export function envelopeOf(webhook: WebhookRecord, { eventId, event }: QueuedDelivery, body: EventBody): string {
  const timestamp = new Date(body.atMs).toISOString();
  const head = `{"event_id":"${eventId}","event":"${event}","timestamp":"${timestamp}"`;
  return `${head},"network":"${webhook.network}","data":${body.data}}`;
}

/** Source of names and forms: specification, node platform, Delivery rules 1; Standard Webhooks. */
export function fieldsOf(
  { delivery, secrets }: Pick<ExchangeOf, "delivery" | "secrets">,
  body: string,
  timestamp: number,
): (readonly [string, string])[] {
  const { eventId, event, deliveryId, attempts } = delivery;
  const { service, serviceNext, standard } = signaturesOf(secrets, { eventId, timestamp, body });
  return [
    ["Content-Type", "application/json"],
    ["User-Agent", "Sluice-Webhooks/1"],
    ["X-Service-Signature", service],
    ...(serviceNext === null ? [] : ([["X-Service-Signature-Next", serviceNext]] as const)),
    ["X-Service-Event", event],
    ["X-Service-Event-ID", eventId],
    ["X-Service-Timestamp", String(timestamp)],
    ["X-Service-Delivery-ID", deliveryId],
    ["X-Service-Attempt", String(attempts + 1)],
    ["webhook-id", eventId],
    ["webhook-timestamp", String(timestamp)],
    ["webhook-signature", standard],
  ];
}

/** Signs a delivery, posts it and judges what came back. Never rejects. */
export async function exchange(
  of: ExchangeOf,
  { clock }: Pick<DeliveryDependencies, "clock">,
): Promise<Exchanged | "overloaded"> {
  const text = envelopeOf(of.webhook, of.delivery, of.body);
  const nowMs = clock.now();
  const fields = fieldsOf(of, text, Math.floor(nowMs / 1_000));
  const beganMs = clock.monotonic();
  if (of.endpoint === null) return judged(fields, 0, { kind: "no-url" }, nowMs);
  const outcome = await of.endpoint.post({ fields, body: text, timeoutMs: exchangeMsMax });
  if (outcome.kind === "overloaded") return "overloaded";
  return judged(fields, monotonicMs(clock.monotonic() - beganMs), outcome, nowMs);
}

const errors = {
  "no-url": "URL_NOT_ALLOWED",
  refused: "ADDRESS_NOT_ALLOWED",
  timeout: "TIMEOUT",
  unreachable: "CONNECTION_FAILED",
  closed: "CONNECTION_CLOSED",
  malformed: "MALFORMED_ANSWER",
} as const;

const nothing = new Uint8Array(0);

function judged(
  fields: Exchanged["fields"],
  latencyMs: number,
  outcome: Exclude<EgressOutcome, { kind: "overloaded" }> | { readonly kind: "no-url" },
  nowMs: number,
): Exchanged {
  if (outcome.kind !== "answered") {
    const error = errors[outcome.kind];
    const isSlow = outcome.kind === "timeout";
    const failed = { verdict: "failed", statusCode: null, retryAfterMs: null, answer: nothing } as const;
    return { ...failed, error, isSlow, latencyMs, fields };
  }
  const { status, retryAfter, bytes: answer } = outcome;
  const isDelivered = status >= 200 && status < 300;
  const isAsked = status === 429 || status === 503;
  return {
    verdict: isDelivered ? "delivered" : status === 410 ? "gone" : "failed",
    statusCode: status,
    error: isDelivered ? "" : `HTTP_${status}`,
    isSlow: false,
    retryAfterMs: isAsked ? retryAfterMs(retryAfter, nowMs) : null,
    latencyMs,
    fields,
    answer,
  };
}
