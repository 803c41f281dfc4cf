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
import { reloadBody } from "./reload.ts";
import { addSentRoute, type SentDependencies } from "./sent.ts";
import { addUpstreamRoutes, type UpstreamRouteDependencies } from "./upstream-routes.ts";
import { addUsageRoute, type UsageDependencies } from "./usage.ts";

export interface AdministrationDependencies
  extends AdminAccessDependencies,
    CountDependencies,
    Omit<UsageDependencies, "adminAccess" | "state">,
    Omit<SentDependencies, "adminAccess" | "state">,
    Omit<AccountRouteDependencies, "adminAccess" | "state">,
    Omit<KeyRouteDependencies, "adminAccess" | "state">,
    Omit<EngineRouteDependencies, "adminAccess" | "state">,
    Omit<UpstreamRouteDependencies, "adminAccess" | "state"> {
  readonly state: UsageDependencies["state"] &
    SentDependencies["state"] &
    AccountRouteDependencies["state"] &
    KeyRouteDependencies["state"] &
    EngineRouteDependencies["state"] &
    UpstreamRouteDependencies["state"] &
    Pick<State, "audit">;
  readonly reload: () => Promise<ReloadResult>;
  readonly requestId: () => string;
  readonly log: Pick<Log, "error">;
}

/** The paths that it answers, for the endpoint that mounts it. */
export const administrationPaths = ["/api/v1/usage", "/api/v1/sent-transactions", "/api/v1/admin"] as const;

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
  addUsageRoute(app, routed);
  addSentRoute(app, routed);
  addAccountRoutes(app, routed);
  addKeyRoutes(app, routed);
  addUpstreamRoutes(app, routed);
  addEngineRoutes(app, routed);
  app.post("/api/v1/admin/reload", async (context) => {
    const caller = await routed.adminAccess.admit(context, "admin");
    const body = reloadBody(await dependencies.reload());
    const entry = {
      actor: caller.keyId,
      action: "configuration.reload",
      subject: "configuration",
      detail: { ...body },
    };
    await dependencies.state.audit.append(entry);
    return context.json(body);
  });
  return app;
}
