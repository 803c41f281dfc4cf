/**
 * webhooks: what happens on the chains, sent to addresses of owners, signed, at least once. `model` is what all parts
 * share, `bodies` makes the data of events, `scheduling` makes deliveries of what the logs tell, `delivery` takes them
 * to their receivers, and `management` is what owners set, over HTTP. Fed by the log, history, the state store and
 * requests; feeds receivers, the ledger and credits.
 */
export { AccountReads } from "./bodies/account-reads.ts";
export { AccountStates } from "./bodies/account-states.ts";
export { BlockMemory } from "./bodies/block-memory.ts";
export { EventBlocks } from "./bodies/event-blocks.ts";
export { EventBodies } from "./bodies/event-bodies.ts";
export { EventPrices } from "./bodies/event-prices.ts";
export { EventTrades } from "./bodies/event-trades.ts";
export { NftCollections } from "./bodies/nft-collections.ts";
export { WebhookBodies } from "./bodies/webhook-bodies.ts";
export { LedgerAttempts } from "./delivery/attempt-log.ts";
export { DeliveryService } from "./delivery/delivery-service.ts";
export { createDeliveryEvents, webhookDeliveryMetrics } from "./delivery/events.ts";
export type { DeliveryDependencies } from "./delivery/interfaces.ts";
export { openReceivers } from "./delivery/receivers.ts";
export { WebhookWorker } from "./delivery/worker.ts";
export { WebhookCleaning } from "./management/cleaning.ts";
export { DeliveryManagement } from "./management/delivery-management.ts";
export { createWebhookHttp, webhookRoutes, webhooksPath } from "./management/http.ts";
export { addWebhookRoutes } from "./management/routes.ts";
export { WebhookManagement } from "./management/webhook-management.ts";
export { compileWebhook } from "./model/compiled-webhook.ts";
export type { DeliveryControl } from "./model/delivery-control.ts";
export { WebhookIndex } from "./model/webhook-index.ts";
export { WebhookSecrets } from "./model/webhook-secrets.ts";
export { createSchedulingEvents, webhookSchedulingMetrics } from "./scheduling/events.ts";
export { WebhookSchedulers } from "./scheduling/webhook-schedulers.ts";
