import { createWebhooks, type Webhook } from "@sluice/sdk";

/** The account's webhooks, for the session of the page. */
export const webhooks = createWebhooks({ url: "", path: "/api/v1/console/webhooks" });

/** The state of a webhook in words. */
export function stateText({ status, status_reason, parked_since, behind_since, failing_since }: Webhook): string {
  if (status === "paused") return "paused";
  if (status === "disabled") return `disabled: ${status_reason ?? "unknown"}`;
  if (parked_since !== null) return "waits for credits";
  if (behind_since !== null) return "lags behind the chain";
  return failing_since === null ? "active" : "active, its receiver fails";
}

/** Whether it needs its owner. */
export const needsCare = (webhook: Webhook): boolean =>
  webhook.status === "disabled" || webhook.parked_since !== null || webhook.failing_since !== null;
