import type { IdlPrograms } from "@sluice/parser";
import type { Config } from "../config/index.ts";
import { HistoryApp, historyPath, Lookups } from "../history/index.ts";
import type { AppMount } from "../net/index.ts";
import type { Dependencies } from "./dependencies.ts";
import type { Gateway } from "./gateway.ts";
import type { Stores } from "./stores.ts";

interface LookupParts extends Dependencies {
  readonly stores: Stores;
  readonly gateway: Gateway;
  readonly programs: IdlPrograms;
}

/** Indexed history over REST, mounted under its path on the gateway's port. */
export function mountHistory(config: Config, dependencies: LookupParts): AppMount {
  const { clock, log, events, stores, gateway, programs } = dependencies;
  const { chainReads: chain, tables } = stores.ledger;
  const app = new HistoryApp({
    clock,
    log,
    access: gateway.access,
    networkDefault: config.networkDefault,
    requestId: gateway.requestId,
    served: gateway.served,
    refused: (code) => events.requestRefused("rest", code),
    lookups: new Lookups({ chain, clock, programs, keptSince: () => tables.keptSince("transactions") }),
  });
  return { prefix: historyPath, fetch: (request, bindings) => app.fetch(request, bindings) };
}
