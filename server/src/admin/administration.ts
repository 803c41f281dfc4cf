import type { Hono } from "hono";
import { createRestApp, type RestEnvironment } from "../http/index.ts";
import { Admittance, type AdmittanceDependencies } from "./admittance.ts";
import { addSentRoute, type SentDependencies } from "./sent.ts";
import { addUsageRoute, type UsageDependencies } from "./usage.ts";

export interface AdministrationDependencies
  extends AdmittanceDependencies,
    Omit<UsageDependencies, "admittance" | "state">,
    Omit<SentDependencies, "admittance" | "state"> {
  readonly state: UsageDependencies["state"] & SentDependencies["state"];
  readonly requestId: () => string;
  readonly log: { error(fields: object, message: string): void };
}

/** The paths that it answers, for whoever mounts it. */
export const administrationPaths = ["/api/v1/usage", "/api/v1/sent-transactions"] as const;

/** Usage and administration over REST, by key and permission; no page of another origin may read its answers. */
export function createAdministration(given: AdministrationDependencies): Hono<RestEnvironment> {
  const app = createRestApp({ cors: "none" }, given);
  const dependencies = { ...given, admittance: new Admittance(given) };
  addUsageRoute(app, dependencies);
  addSentRoute(app, dependencies);
  return app;
}
