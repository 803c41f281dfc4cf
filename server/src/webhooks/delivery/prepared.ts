import type { QueuedDelivery, WebhookRecord } from "../../state/index.ts";
import type { SigningSecrets } from "../model/webhook-secrets.ts";
import type { EventData } from "./event-data.ts";
import { type Exchanged, exchange } from "./exchange.ts";
import type { DeliveryCharges, DeliveryDependencies, DeliveryEndpoint } from "./interfaces.ts";

/** What an attempt has come to before its outcome is written, or why it could not begin. */
export type Prepared =
  | {
      readonly kind: "exchanged";
      readonly exchanged: Exchanged;
      readonly at: number;
      readonly takenAt: number;
      /** With what is kept with it by now. */
      readonly row: QueuedDelivery;
      /** What of its data cannot be made again; null where all can. */
      readonly detail: string | null;
    }
  | { readonly kind: "hopeless"; readonly at: number; readonly takenAt: number }
  | { readonly kind: "void"; readonly takenAt: number }
  | { readonly kind: "postponed" }
  | { readonly kind: "parked" }
  | { readonly kind: "lost" };

interface PreparedOf {
  readonly row: QueuedDelivery;
  readonly webhook: WebhookRecord;
  readonly secrets: SigningSecrets;
  /** Null for a URL that must not be called. */
  readonly endpoint: DeliveryEndpoint | null;
  readonly data: EventData;
}

/** Takes the credit of an attempt, reads the data of its event, and posts it. */
export async function prepared(
  { row, webhook, secrets, endpoint, data }: PreparedOf,
  { clock, charges, events }: Pick<DeliveryDependencies, "clock" | "charges" | "events">,
): Promise<Prepared> {
  const takenAt = clock.now();
  const taken = await isCharged(charges, webhook.accountId);
  if (taken !== true) events.postponed(taken === false ? "credits" : "credits_unknown");
  if (taken !== true) return { kind: taken === false ? "parked" : "postponed" };
  const found = await data.of(row, webhook);
  if (found.kind === "hopeless") return { kind: "hopeless", at: clock.now(), takenAt };
  if (found.kind === "void") return { kind: "void", takenAt };
  if (found.kind !== "found") {
    charges.refund(webhook.accountId, takenAt);
    return { kind: found.kind === "lost" ? "lost" : "postponed" };
  }
  const at = clock.now();
  if (row.attempts === 0) events.begun(row.event, at - row.createdAt);
  const exchanged = await exchange({ webhook, delivery: row, body: found.body, secrets, endpoint }, { clock });
  if (exchanged !== "overloaded") {
    return { kind: "exchanged", exchanged, at, takenAt, row: found.row, detail: found.body.detail };
  }
  charges.refund(webhook.accountId, takenAt);
  return { kind: "postponed" };
}

/** Whether the credit of a delivery was taken; null where that is not known. Never rejects. */
export async function isCharged(charges: DeliveryCharges, accountId: string): Promise<boolean | null> {
  try {
    return await charges.take(accountId);
  } catch {
    return null;
  }
}
