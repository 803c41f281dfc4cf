import { existsSync } from "node:fs";
import { join } from "node:path";
import { SluiceError } from "@sluice/contract/errors";
import { type SecretVault, systemClock, systemRandom } from "@sluice/lib";
import {
  administrationPaths,
  createAdministration,
  createManagement,
  type EngineControl,
  engineControl,
  listMigrations,
  type OracleProduct,
  type RunningServer,
} from "../admin/index.ts";
import type { BackupJob } from "../backup/index.ts";
import type { Config, Reload } from "../config/index.ts";
import { type Credits, createCredits, monthOf, tallyInMemory } from "../credits/index.ts";
import { createRequestIds } from "../http/index.ts";
import type { RevocationFeed } from "../keys/index.ts";
import { LedgerUnavailableError, type RequestSearch, type UsageQuestion, type UsageRange } from "../ledger/index.ts";
import type { AppMount } from "../net/index.ts";
import { createLog, createMetrics, createServerEvents } from "../observe/index.ts";
import type { Oracle } from "../oracle/index.ts";
import type { SentQuery } from "../rpc/index.ts";
import type { UpstreamAdmin } from "../upstreams/index.ts";
import { backupJob } from "./backup.ts";
import { type Dependencies, newProcessId } from "./dependencies.ts";
import type { Gateway } from "./gateway.ts";
import { vaultOf } from "./secrets.ts";
import { openStores, requireLedger, type Stores } from "./stores.ts";
import { Certificates } from "./tls.ts";

interface ManagementDependencies extends Dependencies {
  readonly stores: Stores;
  readonly credits: Pick<Credits, "spent">;
  readonly revocations: Pick<RevocationFeed, "invalidateKey" | "invalidateAccount">;
  readonly engineControl: EngineControl;
  readonly reload: Reload;
  readonly developmentKeys: "accept" | "refuse";
  /** Requests of an account that were served in a month, recorded or not. */
  readonly servedRequests: (accountId: string, month: string) => Promise<bigint>;
}

interface SocketDependencies extends ManagementDependencies {
  /** See `createManagement`. */
  readonly creditsHeld: (accountId: string, month: string) => Promise<bigint>;
  /** With the master keys of this process. */
  readonly vault: SecretVault;
  readonly backups: BackupJob;
  /** The oracle that runs in this process, if one does. */
  readonly oracle: Pick<Oracle, "requestsUsed"> | null;
}

interface AdministrationDependencies extends ManagementDependencies {
  readonly gateway: Gateway;
  readonly upstreamAdmin: UpstreamAdmin;
  readonly sentBy: SentQuery;
  readonly closing: AbortSignal;
}

/** The dependencies that administration and management share. */
const shared = ({ stores, revocations, engineControl, reload, credits, ...rest }: ManagementDependencies) => ({
  state: stores.state,
  clock: rest.clock,
  random: rest.random,
  log: rest.log,
  developmentKeys: rest.developmentKeys,
  invalidateKey: (hash: string) => revocations.invalidateKey(hash),
  invalidateAccount: (accountId: string) => revocations.invalidateAccount(accountId),
  engine: engineControl,
  reload,
  creditsUsed: (accountId: string) => credits.spent(accountId),
  flushUsage: () => stores.ledger.requests.flush(),
  readUsage: (question: UsageQuestion) => stores.ledger.requests.usage(question).catch(unavailableWhileAway),
  servedRequests: rest.servedRequests,
  recordedRequests: (range: UsageRange) => stores.ledger.requests.recorded(range).catch(unavailableWhileAway),
  requestsKeptSince: () => stores.ledger.tables.keptSince("requests"),
  ledgerTables: () => stores.ledger.tables.read().catch(unavailableWhileAway),
  requests: {
    flush: () => stores.ledger.requests.flush(),
    find: (requestId: string, accountId: string | null) =>
      stores.ledger.requests.find(requestId, accountId).catch(unavailableWhileAway),
    search: (search: RequestSearch) => stores.ledger.requests.search(search).catch(unavailableWhileAway),
  },
});

/** A ledger that is away comes back; the caller learns which store it is, and not where. Other errors are internal. */
function unavailableWhileAway(error: unknown): never {
  if (error instanceof LedgerUnavailableError) {
    throw new SluiceError("STORE_UNAVAILABLE", {
      message: "The ledger is not available; try again later",
      cause: error,
    });
  }
  throw error;
}

/** Usage and administration, mounted under their paths on the gateway's port. */
export function mountAdministration(dependencies: AdministrationDependencies): AppMount[] {
  const { events, gateway, sentBy, upstreamAdmin, closing } = dependencies;
  const app = createAdministration({
    ...shared(dependencies),
    events: {
      requestServed: (fact) => events.requestServed("admin", fact),
      requestRefused: (code) => events.requestRefused("admin", code),
    },
    requestId: gateway.requestId,
    access: gateway.access,
    sentBy,
    upstreams: upstreamAdmin,
    closing,
  });
  return administrationPaths.map((prefix) => ({ prefix, fetch: (request, bindings) => app.fetch(request, bindings) }));
}

/** What the oracle here has counted; without one what the store holds, in which leases of others count as used. */
async function requestsUsed(
  { oracle, stores, clock }: SocketDependencies,
  [accountId, product]: [accountId: string, product: OracleProduct],
): Promise<{ month: string; used: bigint }> {
  if (oracle !== null) return await oracle.requestsUsed(accountId, product === "oracle" ? "v1" : "v2");
  const month = monthOf(clock.now());
  return { month, used: await stores.state.requests[product].used(accountId, month) };
}

/** The management application; a server and a command that opened the stores itself serve the same one. */
export function wireManagement(dependencies: SocketDependencies, server: RunningServer | null) {
  const { random, stores } = dependencies;
  const { state, ledger } = stores;
  return createManagement(
    { actor: "operator" },
    {
      ...shared(dependencies),
      creditsHeld: dependencies.creditsHeld,
      vault: dependencies.vault,
      backups: dependencies.backups,
      processId: dependencies.processId,
      requestId: createRequestIds({ random }),
      lastHour: async (accountId) => {
        await ledger.requests.flush();
        return await ledger.requests.lastHour(accountId);
      },
      requestsUsed: (...of) => requestsUsed(dependencies, of),
      migrations: () => listMigrations(state, ledger),
      contract: () => state.contract(),
      server,
    },
  );
}

export interface OfflineManagement extends AsyncDisposable {
  fetch(request: Request): Response | Promise<Response>;
}

/**
 * The management application over stores that this process opens itself, for commands while no server runs. It makes no
 * store: one that is absent is refused. Only an empty PostgreSQL database gets its tables, when `migrates` says so.
 * @throws {StateError} ABSENT, and other codes of a store that cannot be opened
 * @throws {LedgerOpenError} likewise
 */
export async function composeManagement(
  config: Config,
  { migrates = false }: { readonly migrates?: boolean } = {},
): Promise<OfflineManagement> {
  const clock = systemClock;
  const random = systemRandom;
  // A command prints its answer; only warnings of the stores are shown beside it.
  const log = createLog({ level: "warn", destination: "stderr" });
  // Before the database is touched, so that nothing is done by halves.
  requireLedger(config);
  await using opening = new AsyncDisposableStack();
  const metrics = opening.use(createMetrics({}, { clock }));
  const events = createServerEvents({ log, metrics });
  const base = { clock, log, metrics, resources: opening };
  const certificates = new Certificates(base);
  const opened = { ...base, random, events, certificates, proxies: null, processId: newProcessId(random) };
  const createsState = migrates && config.stores.databaseUrl !== null;
  const stores = await openStores(config, opened, { createsState, isServer: false });
  // Credits are only read here, so no tally is kept.
  const credits = opening.use(
    createCredits({ sweepIntervalMs: null }, { clock, log, store: stores.state.credits, tally: tallyInMemory("", 0) }),
  );
  const parts: SocketDependencies = {
    ...opened,
    stores,
    credits,
    creditsHeld: (accountId, month) => stores.state.credits.held(accountId, month),
    vault: vaultOf(config, random),
    backups: backupJob(config, { ...opened, stores }),
    engineControl: engineControl(null),
    oracle: null,
    reload: async () => ({ kind: "unavailable" }),
    servedRequests: (accountId, month) => stores.state.served.used(accountId, month),
    // No server runs that could have cached a key.
    revocations: { invalidateKey: () => {}, invalidateAccount: () => {} },
    // The stores of a development server have its file beside them.
    developmentKeys: existsSync(join(config.stores.directory, "dev.json")) ? "accept" : "refuse",
  };
  const management = wireManagement(parts, null);
  const resources = opening.move();
  return {
    fetch: (request) => management.fetch(request),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
