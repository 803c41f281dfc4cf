import type { Config } from "../config/index.ts";
import { barePath, createEnhanced, createEnhancedEvents, enhancedPath } from "../enhanced/index.ts";
import type { AppMount } from "../net/index.ts";
import type { ChainRecord } from "../state/index.ts";
import type { Dependencies } from "./dependencies.ts";
import type { Gateway } from "./gateway.ts";
import type { Stores } from "./stores.ts";

/** The enhanced API, mounted under its two paths on the gateway's port. */
export function mountEnhanced(
  { networkDefault }: Config,
  dependencies: Dependencies & { readonly gateway: Gateway; readonly stores: Stores },
): readonly AppMount[] {
  const { clock, log, events, gateway, stores } = dependencies;
  const { access, rpc, requestId, served, upstreams } = gateway;
  const app = createEnhanced(
    {},
    {
      clock,
      log,
      access,
      rpc,
      networkDefault,
      requestId,
      served,
      refused: (code) => events.requestRefused("rest", code),
      chainOf: (network) => chainText(upstreams.pool(network)?.chain ?? null),
      events: createEnhancedEvents(dependencies),
      leaves: stores.ledger.assets.reads,
    },
  );
  return [enhancedPath, barePath].map((prefix) => ({
    prefix,
    fetch: (request, bindings) => app.fetch(request, bindings),
  }));
}

/** What is kept of a chain is not shown of another one that stands under its network. */
function chainText(chain: ChainRecord | null): string | null {
  return chain === null ? null : `${chain.genesis} ${chain.first?.blockhash ?? ""}`;
}
