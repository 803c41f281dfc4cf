/**
 * compose: the only place where parts meet. Makes the rooms from the configuration, hands each what it declares that it
 * needs, and binds applications to ports through door. Fed by command; feeds nothing: what it made runs by itself.
 */

import { join } from "node:path";
import { oraclePaths } from "@sluice/contract/oracle";
import { type Clock, type Random, systemClock, systemRandom } from "@sluice/lib";
import { administrationMethods, ConsolePages, engineControl, pagePaths } from "./admin/index.ts";
import { mountAdministration } from "./compose/administration.ts";
import { buildConsoleFiles } from "./compose/console-files.ts";
import { consoleUrl, metricsApp, type OpenDoor, openDoors, openGatewayDoor, wireConsole } from "./compose/doors.ts";
import { Drain } from "./compose/drain.ts";
import { openBlockEngine } from "./compose/engine.ts";
import { knownMethods, wireGateway } from "./compose/gateway.ts";
import { lazily } from "./compose/lazily.ts";
import { wireManagement } from "./compose/management.ts";
import { openOracle } from "./compose/oracle.ts";
import { createReload, type Reload } from "./compose/reload.ts";
import { openResolver } from "./compose/resolver.ts";
import { openStores } from "./compose/stores.ts";
import { version } from "./compose/version.ts";
import type { Config, ConfigOutcome } from "./config/index.ts";
import { subscribeToRevocations } from "./keys/index.ts";
import { AppListener, listening } from "./net/index.ts";
import { createLog, createMetrics, createServerEvents, type RootLog } from "./observe/index.ts";
import { subscribeToSent } from "./rpc/index.ts";
import type { State } from "./state/index.ts";
import { UpstreamAdmin } from "./upstreams/index.ts";

export type { OpenDoor } from "./compose/doors.ts";
export { engineUrl, opensEngine } from "./compose/engine.ts";
export { composeManagement } from "./compose/offline.ts";
export { tickLogDirectory } from "./compose/oracle.ts";
export { composeResolver } from "./compose/resolver-alone.ts";
export { stateOptions, storeParts } from "./compose/stores.ts";
export { version } from "./compose/version.ts";

/** A running server. Disposing of it drains the doors, ends the children and closes the stores. */
export interface Sluice extends AsyncDisposable {
  readonly doors: readonly OpenDoor[];
  readonly consoleUrl: string;
  readonly state: State;
  /** Lets a browser on this machine see the console as this account without signing in; for development only. */
  openConsoleAs(accountId: string): void;
  /** Reads the configuration again and follows what can be followed without dropping a connection. */
  readonly reload: Reload;
}

export interface ComposeDependencies {
  readonly clock?: Clock;
  readonly random?: Random;
  readonly log?: RootLog;
  /** Reads the configuration again; without it a reload is refused. */
  readonly readConfig?: () => ConfigOutcome;
}

/** Where a running server takes the commands of the `sluice` program. */
export const managementSocketPath = (config: Config): string => join(config.stores.directory, "sluice.sock");

/** Makes and starts a server. Throws ListenError, StateError and the other stores' faults, having closed everything. */
export async function compose(config: Config, given: ComposeDependencies): Promise<Sluice> {
  const { clock = systemClock, random = systemRandom, log = createLog({ level: config.logLevel }) } = given;
  const startedAt = clock.monotonic();
  await using opening = new AsyncDisposableStack();
  const metrics = opening.use(createMetrics({}, { clock }));
  const events = createServerEvents(
    { log, metrics },
    { methods: [...knownMethods, ...oraclePaths, ...administrationMethods] },
  );
  const shared = { clock, random, log, metrics, events, resources: opening };
  const stores = await openStores(config, shared);
  const gateway = wireGateway(config, { ...shared, stores });
  const revocations = await subscribeToRevocations({ ...shared, hot: stores.hot, keys: gateway.keys });
  const { masterKey } = config;
  const upstreamAdmin = opening.use(await UpstreamAdmin.open({ masterKey }, { ...shared, ...stores, ...gateway }));
  const read = given.readConfig ?? null;
  const reload = createReload(config, { read, gateway, log, recallOrders: () => upstreamAdmin.recall() });
  const sentBy = await subscribeToSent({}, { ...shared, hot: stores.hot, sent: gateway.sent });
  const names = openResolver(config, shared);
  const oracle = openOracle(config, { ...shared, stores, gateway, revocations });
  const engine = await openBlockEngine(config, { ...shared, stores, gateway, revocations });
  const managed = { revocations, reload, engineControl: engineControl(engine) };
  const management = wireManagement({ ...shared, ...managed, stores, credits: gateway.credits });
  const drain = new Drain(config.drain, events);
  const doors: OpenDoor[] = [];
  const open = { account: null as string | null };
  const closing = new AbortController();
  const parts = { ...shared, stores, gateway };
  const rooms = { names, oracle, engine };
  const consoleRest = wireConsole(config, {
    ...parts,
    doors,
    openAccount: () => open.account,
    closing: closing.signal,
    ...rooms,
  });
  const pages = lazily(async () => {
    const directory = await buildConsoleFiles(config.stores.directory, closing.signal);
    return new ConsolePages({ directory, pages: pagePaths });
  });
  const consoleApp = (request: Request, bindings: object) => consoleRest.fetch(request, bindings);
  const administration = mountAdministration({ ...parts, ...managed, upstreamAdmin, sentBy, closing: closing.signal });
  const door = openGatewayDoor(config, { ...parts, ...rooms, drain, consoleApp, administration, revocations, pages });
  opening.defer(async () => {
    closing.abort();
    await door.stop(config.drain.deadlineMs);
  });
  const socket = { unixPath: managementSocketPath(config) };
  opening.use(new AppListener(socket, { fetch: (request) => management.fetch(request), events }));
  const { host, port } = config.metrics;
  const listenMetrics = () => new AppListener({ hostname: host, port }, { fetch: metricsApp(metrics), events });
  opening.use(listening("metrics", port, listenMetrics));
  doors.push(...openDoors(config));
  gateway.upstreams.start();
  // The first visitor need not wait for the bundler; a failure shows to whoever asks.
  pages().catch((fault: unknown) => closing.signal.aborted || events.internalError("console", fault));
  events.serverStarted({ version, mode: config.mode, startMs: Math.round(clock.monotonic() - startedAt) });
  const resources = opening.move();
  return {
    doors,
    consoleUrl: consoleUrl(config),
    state: stores.state,
    reload,
    openConsoleAs: (accountId) => {
      open.account = accountId;
    },
    [Symbol.asyncDispose]: () => drain.end(resources),
  };
}
