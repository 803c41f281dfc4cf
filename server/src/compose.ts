/**
 * compose: the only place where the rooms meet. Creates each room from the configuration, hands it what it declares
 * that it needs, and opens the endpoints. The order is `startSteps`, a table of steps with their needs. Fed by command;
 * feeds nothing: the opened parts run by themselves.
 */
import { oraclePaths } from "@sluice/contract/oracle";
import { type Clock, type Random, systemClock, systemRandom } from "@sluice/lib";
import type { IdlPrograms } from "@sluice/parser";
import { administrationMethods, engineControl } from "./admin/index.ts";
import { analyticsRoutes } from "./analytics/index.ts";
import { type AnalyticsParts, openAnalytics } from "./compose/analytics.ts";
import { openAssetIndex } from "./compose/assets.ts";
import { backupJob } from "./compose/backup.ts";
import { requireSameChains } from "./compose/chains.ts";
import { type Console, openConsole } from "./compose/console.ts";
import { type Dependencies, newProcessId } from "./compose/dependencies.ts";
import {
  addressesOf,
  consoleUrl,
  type Endpoint,
  endpointsOf,
  opensGateway,
  opensSockets,
} from "./compose/endpoints.ts";
import { openBlockEngine } from "./compose/engine.ts";
import { type OpenedEnhanced, openEnhanced } from "./compose/enhanced.ts";
import { acceptedKeys, type Gateway, knownMethods, openGatewayListener, wireGateway } from "./compose/gateway.ts";
import { Drain, Health, serverStatus } from "./compose/health.ts";
import { type HistoryOrders, openLedgerWriters } from "./compose/history.ts";
import { type IngestReport, openChainLogs, openIngest } from "./compose/ingest.ts";
import { mountHistory } from "./compose/lookups.ts";
import { mountAdministration, wireManagement } from "./compose/management.ts";
import { openMetricsListener } from "./compose/metrics-listener.ts";
import { followsNodes } from "./compose/nodes.ts";
import { openOracle } from "./compose/oracle.ts";
import { type OpenedPool, openPool } from "./compose/pool.ts";
import { readPrograms } from "./compose/programs.ts";
import { type Registration, register } from "./compose/registration.ts";
import { openResolver, startResolver } from "./compose/resolver.ts";
import { freePredecessor, reloadOfAll } from "./compose/seats.ts";
import { requireReadableSecrets, vaultOf } from "./compose/secrets.ts";
import { runSteps, stepsOf } from "./compose/steps.ts";
import { watchStoreFigures } from "./compose/store-figures.ts";
import { StoreWatch } from "./compose/store-watch.ts";
import { openStores, type Stores } from "./compose/stores.ts";
import { openFlows } from "./compose/streams.ts";
import { Certificates, type OpenPort, trustedHeadersOf } from "./compose/tls.ts";
import { type DeliveryParts, openWebhookDelivery } from "./compose/webhook-delivery.ts";
import { openWebhookManagement, type WebhookParts } from "./compose/webhooks.ts";
import { openYellowstone } from "./compose/yellowstone.ts";
import {
  type Config,
  type ConfigOutcome,
  createReload,
  managementSocketPath,
  type Reload,
  version,
} from "./config/index.ts";
import type { EngineService } from "./engine/index.ts";
import type { AssetFills } from "./enhanced/index.ts";
import { historyMethods } from "./history/index.ts";
import { createRequestIds } from "./http/index.ts";
import { createKeysEvents, type RevocationFeed, subscribeToRevocations } from "./keys/index.ts";
import type { ChainLogs } from "./log/index.ts";
import type { Names } from "./names/index.ts";
import { type AppMount, PlainListener } from "./net/index.ts";
import {
  createLog,
  createMetrics,
  createServerEvents,
  processDescriptors,
  type RootLog,
  watchDescriptors,
} from "./observe/index.ts";
import type { Oracle } from "./oracle/index.ts";
import { type SentQuery, subscribeToSent } from "./rpc/index.ts";
import { createStateEvents, type State } from "./state/index.ts";
import type { Flows, YellowstoneEndpoint } from "./streams/index.ts";
import { UpstreamAdmin } from "./upstreams/index.ts";
import { webhookRoutes } from "./webhooks/index.ts";
import type { Seat } from "./workers/index.ts";

export { restoreInto } from "./compose/backup.ts";
export { type Endpoint, endpointsOf, engineUrl, openedRoles } from "./compose/endpoints.ts";
export { composeManagement } from "./compose/management.ts";
export { tickLogDirectory } from "./compose/oracle.ts";
export { composeResolver } from "./compose/resolver.ts";
export { configOfWorker } from "./compose/seats.ts";
export { secretFault } from "./compose/secrets.ts";
export { StartRefusedError } from "./compose/start-refused.ts";
export { stateOptions, storeParts } from "./compose/stores.ts";
export { composeWorkers } from "./compose/workers.ts";

/** A running server. Disposal drains the endpoints, ends the child processes and closes the stores. */
export interface Sluice extends AsyncDisposable {
  readonly endpoints: readonly Endpoint[];
  /** Null where no gateway runs, which serves the console. */
  readonly consoleUrl: string | null;
  readonly state: State;
  /** Shows the console as this account to a browser on this machine, without a session; for development only. */
  openConsoleAs(accountId: string): void;
  /** Reads the configuration again and applies what can be applied without dropping a connection. */
  readonly reload: Reload;
  /** Ends as disposal does, at once: another worker serves in its place. */
  retire(): Promise<void>;
  /** The metrics of this process; also after its end, when they say what was counted. */
  renderMetrics(): Promise<string>;
}

export interface ComposeDependencies {
  readonly clock?: Clock;
  readonly random?: Random;
  readonly log?: RootLog;
  /** Reads the configuration again; without it a reload is refused. */
  readonly readConfig?: () => ConfigOutcome;
  /** The place of this process among the workers of its host, where it is one. */
  readonly seat?: Seat;
}

/** The parts of a running server, each opened by one step. */
interface Parts {
  /** What the operator's files say of programs. */
  readonly programs: IdlPrograms;
  readonly stores: Stores;
  readonly storeWatch: StoreWatch;
  readonly storeFigures: AsyncDisposable;
  /** Whether there was an account before the endpoints opened. */
  readonly hasAccounts: boolean;
  /** Null where no other process can be on the same database. */
  readonly registration: Registration | null;
  readonly gateway: Gateway;
  readonly revocations: RevocationFeed;
  readonly upstreamAdmin: UpstreamAdmin;
  readonly reload: Reload;
  readonly sentBy: SentQuery;
  readonly chainLogs: ChainLogs;
  /** Null where this process does not ingest. */
  readonly ingest: IngestReport | null;
  /** Null where this process does not tell streams. */
  readonly flows: Flows | null;
  /** Null, as the one before. */
  readonly yellowstone: YellowstoneEndpoint | null;
  /** Null where this process does not ingest. */
  readonly history: HistoryOrders | null;
  /** Null, as the one before. */
  readonly assetIndex: AssetFills | null;
  /** Null where this process neither delivers events to webhooks nor serves their owners. */
  readonly webhookDelivery: DeliveryParts | null;
  readonly names: Names | null;
  readonly oracle: Oracle | null;
  /** Null where this process does not have the block engine's endpoint. */
  readonly pool: OpenedPool | null;
  readonly engine: EngineService | null;
  readonly administration: readonly AppMount[];
  /** Null where this process does not run the gateway. */
  readonly analytics: AnalyticsParts | null;
  /** Null, as the one before. */
  readonly webhooks: WebhookParts | null;
  readonly historyLookups: AppMount;
  readonly enhanced: OpenedEnhanced;
  /** Null, as the next one, where this process does not run the gateway. */
  readonly console: Console | null;
  readonly gatewayListener: OpenPort | null;
  readonly managementListener: PlainListener;
  /** Null in a worker, whose parent asks for its metrics. */
  readonly metricsListener: PlainListener | null;
}

/** What all steps share, beside the parts that they need. */
interface Shared extends Dependencies {
  readonly config: Config;
  readonly readConfig: (() => ConfigOutcome) | null;
  readonly health: Health;
  readonly drain: Drain;
  /** Null where this process is no worker. */
  readonly seat: Seat | null;
  readonly openAccount: () => string | null;
  /** Aborted when the gateway's endpoints close. */
  readonly closing: AbortController;
}

const step = stepsOf<Parts, Shared>();

/**
 * The order of the start: stores, then the rooms of a request, then what follows other processes, then the services
 * with endpoints of their own, and last the endpoints that serve all of them.
 */
export const startSteps = [
  step("programs", [], (_parts, { config }) => readPrograms(config)),
  step("stores", [], (_parts, shared) => openStores(shared.config, shared)),
  step("storeWatch", ["stores"], ({ stores }, shared) => shared.resources.use(new StoreWatch(stores, shared))),
  step(
    "hasAccounts",
    ["stores"],
    async ({ stores }) => (await stores.state.accounts.list({ limit: 1 })).items.length > 0,
  ),
  step("registration", ["stores"], async ({ stores }, shared) => {
    await requireSameChains(shared.config, { store: stores.state.chains });
    await requireReadableSecrets(shared.config, { ...shared, store: stores.state.secrets });
    await freePredecessor(shared.config, { ...shared, ...stores });
    return await register(shared.config, { ...shared, stores });
  }),
  step("storeFigures", ["stores", "registration"], ({ stores: { state, ledger } }, shared) => {
    const events = { ...shared.events, ...createStateEvents(shared) };
    return shared.resources.use(watchStoreFigures({ ...shared, state, ledger, events }));
  }),
  step("gateway", ["stores"], (parts, shared) => wireGateway(shared.config, { ...shared, ...parts })),
  step("revocations", ["stores", "gateway"], ({ stores, gateway }, shared) =>
    subscribeToRevocations({
      ...shared,
      hot: stores.hot,
      changes: stores.state.keyChanges,
      keys: gateway.keys,
      events: createKeysEvents(shared),
    }),
  ),
  step("upstreamAdmin", ["stores", "gateway"], async ({ stores, gateway }, shared) => {
    const { masterKey, masterKeysPrevious } = shared.config;
    const options = { masterKey, masterKeysPrevious };
    return shared.resources.use(await UpstreamAdmin.open(options, { ...shared, ...stores, ...gateway }));
  }),
  step("reload", ["gateway", "upstreamAdmin"], ({ gateway, upstreamAdmin }, { config, readConfig, log, proxies }) =>
    createReload(config, {
      read: readConfig,
      log,
      apply: ({ upstreams, cordonSlots, cacheBytes, trustedProxies, logLevel }) => {
        // The one call that can throw comes first, and changes nothing when it does.
        gateway.upstreams.reconfigure(upstreams, BigInt(cordonSlots));
        gateway.resizeCache(cacheBytes);
        gateway.trustedProxies.replace(trustedProxies);
        proxies?.trusted.replace(trustedProxies);
        log.setLevel(logLevel);
      },
      onApplied: () => upstreamAdmin.recall(),
    }),
  ),
  step("sentBy", ["stores", "gateway"], ({ stores, gateway }, shared) =>
    subscribeToSent(
      {},
      {
        ...shared,
        hot: stores.hot,
        sent: gateway.sent,
        genesisOf: (network) => gateway.upstreams.pool(network)?.chain?.genesis ?? null,
      },
    ),
  ),
  step("chainLogs", ["gateway"], ({ gateway: { upstreams, sent } }, shared) => {
    const chainLogs = openChainLogs(shared.config, { ...shared, upstreams });
    sent.follow((network) => chainLogs.current(network));
    return chainLogs;
  }),
  step("ingest", ["gateway", "chainLogs"], ({ gateway: { upstreams }, chainLogs }, shared) =>
    openIngest(shared.config, { ...shared, upstreams, chainLogs }),
  ),
  step("flows", ["programs", "stores", "chainLogs"], (parts, shared) =>
    openFlows(shared.config, { ...shared, ...parts }),
  ),
  step("history", ["stores", "gateway", "chainLogs"], ({ gateway: { upstreams }, ...parts }, shared) =>
    openLedgerWriters(shared.config, { ...shared, ...parts, upstreams }),
  ),
  step("assetIndex", ["stores", "gateway", "chainLogs"], (parts, shared) =>
    openAssetIndex(shared.config, { ...shared, ...parts }),
  ),
  step("webhookDelivery", ["programs", "stores", "gateway", "chainLogs"], (parts, shared) =>
    openWebhookDelivery(shared.config, { ...shared, ...parts }),
  ),
  step("names", ["gateway"], ({ gateway: { upstreams } }, shared) =>
    openResolver(shared.config, { ...shared, upstreams }),
  ),
  step("oracle", ["stores", "gateway", "revocations"], (parts, shared) =>
    openOracle(shared.config, { ...shared, ...parts }),
  ),
  step("pool", ["stores", "gateway"], (parts, shared) => openPool(shared.config, { ...shared, ...parts })),
  step("engine", ["stores", "gateway", "revocations", "chainLogs", "pool"], (parts, shared) =>
    openBlockEngine(shared.config, { ...shared, ...parts }),
  ),
  step("yellowstone", ["gateway", "revocations", "flows"], (parts, shared) =>
    openYellowstone(shared.config, { ...shared, ...parts }),
  ),
  step(
    "administration",
    ["stores", "gateway", "revocations", "upstreamAdmin", "reload", "sentBy", "engine"],
    ({ engine, ...parts }, shared) => {
      if (!opensGateway(shared.config)) return [];
      return mountAdministration({
        ...shared,
        ...parts,
        reload: shared.seat === null ? parts.reload : reloadOfAll(shared.seat),
        credits: parts.gateway.credits,
        engineControl: engineControl(engine),
        developmentKeys: acceptedKeys(shared.config),
        servedRequests: parts.gateway.facts.served,
        closing: shared.closing.signal,
      });
    },
  ),
  step("analytics", ["stores", "gateway"], (parts, shared) =>
    opensGateway(shared.config) ? openAnalytics(shared.config, { ...shared, ...parts }) : null,
  ),
  step("webhooks", ["stores", "gateway", "webhookDelivery"], ({ webhookDelivery: delivery, ...parts }, shared) =>
    opensGateway(shared.config) && delivery !== null
      ? openWebhookManagement(shared.config, { ...shared, ...parts, delivery })
      : null,
  ),
  step("historyLookups", ["programs", "stores", "gateway"], (parts, shared) =>
    mountHistory(shared.config, { ...shared, ...parts }),
  ),
  step("enhanced", ["programs", "stores", "gateway", "names", "oracle"], (parts, shared) =>
    openEnhanced(shared.config, { ...shared, ...parts }),
  ),
  step(
    "console",
    ["stores", "gateway", "names", "oracle", "pool", "engine", "analytics", "webhooks", "enhanced"],
    ({ analytics, ...parts }, shared) =>
      analytics === null
        ? null
        : openConsole(shared.config, { ...shared, ...parts, analytics, closing: shared.closing.signal }),
  ),
  step(
    "gatewayListener",
    [
      "gateway",
      "revocations",
      "flows",
      "administration",
      "analytics",
      "webhooks",
      "historyLookups",
      "enhanced",
      "console",
    ],
    async (
      { gateway, administration, analytics, webhooks, historyLookups, enhanced, console: served, ...parts },
      { config, closing, ...shared },
    ) => {
      if (!opensSockets(config)) return null;
      const apps =
        served === null
          ? []
          : [
              served.rest,
              ...administration,
              ...(analytics?.apps ?? []),
              ...(webhooks?.apps ?? []),
              historyLookups,
              ...enhanced.mounts,
              served.pages,
            ];
      const consoleStream = served?.stream ?? null;
      const listener = await openGatewayListener(config, gateway, { ...shared, ...parts, apps, consoleStream });
      shared.resources.defer(async () => {
        closing.abort();
        await listener.stop(config.drain.deadlineMs, shared.drain.isReplaced);
      });
      return listener;
    },
  ),
  step(
    "managementListener",
    [
      ...(["stores", "registration", "gateway", "revocations", "upstreamAdmin", "reload"] as const),
      ...(["ingest", "history", "assetIndex", "oracle", "pool", "engine"] as const),
    ],
    (
      { engine, gateway, ingest, history, assetIndex, registration, upstreamAdmin, pool, ...parts },
      { config, ...shared },
    ) => {
      const app = wireManagement(
        {
          ...shared,
          ...parts,
          vault: vaultOf(config, shared.random),
          // What a process holds that lives is its own figure; one that is gone is settled within seconds.
          creditsHeld: async () => 0n,
          backups: backupJob(config, { ...shared, ...parts }),
          reload: shared.seat === null ? parts.reload : reloadOfAll(shared.seat),
          credits: gateway.credits,
          engineControl: engineControl(engine),
          developmentKeys: acceptedKeys(config),
          servedRequests: gateway.facts.served,
        },
        {
          upstreams: upstreamAdmin,
          ingest,
          pool: pool?.service ?? null,
          backfills: history?.backfills ?? null,
          reparses: history?.reparses ?? null,
          assetFills: assetIndex,
          closing: shared.closing.signal,
          status: serverStatus(config, { ...shared, gateway, ingest, registration }),
        },
      );
      const address = { unixPath: shared.seat?.orders.socketPath ?? managementSocketPath(config) };
      const dependencies = {
        fetch: (request: Request, bindings: { readonly requestId: string }) => app.fetch(request, bindings),
        requestId: createRequestIds(shared),
        clock: shared.clock,
        events: shared.events,
      };
      return shared.resources.use(new PlainListener(address, dependencies));
    },
  ),
  step("metricsListener", [], (_parts, { config, seat, health, ...shared }) =>
    seat === null ? openMetricsListener(config, { ...shared, health: async () => health }) : null,
  ),
];

/**
 * Creates and starts a server.
 * @throws {ListenError} when an endpoint's address is in use
 * @throws {StateError} or another store's error when a store does not open; all opened parts are closed then
 */
export async function compose(config: Config, dependencies: ComposeDependencies): Promise<Sluice> {
  const { clock = systemClock, random = systemRandom, readConfig = null, seat = null } = dependencies;
  const { log = createLog({ level: config.logLevel }) } = dependencies;
  const startedAt = clock.monotonic();
  await using resources = new AsyncDisposableStack();
  const metrics = resources.use(createMetrics({}, { clock }));
  const methods = [
    ...knownMethods,
    ...oraclePaths,
    ...administrationMethods,
    ...analyticsRoutes,
    ...historyMethods,
    ...webhookRoutes,
  ];
  const events = createServerEvents({ log, metrics }, { methods });
  const descriptorWatch = watchDescriptors(processDescriptors(), { clock, events });
  if (descriptorWatch !== null) resources.use(descriptorWatch);
  const drain = new Drain(config.drain, { clock, events });
  const health = resources.use(new Health(config, { clock, drain, events }));
  let openAccount: string | null = null;
  const parts = await runSteps(startSteps, {
    clock,
    random,
    log,
    metrics,
    events,
    resources,
    certificates: new Certificates({ clock, log, metrics, resources }),
    proxies: trustedHeadersOf(config, { metrics }),
    config,
    readConfig,
    processId: seat?.orders.processId ?? newProcessId(random),
    health,
    drain,
    seat,
    openAccount: () => openAccount,
    closing: new AbortController(),
  });
  const { stores, gateway, reload } = parts;
  health.observe(parts);
  health.start();
  if (followsNodes(config)) gateway.upstreams.start();
  startResolver(parts.names, { events });
  parts.console?.buildPages();
  const endpoints = endpointsOf(config);
  const shownConsole = consoleUrl(config);
  const addresses = { ...(shownConsole === null ? {} : { console: shownConsole }), ...addressesOf(endpoints) };
  const startMs = Math.round(clock.monotonic() - startedAt);
  events.serverStarted({ version, mode: config.mode, startMs, endpoints: addresses });
  // dev makes its accounts itself.
  if (config.mode === "serve" && !parts.hasAccounts) {
    events.accountsMissing({ next: "sluice accounts create --name <name>; sluice keys create --account <id>" });
  }
  const opened = resources.move();
  const renderMetrics = () => metrics.render();
  seat?.opened({ metrics: renderMetrics, ready: () => health.ready(null), reload });
  return {
    endpoints,
    consoleUrl: shownConsole,
    state: stores.state,
    reload,
    openConsoleAs: (accountId) => {
      openAccount = accountId;
    },
    retire: () => drain.retire(opened),
    renderMetrics,
    [Symbol.asyncDispose]: () => drain.end(opened),
  };
}
