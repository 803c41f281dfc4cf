import { SluiceError } from "@sluice/contract/errors";
import type { Clock, Random } from "@sluice/lib";
import { administrationPaths, createAdministration, type EngineControl } from "../admin/index.ts";
import type { RevocationFeed } from "../keys/index.ts";
import { LedgerUnavailableError } from "../ledger/index.ts";
import type { AppMount } from "../net/index.ts";
import type { Log, ServerEvents } from "../observe/index.ts";
import type { SentQuery } from "../rpc/index.ts";
import type { UpstreamAdmin } from "../upstreams/index.ts";
import type { Gateway } from "./gateway.ts";
import type { Reload } from "./reload.ts";
import type { Stores } from "./stores.ts";

interface Parts {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly events: ServerEvents;
  readonly stores: Stores;
  readonly gateway: Gateway;
  readonly revocations: RevocationFeed;
  readonly upstreamAdmin: UpstreamAdmin;
  readonly engineControl: EngineControl;
  readonly reload: Reload;
  readonly sentBy: SentQuery;
  readonly closing: AbortSignal;
}

/** A ledger that is restarting is asked again shortly; anything else is a fault of ours. */
function ledgerAway(fault: unknown): never {
  if (fault instanceof LedgerUnavailableError) throw new SluiceError("OVERLOADED", { cause: fault });
  throw fault;
}

/** Usage and administration, mounted under their paths on the gateway's door. */
export function mountAdministration({
  clock,
  random,
  log,
  events,
  stores,
  gateway,
  revocations,
  ...parts
}: Parts): AppMount[] {
  const { state, ledger } = stores;
  const { access, credits, requestId } = gateway;
  const app = createAdministration({
    state,
    clock,
    random,
    log,
    events: {
      requestServed: (fact) => events.requestServed("admin", fact),
      requestRefused: (code) => events.requestRefused("admin", code),
    },
    requestId,
    access,
    flushUsage: () => ledger.requests.flush(),
    readUsage: (question) => ledger.requests.usage(question).catch(ledgerAway),
    creditsUsed: (accountId) => credits.spent(accountId),
    sentBy: parts.sentBy,
    invalidateKey: (hash) => revocations.invalidateKey(hash),
    invalidateAccount: (accountId) => revocations.invalidateAccount(accountId),
    upstreams: parts.upstreamAdmin,
    engine: parts.engineControl,
    reload: parts.reload,
    closing: parts.closing,
  });
  return administrationPaths.map((prefix) => ({ prefix, fetch: (request, bindings) => app.fetch(request, bindings) }));
}
