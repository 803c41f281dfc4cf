import type { Config } from "../config/index.ts";
import { type AppMount, createAddressRules } from "../net/index.ts";
import {
  createWebhookHttp,
  type DeliveryManagement,
  WebhookManagement,
  WebhookSecrets,
  webhooksPath,
} from "../webhooks/index.ts";
import type { Dependencies } from "./dependencies.ts";
import type { Gateway } from "./gateway.ts";
import { vaultOf } from "./secrets.ts";
import type { Stores } from "./stores.ts";

/** Webhooks as the gateway's port and the console serve them. */
export interface WebhookParts {
  readonly webhooks: WebhookManagement;
  /** Null where this server delivers nothing. */
  readonly deliveries: DeliveryManagement | null;
  readonly apps: readonly AppMount[];
}

/** The management of webhooks, whose records every process of the installation shares. */
export function openWebhookManagement(
  config: Config,
  {
    stores,
    gateway,
    clock,
    random,
    log,
    events,
  }: Dependencies & { readonly stores: Stores; readonly gateway: Gateway },
): WebhookParts {
  const { networkDefault } = config;
  const { allowHttp, allowPrivateCidrs } = config.webhooks;
  const webhooks = new WebhookManagement(
    { target: { allowHttp, addresses: createAddressRules(allowPrivateCidrs) } },
    {
      clock,
      store: stores.state.webhooks,
      secrets: new WebhookSecrets({ random, vault: vaultOf(config, random) }),
      hasAccountSource: (network) => config.upstreams[network].some(({ yellowstone }) => yellowstone !== undefined),
    },
  );
  const deliveries = null;
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
