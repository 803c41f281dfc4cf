import type { IdlPrograms } from "@sluice/parser";
import type { Config } from "../config/index.ts";
import {
  barePath,
  createEnhanced,
  createEnhancedEvents,
  type DocumentSource,
  type EnhancedApp,
  type EnhancedEvents,
  enhancedPath,
  openDocuments,
  sdkWalletPath,
} from "../enhanced/index.ts";
import type { Names } from "../names/index.ts";
import type { AppMount } from "../net/index.ts";
import type { Oracle } from "../oracle/index.ts";
import type { ChainRecord } from "../state/index.ts";
import { serveAssetMethods } from "./assets.ts";
import type { Dependencies } from "./dependencies.ts";
import { consoleUrl } from "./endpoints.ts";
import type { Gateway } from "./gateway.ts";
import type { Stores } from "./stores.ts";
import { usdPrices } from "./usd-prices.ts";

interface EnhancedParts extends Dependencies {
  readonly programs: IdlPrograms;
  readonly gateway: Gateway;
  readonly stores: Stores;
  /** Null where this process does not have the role, as the next one. */
  readonly names: Names | null;
  readonly oracle: Oracle | null;
}

/** The enhanced API, and its paths on the gateway's port. */
export interface OpenedEnhanced {
  readonly app: EnhancedApp;
  readonly mounts: readonly AppMount[];
}

/** The enhanced API: its methods of JSON-RPC, answered from now on, and its paths on the gateway's port. */
export function openEnhanced(config: Config, dependencies: EnhancedParts): OpenedEnhanced {
  const enhancedEvents = createEnhancedEvents(dependencies);
  const documents = openDocuments(config.metadata, { clock: dependencies.clock, events: enhancedEvents });
  serveAssetMethods({ ...dependencies, documents });
  return mountEnhanced(config, { ...dependencies, documents, enhancedEvents });
}

/** The enhanced API, mounted under its paths on the gateway's port. */
function mountEnhanced(
  config: Config,
  dependencies: EnhancedParts & { readonly documents: DocumentSource; readonly enhancedEvents: EnhancedEvents },
): OpenedEnhanced {
  const { clock, log, events, programs, gateway, stores, names, oracle, documents, enhancedEvents } = dependencies;
  const { networkDefault, nativeSymbol } = config;
  const { access, rpc, requestId, served, upstreams } = gateway;
  const { chainReads: chain, tables } = stores.ledger;
  const app = createEnhanced(
    {},
    {
      clock,
      log,
      programs,
      access,
      rpc,
      networkDefault,
      nativeSymbol,
      requestId,
      served,
      refused: (code) => events.requestRefused("rest", code),
      chainOf: (network) => chainText(upstreams.pool(network)?.chain ?? null),
      events: enhancedEvents,
      documents,
      leaves: stores.ledger.assets.reads,
      chain,
      keptSince: () => tables.keptSince("transactions"),
      prices: usdPrices(config, {
        ...{ oracle, clock, log, ledger: stores.ledger },
        genesisOf: (network) => upstreams.pool(network)?.chain?.genesis ?? null,
      }),
      primaryName:
        names && (async (network, address) => (network === networkDefault ? await nameOf(names, address) : null)),
      transactionUrl: (signature) => `${consoleUrl(config) ?? "/"}api/v1/history/transactions/${signature}`,
    },
  );
  const mounts = [enhancedPath, barePath, sdkWalletPath].map(
    (prefix): AppMount => ({ prefix, fetch: (request, bindings) => app.fetch(request, bindings) }),
  );
  return { app, mounts };
}

/** What is kept of a chain is not shown of another one that stands under its network. */
function chainText(chain: ChainRecord | null): string | null {
  return chain === null ? null : `${chain.genesis} ${chain.first?.blockhash ?? ""}`;
}

/** Null also while names cannot be read: that one has none is not said by it. */
async function nameOf(names: Names, address: string): Promise<string | null> {
  const found = await names.reverse(address);
  return found.kind === "named" ? found.name : null;
}
