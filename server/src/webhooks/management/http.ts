import type { Network, Permission } from "@sluice/contract/tiers";
import type { Clock, Log } from "@sluice/lib";
import type { Context, Hono } from "hono";
import {
  type Access,
  admitRest,
  beginExchange,
  type RestExchange,
  type RestRecorder,
  recordRest,
  restCallerOf,
} from "../../access/index.ts";
import { createRestApp, type RestEnvironment } from "../../http/index.ts";
import type { DeliveryManagement } from "./delivery-management.ts";
import { addWebhookRoutes, webhookRouteNames } from "./routes.ts";
import type { WebhookManagement, WebhookOwner } from "./webhook-management.ts";

export interface WebhookHttpDependencies extends RestRecorder {
  readonly networkDefault: Network;
  readonly access: Pick<Access, "identify" | "restrict" | "permit" | "callerOf" | "meter">;
  readonly webhooks: WebhookManagement;
  /** Null where this server delivers nothing. */
  readonly deliveries: DeliveryManagement | null;
  readonly clock: Pick<Clock, "now" | "monotonic">;
  readonly log: Pick<Log, "error">;
  readonly requestId: () => string;
}

export const webhooksPath = "/api/v1/webhooks";

/** Every route, as metrics name it. */
export const webhookRoutes: readonly string[] = webhookRouteNames.map((name) => name.replace(" ", ` ${webhooksPath}`));

type WebhookContext = Context<RestEnvironment>;

/** The management of webhooks over REST, for keys. */
export function createWebhookHttp(dependencies: WebhookHttpDependencies): Hono<RestEnvironment> {
  const { networkDefault, webhooks, deliveries, access } = dependencies;
  const app = createRestApp({ cors: "none" }, dependencies);
  const exchanges = new WeakMap<Request, RestExchange>();
  app.use("*", async (context, next) => {
    const exchange = beginExchange(dependencies.clock);
    exchanges.set(context.req.raw, exchange);
    await next();
    await recordRest(context, exchange, dependencies);
  });
  const admit = async (context: WebhookContext, oneOf: readonly Permission[]): Promise<WebhookOwner> => {
    const exchange = exchanges.get(context.req.raw);
    if (exchange === undefined) throw new TypeError("a route is reached through the application alone");
    // A body may name the network, so that a request without one is for no network yet.
    const { grant } = await admitRest(context, exchange, { access, networkDefault: null, oneOf });
    const caller = restCallerOf(context, access);
    const allowsNetwork = (network: Network): boolean => access.restrict(grant, { ...caller, network }) === null;
    return { accountId: grant.accountId, tier: grant.tier, allowsNetwork };
  };
  addWebhookRoutes(app, { root: webhooksPath, networkDefault, admit, webhooks, deliveries });
  return app;
}
