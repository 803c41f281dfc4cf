import { SluiceError } from "@sluice/contract/errors";
import * as schemas from "@sluice/contract/schemas";
import type { Network, Permission } from "@sluice/contract/tiers";
import { webhookLimits } from "@sluice/contract/webhooks";
import type { Context, Hono } from "hono";
import { networkAsked, parseInput, type RestEnvironment, readInput } from "../../http/index.ts";
import type { DeliveryManagement } from "./delivery-management.ts";
import type { WebhookManagement, WebhookOwner } from "./webhook-management.ts";

export interface WebhookRoutes {
  /** What stands before the paths. */
  readonly root: string;
  readonly networkDefault: Network;
  /** Refuses whoever holds none of the permissions. @throws {SluiceError} */
  readonly admit: (context: Context<RestEnvironment>, oneOf: readonly Permission[]) => Promise<WebhookOwner>;
  readonly webhooks: WebhookManagement;
  /** Null where this server delivers nothing. */
  readonly deliveries: DeliveryManagement | null;
}

const readers: readonly Permission[] = ["read", "webhooks:write"];
const writers: readonly Permission[] = ["webhooks:write"];
/** Filters of 100,000 addresses come to 5 MB. */
const contentBounds = { limitBytes: webhookLimits.bodyBytes, timeoutMs: 30_000 } as const;
const smallBounds = { limitBytes: 256 * 1024, timeoutMs: 10_000 } as const;
const unstored = { "Cache-Control": "no-store" } as const;

type WebhookContext = Context<RestEnvironment>;

/** Every route, below its root. */
export const webhookRouteNames = [
  "POST ",
  "GET ",
  "GET /:webhook_id",
  "PATCH /:webhook_id",
  "DELETE /:webhook_id",
  "POST /:webhook_id/pause",
  "POST /:webhook_id/resume",
  "POST /:webhook_id/rotate-secret",
  "POST /:webhook_id/end-overlap",
  "POST /:webhook_id/test",
  "POST /:webhook_id/recover",
  "GET /:webhook_id/deliveries",
  "GET /deliveries/:delivery_id",
  "POST /deliveries/:delivery_id/retry",
] as const;

/** Adds the routes of webhooks. Those of deliveries come first, as `deliveries` is no id of a webhook. */
export function addWebhookRoutes(app: Hono<RestEnvironment>, routes: WebhookRoutes): void {
  if (routes.deliveries !== null) addDeliveryRoutes(app, routes, routes.deliveries);
  const { root, networkDefault, admit, webhooks } = routes;
  app.post(root, async (context) => {
    const owner = await admit(context, writers);
    const input = await readInput(context.req.raw, schemas.webhookCreate, contentBounds);
    return context.json(
      await webhooks.create(owner, networkOf(input.network, networkAsked(context.req.raw)) ?? networkDefault, input),
      201,
      unstored,
    );
  });
  app.get(root, async (context) => {
    const owner = await admit(context, readers);
    const { limit, cursor } = parseInput(schemas.pageQuery, context.req.query());
    return context.json(
      await webhooks.list(owner, { network: networkAsked(context.req.raw), limit, cursor }),
      200,
      unstored,
    );
  });
  app.get(`${root}/:webhook_id`, async (context) => {
    const owner = await admit(context, readers);
    return context.json(await webhooks.get(owner, context.req.param("webhook_id")), 200, unstored);
  });
  app.patch(`${root}/:webhook_id`, async (context) => {
    const owner = await admit(context, writers);
    const changes = await readInput(context.req.raw, schemas.webhookUpdate, contentBounds);
    return context.json(await webhooks.update(owner, context.req.param("webhook_id"), changes), 200, unstored);
  });
  app.delete(`${root}/:webhook_id`, async (context) => {
    const owner = await admit(context, writers);
    await webhooks.delete(owner, context.req.param("webhook_id"));
    return context.body(null, 204);
  });
  const change = (name: string, run: (owner: WebhookOwner, id: string) => Promise<object>): void => {
    app.post(`${root}/:webhook_id/${name}`, async (context) => {
      const owner = await admit(context, writers);
      return context.json(await run(owner, context.req.param("webhook_id")), 200, unstored);
    });
  };
  change("pause", (owner, id) => webhooks.pause(owner, id));
  change("resume", (owner, id) => webhooks.resume(owner, id));
  change("rotate-secret", (owner, id) => webhooks.rotateSecret(owner, id));
  change("end-overlap", (owner, id) => webhooks.endOverlap(owner, id));
}

function addDeliveryRoutes(
  app: Hono<RestEnvironment>,
  { root, admit }: WebhookRoutes,
  deliveries: DeliveryManagement,
): void {
  app.get(`${root}/deliveries/:delivery_id`, async (context) => {
    const owner = await admit(context, readers);
    return context.json(await deliveries.get(owner, context.req.param("delivery_id")), 200, unstored);
  });
  app.post(`${root}/deliveries/:delivery_id/retry`, async (context) => {
    const owner = await admit(context, writers);
    return context.json(await deliveries.retry(owner, context.req.param("delivery_id")), 202, unstored);
  });
  app.get(`${root}/:webhook_id/deliveries`, async (context) => {
    const owner = await admit(context, readers);
    const query = parseInput(schemas.webhookDeliveryQuery, context.req.query());
    return context.json(await deliveries.list(owner, context.req.param("webhook_id"), query), 200, unstored);
  });
  app.post(`${root}/:webhook_id/test`, async (context) => {
    const owner = await admit(context, writers);
    const test = await readTest(context);
    return context.json(await deliveries.test(owner, context.req.param("webhook_id"), test), 202, unstored);
  });
  app.post(`${root}/:webhook_id/recover`, async (context) => {
    const owner = await admit(context, writers);
    const { since } = await readInput(context.req.raw, schemas.webhookRecover, smallBounds);
    return context.json(await deliveries.recover(owner, context.req.param("webhook_id"), since), 202, unstored);
  });
}

/** A test says nothing where it has no body. */
async function readTest({ req }: WebhookContext): Promise<schemas.WebhookTest> {
  const { raw } = req;
  const length = raw.headers.get("content-length");
  if (raw.body === null || length === "0") return parseInput(schemas.webhookTest, {});
  return await readInput(raw, schemas.webhookTest, smallBounds);
}

/** The network that the body names; what the request names beside it must not be another one. */
function networkOf(inBody: Network | undefined, named: Network | null): Network | null {
  if (inBody === undefined || named === null || inBody === named) return inBody ?? named;
  const errors = [{ path: "network", message: `must be ${named}, as the request names it beside its body` }];
  throw new SluiceError("INVALID_INPUT", { details: { errors } });
}
