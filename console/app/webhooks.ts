import { createWebhooks, type Webhook } from "@sluice/sdk";

/** The account's webhooks, for the session of the page. */
export const webhooks = createWebhooks({ url: "", path: "/api/v1/console/webhooks" });

/** A receiver that fails now and then needs nobody. */
const failingMs = 60_000;

const fails = ({ failing_since: since }: Webhook): boolean =>
  since !== null && Date.now() - Date.parse(since) > failingMs;

/** The state of a webhook in words. */
export function stateText(webhook: Webhook): string {
  const { status, status_reason, parked_since, behind_since } = webhook;
  if (status === "paused") return "paused";
  if (status === "disabled") return `disabled: ${status_reason ?? "unknown"}`;
  if (parked_since !== null) return "waits for credits";
  if (behind_since !== null) return "lags behind the chain";
  return fails(webhook) ? "active, its receiver fails" : "active";
}

/** Whether it needs its owner. */
export const needsCare = (webhook: Webhook): boolean =>
  webhook.status === "disabled" || webhook.parked_since !== null || fails(webhook);
