/**
 * webhooks: what happens on the chains, sent to addresses of owners, signed, at least once. `model` is what all parts
 * share, `delivery` takes what waits to its receivers, `management` is what owners set, over HTTP. Fed by the log, the
 * state store and requests; feeds receivers, the ledger and credits.
 */
export { LedgerAttempts } from "./delivery/attempt-log.ts";
export { DeliveryService } from "./delivery/delivery-service.ts";
export { createDeliveryEvents, webhookDeliveryMetrics } from "./delivery/events.ts";
export type { DeliveryDependencies } from "./delivery/interfaces.ts";
export { openReceivers } from "./delivery/receivers.ts";
export { WebhookWorker } from "./delivery/worker.ts";
export type { DeliveryManagement } from "./management/delivery-management.ts";
export { createWebhookHttp, webhookRoutes, webhooksPath } from "./management/http.ts";
export { addWebhookRoutes } from "./management/routes.ts";
export { WebhookManagement } from "./management/webhook-management.ts";
export { WebhookSecrets } from "./model/webhook-secrets.ts";
