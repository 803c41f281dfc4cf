import { networks } from "@sluice/contract/tiers";
import type { Config } from "../config/index.ts";
import { type AppMount, createAddressRules } from "../net/index.ts";
import {
  createWebhookHttp,
  DeliveryManagement,
  WebhookCleaning,
  WebhookManagement,
  webhooksPath,
} from "../webhooks/index.ts";
import type { Dependencies } from "./dependencies.ts";
import type { Gateway } from "./gateway.ts";
import { yellowstoneNodes } from "./nodes.ts";
import type { Stores } from "./stores.ts";
import type { DeliveryParts } from "./webhook-delivery.ts";

/** Webhooks as the gateway's port and the console serve them. */
export interface WebhookParts {
  readonly webhooks: WebhookManagement;
  readonly deliveries: DeliveryManagement;
  readonly apps: readonly AppMount[];
}

interface ManagementDependencies extends Dependencies {
  readonly stores: Stores;
  readonly gateway: Gateway;
  readonly delivery: DeliveryParts;
}

/** The management of webhooks, whose records every process of the installation shares. */
export function openWebhookManagement(
  config: Config,
  { stores, gateway, delivery, clock, log, events, resources }: ManagementDependencies,
): WebhookParts {
  const { networkDefault } = config;
  const { allowHttp, allowPrivateCidrs } = config.webhooks;
  const store = stores.state.webhooks;
  const onError = (error: unknown): void => events.internalError("webhooks", error);
  const cleaning = resources.use(new WebhookCleaning({ clock, store, onError }));
  const webhooks = new WebhookManagement(
    { target: { allowHttp, addresses: createAddressRules(allowPrivateCidrs) } },
    {
      clock,
      store,
      secrets: delivery.secrets,
      deleted: () => cleaning.deleted(),
      changed: () => delivery.changed(),
      followed: () => networks.filter((network) => gateway.upstreams.pool(network) !== null),
      hasAccountSource: (network) => yellowstoneNodes(gateway.upstreams, network).length > 0,
    },
  );
  const deliveries = new DeliveryManagement({ clock, webhooks, deliveries: delivery.control });
  const { access, requestId, served } = gateway;
  const app = createWebhookHttp({
    networkDefault,
    access,
    webhooks,
    deliveries,
    clock,
    log,
    requestId,
    served: (fact) => served(fact),
    refused: (code) => events.requestRefused("rest", code),
  });
  return { webhooks, deliveries, apps: [{ prefix: webhooksPath, fetch: app.fetch.bind(app) }] };
}
