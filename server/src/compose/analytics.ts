import {
  Analytics,
  analyticsPath,
  createAnalyticsEvents,
  createAnalyticsHttp,
  SavedQueryShelf,
} from "../analytics/index.ts";
import type { Config } from "../config/index.ts";
import type { AppMount } from "../net/index.ts";
import type { Dependencies } from "./dependencies.ts";
import type { Gateway } from "./gateway.ts";
import type { Stores } from "./stores.ts";

/** SQL as the gateway's port and the console serve it. */
export interface AnalyticsParts {
  readonly analytics: Analytics;
  readonly saved: SavedQueryShelf;
  readonly apps: readonly AppMount[];
}

/** SQL over the ledger that the installation shares, charged as calls are. */
export function openAnalytics(
  { networkDefault }: Config,
  dependencies: Dependencies & { readonly stores: Stores; readonly gateway: Gateway },
): AnalyticsParts {
  const { clock, log, stores, gateway, events: shared } = dependencies;
  const { access, requestId, served } = gateway;
  const events = createAnalyticsEvents(dependencies);
  const analytics = new Analytics({}, { clock, statements: stores.ledger.customers, access, events });
  const saved = new SavedQueryShelf({ store: stores.state.savedQueries });
  const app = createAnalyticsHttp({
    networkDefault,
    access,
    analytics,
    saved,
    clock,
    log,
    requestId,
    served: (fact) => served(fact),
    refused: (code) => shared.requestRefused("rest", code),
  });
  const mount = { prefix: analyticsPath, fetch: app.fetch.bind(app) };
  return { analytics, saved, apps: [mount] };
}
