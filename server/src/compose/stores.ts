import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Timer } from "@sluice/lib";
import type { Config } from "../config/index.ts";
import { type Credits, createCreditsEvents, openCredits } from "../credits/index.ts";
import { type Hot, openHot } from "../hot/index.ts";
import { createLedgerEvents, type Ledger, LedgerOpenError, openLedger } from "../ledger/index.ts";
import {
  type CreditStore,
  createStateEvents,
  type DatabasePools,
  FileLock,
  type MeteredProduct,
  openState,
  type State,
} from "../state/index.ts";
import type { Dependencies } from "./dependencies.ts";
import { settleRestore } from "./interrupted-restore.ts";

export interface Stores {
  readonly state: State;
  readonly ledger: Ledger;
  readonly hot: Hot;
}

const sweepMs = 3_600_000;
const measureEveryMs = 60_000;

/** The files and folders of a server in its data directory. */
export const storeParts = [
  "state",
  "ledger",
  "ledger-queue",
  "log",
  "engine-flow",
  "credits",
  "console",
  "sluice.sock",
  "workers",
] as const;

export const stateOptions = (config: Config) => ({
  directory: join(config.stores.directory, "state"),
  databaseUrl: config.stores.databaseUrl,
  network: config.networkDefault,
  pools: poolsOf(config.stores.database),
  beside: ["ledger", "credits"].map((part) => join(config.stores.directory, part)),
});

function poolsOf(database: Config["stores"]["database"]): DatabasePools {
  const { connections, connectTimeoutMs, statementTimeoutMs, lookupTimeoutMs } = database;
  const usual = { connectTimeoutMs, statementTimeoutMs };
  const brief = {
    connectTimeoutMs: Math.min(connectTimeoutMs, lookupTimeoutMs),
    statementTimeoutMs: lookupTimeoutMs,
  };
  return {
    general: { connectionsMax: connections.general, ...usual },
    engine: { connectionsMax: connections.engine, ...usual },
    leases: { connectionsMax: connections.leases, ...brief },
    keys: { connectionsMax: connections.keys, ...brief },
    unknown_keys: { connectionsMax: connections.unknownKeys, ...brief },
  };
}

const ledgerDirectory = (config: Config): string => join(config.stores.directory, "ledger");

/** @throws {LedgerOpenError} ABSENT where the embedded ledger has not been made yet */
export function requireLedger(config: Config): void {
  if (config.stores.clickhouseUrl !== null || existsSync(ledgerDirectory(config))) return;
  throw new LedgerOpenError(`There is no ledger at ${ledgerDirectory(config)}`, "ABSENT");
}

/**
 * Opens all three stores and puts them on the stack. Rejects with the first store's error when one does not open,
 * having closed the others; state comes first, so that a directory that another server holds is reported as such.
 */
export async function openStores(
  config: Config,
  dependencies: Dependencies,
  { createsState = true, isServer = true }: { readonly createsState?: boolean; readonly isServer?: boolean } = {},
): Promise<Stores> {
  const { clock, random, log, resources } = dependencies;
  const isDatabase = config.stores.databaseUrl !== null;
  if (!isDatabase) await settleRestore(config, null);
  const state = resources.use(
    await openState(
      { ...stateOptions(config), create: createsState },
      { clock, random, log, events: createStateEvents(dependencies) },
    ),
  );
  if (isDatabase) await settleRestore(config, state);
  resources.use(sweepSessions(state, dependencies));
  const [ledger, hot] = await Promise.allSettled([
    openLedger(
      {
        directory: ledgerDirectory(config),
        confinement: config.stores.ledgerConfinement,
        clickhouseUrl: config.stores.clickhouseUrl,
        cluster: config.stores.clickhouseCluster,
        network: config.networkDefault,
        // A command that finds no ledger says so and ends; a server serves what needs none.
        mayBeAway: isServer,
        ...(isServer
          ? {
              factFiles: factFilesOf(config, dependencies.processId),
              retentions: config.stores.ledgerRetentions,
              measureEveryMs,
            }
          : {}),
      },
      {
        clock,
        random,
        log,
        events: createLedgerEvents(dependencies),
        lock: (path) => FileLock.take(path),
        inTurn: (work) => state.inTurn("ledger migrations", work),
      },
    ),
    openHot({ redisUrl: config.stores.redisUrl, prefix: config.stores.redisPrefix }, { clock, log, random }),
  ]);
  if (ledger.status === "fulfilled") resources.use(ledger.value);
  if (hot.status === "fulfilled") resources.use(hot.value);
  if (ledger.status === "rejected") throw ledger.reason;
  if (hot.status === "rejected") throw hot.reason;
  return { state, ledger: ledger.value, hot: hot.value };
}

const factFilesOf = ({ stores }: Config, processId: string) => ({
  directory: join(stores.directory, "ledger-queue"),
  holder: processId,
  bytesMax: stores.ledgerQueueBytes,
});

/** Removes expired sessions every hour; they open nothing while they are still stored. */
function sweepSessions(state: State, { clock, log }: Dependencies): Timer {
  return clock.every(sweepMs, () => {
    state.sessions
      .deleteExpired()
      .catch((error: unknown) => log.warn({ error }, "expired sessions could not be removed"));
  });
}

export interface MeterOptions {
  readonly meter: "credits" | "served" | MeteredProduct;
  readonly store: CreditStore;
  /** How often what was counted is reported to the store; every second when absent. */
  readonly sweepIntervalMs?: number;
  /** Processes that spend the same allowances; without it none is served while the store is away. */
  readonly processes?: () => number;
}

/** Credits, or the requests of a product, over their store, with a tally in the data directory. */
export function openMeter(
  config: Config,
  { meter, store, sweepIntervalMs, processes }: MeterOptions,
  dependencies: Dependencies,
): Credits {
  const { clock, random, log, processId: holder, resources } = dependencies;
  const directory = join(config.stores.directory, "credits");
  const events = createCreditsEvents(dependencies);
  return resources.use(
    openCredits(
      { directory, meter, holder, ...(sweepIntervalMs === undefined ? {} : { sweepIntervalMs }) },
      { clock, random, log, events, store, ...(processes === undefined ? {} : { advances: { processes, events } }) },
    ),
  );
}
