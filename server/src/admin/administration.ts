import type { Log } from "@sluice/lib";
import type { Hono } from "hono";
import type { ReloadResult } from "../config/index.ts";
import { createRestApp, type RestEnvironment } from "../http/index.ts";
import type { State } from "../state/index.ts";
import { type AccountRouteDependencies, addAccountRoutes } from "./account-routes.ts";
import { AdminAccess, type AdminAccessDependencies } from "./admin-access.ts";
import { type CountDependencies, countRequests } from "./count-requests.ts";
import { addEngineRoutes, type EngineRouteDependencies } from "./engine-routes.ts";
import { addKeyRoutes, type KeyRouteDependencies } from "./key-routes.ts";
import { addLedgerRoutes, type LedgerRouteDependencies } from "./ledger-routes.ts";
import { reloadBody } from "./reload.ts";
import { addRequestRoutes, type RequestsDependencies } from "./requests.ts";
import { addSentRoute, type SentDependencies } from "./sent.ts";
import { addUpstreamRoutes, type UpstreamRouteDependencies } from "./upstream-routes.ts";
import { addUsageRoute, type UsageDependencies } from "./usage.ts";

/** Of usage, accounts, keys, the block engine and the configuration. */
export interface SharedRouteDependencies
  extends Omit<UsageDependencies, "state">,
    Omit<RequestsDependencies, "adminAccess">,
    LedgerRouteDependencies,
    Omit<AccountRouteDependencies, "state">,
    Omit<KeyRouteDependencies, "state">,
    Omit<EngineRouteDependencies, "state"> {
  readonly state: UsageDependencies["state"] &
    AccountRouteDependencies["state"] &
    KeyRouteDependencies["state"] &
    EngineRouteDependencies["state"] &
    Pick<State, "audit">;
  readonly reload: () => Promise<ReloadResult>;
  readonly requestId: () => string;
  readonly log: Pick<Log, "error">;
}

export interface AdministrationDependencies
  extends AdminAccessDependencies,
    CountDependencies,
    Omit<SharedRouteDependencies, "adminAccess" | "state">,
    Omit<SentDependencies, "adminAccess" | "state">,
    Omit<UpstreamRouteDependencies, "adminAccess" | "state"> {
  readonly state: SharedRouteDependencies["state"] & SentDependencies["state"] & UpstreamRouteDependencies["state"];
}

/** The paths that it answers, for the endpoint that mounts it. */
export const administrationPaths = [
  "/api/v1/usage",
  "/api/v1/requests",
  "/api/v1/sent-transactions",
  "/api/v1/admin",
] as const;

/** Usage and administration over REST, by key and permission; no page of another origin may read its answers. */
export function createAdministration(dependencies: AdministrationDependencies): Hono<RestEnvironment> {
  const app = createRestApp({ cors: "none" }, dependencies);
  app.use("*", countRequests(dependencies));
  app.use("*", async (context, next) => {
    await next();
    // Whose answer it is stands in a header that caches do not look at.
    context.res.headers.set("Cache-Control", "no-store");
  });
  const routed = { ...dependencies, adminAccess: new AdminAccess(dependencies) };
  addSentRoute(app, routed);
  addUpstreamRoutes(app, routed);
  addSharedRoutes(app, routed);
  return app;
}

/** What the REST endpoint and the socket for commands answer alike, each with its own admission. */
export function addSharedRoutes(app: Hono<RestEnvironment>, dependencies: SharedRouteDependencies): void {
  addUsageRoute(app, dependencies);
  addRequestRoutes(app, dependencies);
  addLedgerRoutes(app, dependencies);
  addAccountRoutes(app, dependencies);
  addKeyRoutes(app, dependencies);
  addEngineRoutes(app, dependencies);
  app.post("/api/v1/admin/reload", async (context) => {
    const { actor } = await dependencies.adminAccess.admit(context, "admin");
    const body = reloadBody(await dependencies.reload());
    const entry = { actor, action: "configuration.reload", subject: "configuration", detail: { ...body } };
    await dependencies.state.audit.append(entry);
    return context.json(body);
  });
}
