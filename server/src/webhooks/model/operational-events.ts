import type { OperationalEventName } from "@sluice/contract/webhooks";
import type { Random } from "@sluice/lib";
import type { WebhookTold } from "../../state/index.ts";

/** Why a webhook was disabled: HTTP 410, too long without a success, or too long behind the chain. */
export type DisablingReason = "gone" | "failing" | "behind";

/** What an owner is told of one of its webhooks: the notice, and the event for its other webhooks. */
export interface OwnerNews {
  readonly webhookId: string;
  readonly code: string;
  /** Of the notice. */
  readonly detail: Readonly<Record<string, unknown>>;
  readonly event: OperationalEventName;
  /** Members of the event's data beside the id of the webhook. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** The news as the store writes them, as an event of its own. */
export function toldOf({ webhookId, code, detail, event, data }: OwnerNews, random: Random): WebhookTold {
  const eventId = Buffer.from(random.bytes(32)).toString("hex");
  return {
    webhookId,
    code,
    detail,
    event: { eventId, event, data: JSON.stringify({ webhook_id: webhookId, ...data }) },
  };
}

/** That a webhook was disabled. `at` is Unix milliseconds. */
export const disabledNews = (webhookId: string, reason: DisablingReason, at: number): OwnerNews => ({
  webhookId,
  code: "disabled",
  detail: { reason },
  event: "webhook.disabled",
  data: { reason, disabled_at: new Date(at).toISOString() },
});
