/**
 * webhooks: what happens on the chains, sent to addresses of owners, signed, at least once. `model` is what all parts
 * share, `management` is what owners set, over HTTP. Fed by the log, the state store and requests; feeds receivers, the
 * ledger and credits.
 */
export { createWebhookHttp, webhookRoutes, webhooksPath } from "./management/http.ts";
export { WebhookManagement } from "./management/webhook-management.ts";
export { WebhookSecrets } from "./model/webhook-secrets.ts";
