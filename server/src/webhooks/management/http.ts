import { type ErrorCode, SluiceError } from "@sluice/contract/errors";
import type { Network, Permission } from "@sluice/contract/tiers";
import type { Clock, Log } from "@sluice/lib";
import type { Context, Hono, MiddlewareHandler } from "hono";
import { routePath } from "hono/route";
import type { Access } from "../../access/index.ts";
import { createRestApp, presentedKey, type RestEnvironment } from "../../http/index.ts";
import type { Grant } from "../../keys/index.ts";
import type { RequestFact } from "../../ledger/index.ts";
import type { DeliveryManagement } from "./delivery-management.ts";
import { addWebhookRoutes, namedNetwork, webhookRouteNames } from "./routes.ts";
import type { WebhookManagement, WebhookOwner } from "./webhook-management.ts";

export interface WebhookHttpDependencies {
  readonly networkDefault: Network;
  readonly access: Pick<Access, "identify" | "restrict" | "permit" | "callerOf" | "meter">;
  readonly webhooks: WebhookManagement;
  /** Null where this server delivers nothing. */
  readonly deliveries: DeliveryManagement | null;
  readonly clock: Pick<Clock, "now" | "monotonic">;
  readonly log: Pick<Log, "error">;
  readonly requestId: () => string;
  /** Receives the fact of every request of a known key; must not block or throw. */
  readonly served: (fact: RequestFact) => void;
  /** In place of a fact where no account is known. */
  readonly refused: (code: ErrorCode) => void;
}

export const webhooksPath = "/api/v1/webhooks";

/** Every route, as metrics name it. */
export const webhookRoutes: readonly string[] = webhookRouteNames.map((name) => name.replace(" ", ` ${webhooksPath}`));

/** What is known of a request when it is answered. */
interface Exchange {
  grant: Grant | null;
  network: Network | null;
}

type WebhookContext = Context<RestEnvironment>;

/** The management of webhooks over REST, for keys. */
export function createWebhookHttp(dependencies: WebhookHttpDependencies): Hono<RestEnvironment> {
  const { networkDefault, webhooks, deliveries } = dependencies;
  const app = createRestApp({ cors: "none" }, dependencies);
  const exchanges = new WeakMap<Request, Exchange>();
  const exchangeOf = ({ req }: WebhookContext): Exchange => {
    const exchange = exchanges.get(req.raw) ?? { grant: null, network: null };
    exchanges.set(req.raw, exchange);
    return exchange;
  };
  app.use("*", recorded(exchangeOf, dependencies));
  const admit = (context: WebhookContext, oneOf: readonly Permission[]): Promise<WebhookOwner> =>
    admitted(context, { exchange: exchangeOf(context), oneOf }, dependencies);
  addWebhookRoutes(app, { root: webhooksPath, networkDefault, admit, webhooks, deliveries });
  return app;
}

/** Key, restrictions, permission and rate, in the order of all endpoints. Throws SluiceError. */
async function admitted(
  context: WebhookContext,
  { exchange, oneOf }: { readonly exchange: Exchange; readonly oneOf: readonly Permission[] },
  { access }: WebhookHttpDependencies,
): Promise<WebhookOwner> {
  const { raw } = context.req;
  const grant = await access.identify(presentedKey(raw.headers, raw.url));
  if (!grant.ok) throw new SluiceError(grant.code);
  exchange.grant = grant;
  const named = namedNetwork(raw);
  exchange.network = named;
  // Without a second argument to fetch there is no env at all, whatever its type says.
  const env = context.env as RestEnvironment["Bindings"] | undefined;
  const caller = access.callerOf(raw.headers, env?.socketAddress ?? "");
  const refusal = access.restrict(grant, { ...caller, network: named }) ?? access.permit(grant, oneOf);
  if (refusal !== null) {
    context.set("rateLimit", await access.meter(grant.buckets.requests, 0));
    if (refusal.code !== "PERMISSION_DENIED") throw new SluiceError(refusal.code);
    throw new SluiceError(refusal.code, { message: `The API key needs the permission ${oneOf.join(" or ")}` });
  }
  const decision = await access.meter(grant.buckets.requests);
  context.set("rateLimit", decision);
  const { allowed, retryAfterSeconds } = decision;
  if (!allowed) throw new SluiceError("RATE_LIMIT_EXCEEDED", { details: { retryAfterSeconds } });
  const allowsNetwork = (network: Network): boolean => access.restrict(grant, { ...caller, network }) === null;
  return { accountId: grant.accountId, tier: grant.tier, allowsNetwork };
}

/** One fact for each request of a known key. */
function recorded(
  exchangeOf: (context: WebhookContext) => Exchange,
  { clock, served, refused }: WebhookHttpDependencies,
): MiddlewareHandler<RestEnvironment> {
  return async (context, next) => {
    const exchange = exchangeOf(context);
    const [at, startedMs] = [clock.now(), clock.monotonic()];
    await next();
    const { error, req, res } = context;
    const code = error instanceof SluiceError ? error.code : "";
    const { grant, network } = exchange;
    if (grant === null) {
      if (error instanceof SluiceError) refused(error.code);
      return;
    }
    served({
      at,
      requestId: context.get("requestId"),
      accountId: grant.accountId,
      keyId: grant.keyId,
      network: network ?? "",
      door: "rest",
      method: `${req.method} ${routePath(context, -1)}`,
      status: res.status,
      rpcCode: null,
      latencyMs: clock.monotonic() - startedMs,
      bytesIn: Number(req.header("content-length") ?? 0),
      bytesOut: (await res.clone().arrayBuffer()).byteLength,
      credits: 0,
      code,
      cache: "",
      upstream: "",
    });
  };
}
