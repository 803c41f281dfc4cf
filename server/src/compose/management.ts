import { SluiceError } from "@sluice/contract/errors";
import { systemClock, systemRandom } from "@sluice/lib";
import {
  administrationPaths,
  createAdministration,
  createManagement,
  type EngineControl,
  engineControl,
  listMigrations,
} from "../admin/index.ts";
import type { Config, Reload } from "../config/index.ts";
import { type Credits, createCredits, tallyInMemory } from "../credits/index.ts";
import { createRequestIds } from "../http/index.ts";
import type { RevocationFeed } from "../keys/index.ts";
import { LedgerUnavailableError } from "../ledger/index.ts";
import type { AppMount } from "../net/index.ts";
import { createLog, createMetrics, createServerEvents } from "../observe/index.ts";
import type { SentQuery } from "../rpc/index.ts";
import type { UpstreamAdmin } from "../upstreams/index.ts";
import type { Dependencies } from "./dependencies.ts";
import type { Gateway } from "./gateway.ts";
import { openStores, type Stores } from "./stores.ts";

interface ManagementDependencies extends Dependencies {
  readonly stores: Stores;
  readonly credits: Pick<Credits, "spent">;
  readonly revocations: Pick<RevocationFeed, "invalidateKey" | "invalidateAccount">;
  readonly engineControl: EngineControl;
  readonly reload: Reload;
}

interface AdministrationDependencies extends ManagementDependencies {
  readonly gateway: Gateway;
  readonly upstreamAdmin: UpstreamAdmin;
  readonly sentBy: SentQuery;
  readonly closing: AbortSignal;
}

/** The dependencies that administration and management share. */
const changes = ({ revocations, engineControl, reload, credits }: ManagementDependencies) => ({
  invalidateKey: (hash: string) => revocations.invalidateKey(hash),
  invalidateAccount: (accountId: string) => revocations.invalidateAccount(accountId),
  engine: engineControl,
  reload,
  creditsUsed: (accountId: string) => credits.spent(accountId),
});

/** A ledger that restarts is available again shortly; any other error is internal. */
function overloadedWhileAway(error: unknown): never {
  if (error instanceof LedgerUnavailableError) throw new SluiceError("OVERLOADED", { cause: error });
  throw error;
}

/** Usage and administration, mounted under their paths on the gateway's port. */
export function mountAdministration(dependencies: AdministrationDependencies): AppMount[] {
  const { clock, random, log, events, stores, gateway, sentBy, upstreamAdmin, closing } = dependencies;
  const { requests } = stores.ledger;
  const app = createAdministration({
    ...changes(dependencies),
    state: stores.state,
    clock,
    random,
    log,
    events: {
      requestServed: (fact) => events.requestServed("admin", fact),
      requestRefused: (code) => events.requestRefused("admin", code),
    },
    requestId: gateway.requestId,
    access: gateway.access,
    flushUsage: () => requests.flush(),
    readUsage: (question) => requests.usage(question).catch(overloadedWhileAway),
    sentBy,
    upstreams: upstreamAdmin,
    closing,
  });
  return administrationPaths.map((prefix) => ({ prefix, fetch: (request, bindings) => app.fetch(request, bindings) }));
}

/** The management application; a server and a command that opened the stores itself serve the same one. */
export function wireManagement(dependencies: ManagementDependencies) {
  const { clock, random, log, stores } = dependencies;
  const { state, ledger } = stores;
  return createManagement(
    { actor: "operator" },
    {
      ...changes(dependencies),
      state,
      clock,
      random,
      requestId: createRequestIds({ random }),
      log,
      usage: async (accountId) => {
        await ledger.requests.flush();
        return await ledger.requests.lastHour(accountId);
      },
      migrations: () => listMigrations(state, ledger),
    },
  );
}

export interface OfflineManagement extends AsyncDisposable {
  fetch(request: Request): Response | Promise<Response>;
}

/** The management application over stores that this process opens itself, for commands while no server runs. */
export async function composeManagement(config: Config): Promise<OfflineManagement> {
  const clock = systemClock;
  const random = systemRandom;
  // A command prints its answer; only warnings of the stores are shown beside it.
  const log = createLog({ level: "warn", destination: "stderr" });
  await using opening = new AsyncDisposableStack();
  const metrics = opening.use(createMetrics({}, { clock }));
  const shared = { clock, random, log, metrics, events: createServerEvents({ log, metrics }), resources: opening };
  const stores = await openStores(config, shared);
  // Credits are only read here, so no tally is kept.
  const credits = opening.use(
    createCredits({ sweepIntervalMs: null }, { clock, log, store: stores.state.credits, tally: tallyInMemory("", 0) }),
  );
  const management = wireManagement({
    ...shared,
    stores,
    credits,
    engineControl: engineControl(null),
    reload: async () => ({ kind: "unavailable" }),
    // No server runs that could have cached a key.
    revocations: { invalidateKey: () => {}, invalidateAccount: () => {} },
  });
  const resources = opening.move();
  return {
    fetch: (request) => management.fetch(request),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
