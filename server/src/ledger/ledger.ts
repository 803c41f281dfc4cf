import { resolve } from "node:path";
import type { LedgerTableName } from "@sluice/contract/ledger";
import type { Network } from "@sluice/contract/tiers";
import { BackgroundTask, type Clock, type Random, systemRandom } from "@sluice/lib";
import { parseClickhouseUrl } from "../config/index.ts";
import type { StoreSchema } from "../observe/index.ts";
import { writeArchive } from "./archive.ts";
import { AssetBlocks, type LedgerAssetBlocks } from "./assets/block-calls.ts";
import { AssetReads, type LedgerAssetReads } from "./assets/reads.ts";
import { AssetStore, type AssetStoreDependencies, type LedgerAssetStore } from "./assets/store.ts";
import { BatchNumbers, BatchWriter, batchesOf } from "./batches.ts";
import {
  type BundleBalances,
  type BundleDay,
  type BundleFigures,
  type BundleGain,
  type BundleMevFigures,
  BundleQueries,
  type BundleQuestion,
  type LandedBundle,
  type ProfitQuestion,
} from "./bundle-queries.ts";
import { type ChainReads, createChainReads } from "./chain/chain-reads.ts";
import { type LedgerParsedStore, ParsedStore } from "./chain/parsed-store.ts";
import { ChainStore, type LedgerChainStore } from "./chain/store.ts";
import { createTokenReads, type TokenReads } from "./chain/token-reads.ts";
import { type CallOptions, LedgerConnection, type LedgerSettings } from "./connection.ts";
import { type LedgerEndpoint, type LedgerLog, remoteEndpoint } from "./endpoint.ts";
import { LedgerOpenError } from "./errors.ts";
import type { LedgerEvents } from "./events.ts";
import { FactFiles, type FactFilesDependencies, type FactFilesOptions } from "./fact-files.ts";
import { ledgerId, migrate, readMigrations, readSchema } from "./migrations.ts";
import { type PoolSampleReads, PoolSamples } from "./pool-samples.ts";
import { LedgerReadiness } from "./readiness.ts";
import type { RequestFact } from "./request-fact.ts";
import { requestPaces } from "./request-limits.ts";
import { type HourUsage, lastHour } from "./request-queries.ts";
import { type FoundRequests, findRequest, type RequestSearch, searchRequests } from "./request-search.ts";
import { RequestLog } from "./requests.ts";
import { applyRetentions, type LedgerRetentions } from "./retention.ts";
import { type CustomerStatements, LedgerCustomerStatements } from "./sql/customer-statements.ts";
import { ChildSupervisor, type ConfinementRule } from "./supervisor.ts";
import { type LedgerTableState, TableStates } from "./table-states.ts";
import { tables } from "./tables.ts";
import { readUsage, recordedByMonth, type Usage, type UsageQuestion, type UsageRange } from "./usage-queries.ts";
import { type WebhookAttemptReads, WebhookAttempts } from "./webhook-attempts.ts";

export interface LedgerOptions {
  /** The directory of the embedded engine; created when missing, readable by its owner alone. */
  readonly directory: string;
  /** How the process of the embedded engine is confined by the operating system; `auto` unless given. */
  readonly confinement?: ConfinementRule;
  /** CLICKHOUSE_URL, or null for the embedded engine. */
  readonly clickhouseUrl: string | null;
  /**
   * Whether it is opened also while the server of `clickhouseUrl` is away: calls are refused as unavailable then, facts
   * wait, and the ledger is migrated when it is there. False unless given.
   */
  readonly mayBeAway?: boolean;
  /** Where facts wait on disk while the ledger takes none, and how much; without it they wait in memory alone. */
  readonly factFiles?: FactFilesOptions;
  /** Name of the cluster behind `clickhouseUrl`, or null when that is one server. */
  readonly cluster: string | null;
  /** The network of rows that an earlier version wrote without one; mainnet unless given. */
  readonly network?: Network;
  /** How long each table keeps its rows from now on; as it was without it. */
  readonly retentions?: LedgerRetentions;
  /** Milliseconds from one measurement of the tables for the metrics to the next; never without it. */
  readonly measureEveryMs?: number;
}

export interface LedgerDependencies {
  readonly clock: Clock;
  readonly log: LedgerLog;
  readonly events?: LedgerEvents;
  readonly random?: Random;
  /**
   * Runs the migrations while no other process of the installation does; at once when absent, as is right for an engine
   * of this process's own.
   */
  readonly inTurn?: (work: () => Promise<void>) => Promise<void>;
  /** Needed for `factFiles`. */
  readonly lock?: FactFilesDependencies["lock"];
}

/** The facts that never change. The same code speaks to the embedded engine and to a cluster. */
export interface Ledger extends AsyncDisposable {
  readonly driver: "chdb" | "clickhouse";
  /**
   * Writes rows of a table of this room exactly once, durably; they carry their time as Unix milliseconds. u64 as
   * bigint or decimal string. Rows of several months are several INSERTs: a failure may leave earlier months written.
   * Throws LedgerUnavailableError, LedgerQueryError.
   */
  insert(table: string, rows: readonly object[]): Promise<void>;
  /** Rows of a SELECT; 64-bit integers are decimal strings. Parameters fill `{name:Type}` placeholders. */
  query<T>(
    sql: string,
    parameters?: Readonly<Record<string, unknown>>,
    settings?: LedgerSettings,
    options?: CallOptions,
  ): Promise<T[]>;
  /** As `query`, in groups as they arrive, with bounded memory. Stopping early stops the statement. */
  stream<T>(
    sql: string,
    parameters?: Readonly<Record<string, unknown>>,
    settings?: LedgerSettings,
    options?: CallOptions,
  ): AsyncGenerator<T[]>;
  /** A statement without result. */
  command(sql: string): Promise<void>;
  ping(): Promise<boolean>;
  /** The id that it holds, once it may be used, by which processes know that they use the same one. */
  id(): Promise<string | null>;
  /** The migrations that were applied, in order. */
  migrations(): Promise<readonly { readonly number: number; readonly name: string; readonly appliedAt: number }[]>;
  /** The same in figures, beside what this version knows. */
  schema(): Promise<StoreSchema>;
  /** Resolves when the ledger answers and may be used; rejects with the reason why not. */
  reach(): Promise<void>;
  /**
   * Writes a copy of everything, as it is when it begins, into a file that does not exist; null without the embedded
   * engine, whose copies are the cluster's own. Throws LedgerQueryError, LedgerUnavailableError.
   */
  readonly archive: ((path: string) => Promise<void>) | null;
  readonly tables: {
    /** All tables as they are now. Throws LedgerUnavailableError, LedgerQueryError. */
    read(): Promise<readonly LedgerTableState[]>;
    /** As they were measured last; none before they were. */
    last(): readonly LedgerTableState[];
    /**
     * The moment from which a table has all of its rows, as it was measured last, in Unix milliseconds; null where it
     * keeps them for ever.
     */
    keptSince(name: LedgerTableName): number | null;
  };
  /** Process id of the embedded engine, for memory reports; null with a cluster, or while it is being restarted. */
  childPid(): number | null;
  readonly requests: {
    /** Takes a fact off the hot path: never waits, never throws; a full queue drops the newest and counts it. */
    append(fact: RequestFact): void;
    /** Returns when all facts appended before are on disk. Throws LedgerUnavailableError past its deadline. */
    flush(): Promise<void>;
    /** Facts dropped since the start. */
    dropped(): number;
    /** Facts that wait or are being written. */
    waiting(): number;
    lastHour(accountId: string | null): Promise<HourUsage>;
    /** The facts of one request, oldest first, of one account or (null) of any; at most 1,000. */
    find(requestId: string, accountId: string | null): Promise<RequestFact[]>;
    /** One page of the facts that match, newest first. */
    search(search: RequestSearch): Promise<FoundRequests>;
    /** One page of an account's usage, by day, method or key, and the sum of the whole range. */
    usage(question: UsageQuestion): Promise<Usage>;
    /** How many requests of an account are recorded in each calendar month (UTC, "2026-11") of a range of months. */
    recorded(range: UsageRange): Promise<ReadonlyMap<string, bigint>>;
  };
  /** The tables of blocks and transactions, as they are written. */
  readonly chain: LedgerChainStore;
  /** What transactions were, as it is written again. */
  readonly parsed: LedgerParsedStore;
  /** Statements of customers over the views. */
  readonly customers: CustomerStatements;
  /** Blocks and transactions, as they are looked up. */
  readonly chainReads: ChainReads;
  /** What transactions did with tokens, as their accounts have it. */
  readonly tokenReads: TokenReads;
  /** The index of digital assets: as it is written, as it is looked up, and what it is made of. */
  readonly assets: {
    readonly store: LedgerAssetStore;
    readonly reads: LedgerAssetReads;
    readonly blocks: LedgerAssetBlocks;
  };
  /** What became of deliveries of webhooks. */
  readonly webhookAttempts: WebhookAttemptReads;
  readonly poolSamples: PoolSampleReads;
  /** The outcomes of bundles; each counts once, however often it was written. */
  readonly bundles: {
    figures(question: BundleQuestion): Promise<BundleFigures>;
    /** Types without a bundle are not there. */
    byMevType(question: BundleQuestion): Promise<readonly BundleMevFigures[]>;
    /** UTC days in their order, those without a bundle left out; at most 10,000. */
    byDay(question: BundleQuestion): Promise<readonly BundleDay[]>;
    /** When the first bundle of a network ended that the ledger still has, in Unix milliseconds; null without one. */
    firstAtMs(network: Network): Promise<number | null>;
    /** The newest that landed. Which others ended is for those who submitted them. */
    newestLanded(question: BundleQuestion, limit: number): Promise<readonly LandedBundle[]>;
    /** What those that landed made of the balances of their transactions' signers. */
    balances(question: ProfitQuestion): Promise<BundleBalances>;
    /** The same of each bundle, the newest first. */
    gains(question: ProfitQuestion, limit: number): Promise<readonly BundleGain[]>;
  };
}

const archiverOf =
  ({ directory }: LedgerOptions, terms: { readonly connection: LedgerConnection; readonly clock: Clock }) =>
  (path: string): Promise<void> =>
    writeArchive({ ...terms, directory: resolve(directory) }, path);

interface Opened {
  readonly endpoint: LedgerEndpoint;
  readonly database: string;
  /** Of the ledger's user on servers; empty for the embedded engine. */
  readonly password: string;
}

async function open(options: LedgerOptions, dependencies: LedgerDependencies, random: Random): Promise<Opened> {
  if (options.clickhouseUrl === null) {
    if (options.cluster !== null) throw new LedgerOpenError("A cluster is named, but CLICKHOUSE_URL is not set");
    const { clock, log, events } = dependencies;
    const endpoint = await ChildSupervisor.start(
      { directory: resolve(options.directory), confinement: options.confinement ?? "auto" },
      {
        clock,
        random,
        log,
        onRestart: (reason) => events?.childRestarted("ledger", reason),
        onConfined: (refused) => events?.engineConfined(refused),
      },
    );
    return { endpoint, database: "sluice", password: "" };
  }
  if (options.cluster !== null && !/^[A-Za-z_][\w-]{0,63}$/.test(options.cluster)) {
    throw new LedgerOpenError("The cluster's name may hold letters, digits, _ and - only");
  }
  const address = parseClickhouseUrl(options.clickhouseUrl);
  return { endpoint: remoteEndpoint(address), database: address.database, password: address.password };
}

async function migrateAll(
  { endpoint, database }: Opened,
  { cluster, network = "mainnet", retentions }: LedgerOptions,
  { clock, random, log, inTurn = (work) => work() }: LedgerDependencies & { readonly random: Random },
): Promise<void> {
  await using opening = new LedgerConnection({ database, isCluster: cluster !== null }, { endpoint, clock });
  // First, so that no other process waits for its turn behind a server that does not answer.
  if (endpoint.driver === "clickhouse") await opening.reach();
  const form = { database, cluster };
  await inTurn(async () => {
    await migrate(opening, form, { clock, random, log, network });
    if (retentions !== undefined) await applyRetentions(opening, retentions, { form, log });
  });
}

/** The connection of all calls, once the ledger is there and migrated, or may be away; ends `opened` where it fails. */
async function connect(
  opened: Opened,
  options: LedgerOptions,
  dependencies: LedgerDependencies & { readonly random: Random },
): Promise<{ readonly readiness: LedgerReadiness } & Record<"connection" | "customers", LedgerConnection>> {
  const { endpoint, database } = opened;
  const readiness = new LedgerReadiness({ ...dependencies, open: () => migrateAll(opened, options, dependencies) });
  const connect = () =>
    new LedgerConnection(
      { database, isCluster: options.cluster !== null },
      { endpoint, clock: dependencies.clock, admit: () => readiness.require() },
    );
  const [connection, customers] = [connect(), connect()];
  try {
    if (options.mayBeAway === true && endpoint.driver === "clickhouse") await readiness.begin();
    else await readiness.beginPresent();
  } catch (error) {
    for (const each of [customers, connection]) await each[Symbol.asyncDispose]();
    await endpoint[Symbol.asyncDispose]();
    throw error;
  }
  return { readiness, connection, customers };
}

const factFilesOf = ({ factFiles }: LedgerOptions, { lock = () => null }: LedgerDependencies): FactFiles | null =>
  factFiles === undefined ? null : new FactFiles(factFiles, { lock });

/** Measures the tables at once and then now and then; while the ledger is away the figures stay as they were. */
function measure(
  states: TableStates,
  everyMs: number | undefined,
  { clock, events }: LedgerDependencies,
): BackgroundTask {
  const task = new BackgroundTask(everyMs === undefined ? {} : { everyMs }, {
    clock,
    work: async () => events?.tablesMeasured(await states.read()),
    onError: () => undefined,
  });
  if (everyMs !== undefined) void task.run();
  return task;
}

const readsOf = (connection: LedgerConnection, clock: Clock) => ({
  chainReads: createChainReads(connection, clock),
  tokenReads: createTokenReads(connection),
  webhookAttempts: new WebhookAttempts(connection),
  poolSamples: new PoolSamples(connection),
  bundles: new BundleQueries(connection),
});

const assetIndex = (dependencies: AssetStoreDependencies & { readonly connection: LedgerConnection }) => ({
  store: new AssetStore(dependencies),
  reads: new AssetReads(dependencies.connection),
  blocks: new AssetBlocks(dependencies.connection),
});

/**
 * Opens the ledger: starts the embedded engine or reaches the server, and applies migrations.
 * Throws LedgerOpenError (directory in use, ledger newer than this version, bad URL) and, unless the ledger may be
 * away, LedgerUnavailableError.
 */
export async function openLedger(options: LedgerOptions, dependencies: LedgerDependencies): Promise<Ledger> {
  const { clock, log, events } = dependencies;
  const random = dependencies.random ?? systemRandom;
  const opened = await open(options, dependencies, random);
  const { endpoint, database } = opened;
  const isCluster = options.cluster !== null;
  const { readiness, connection, customers } = await connect(opened, options, { ...dependencies, random });
  const numbers = new BatchNumbers({ clock, random });
  const writer = new BatchWriter({ replicated: isCluster }, { connection, clock });
  const form = { database, cluster: options.cluster };
  const tableStates = new TableStates({ connection, form, clock });
  const measuring = measure(tableStates, options.measureEveryMs, dependencies);
  const files = factFilesOf(options, dependencies);
  const requestLog = new RequestLog(requestPaces[endpoint.driver], {
    writer,
    numbers,
    clock,
    log,
    files,
    ...(events === undefined ? {} : { events }),
  });
  return {
    driver: endpoint.driver,
    async insert(name, rows) {
      const table = tables[name];
      if (table === undefined) throw new TypeError(`The ledger has no table ${name}`);
      for (const batch of batchesOf(table, rows, numbers)) await writer.write(batch);
    },
    query: (sql, parameters, settings, call) => connection.query(sql, parameters, settings, call),
    stream: (sql, parameters, settings, call) => connection.stream(sql, parameters, settings, call),
    command: (sql) => connection.command(sql),
    ping: () => connection.ping(),
    reach: () => connection.reach(),
    id: () => ledgerId(connection),
    migrations: () => readMigrations(connection),
    schema: () => readSchema(connection),
    archive: endpoint.driver === "chdb" ? archiverOf(options, { connection, clock }) : null,
    tables: tableStates,
    childPid: () => endpoint.pid(),
    requests: {
      append: (fact) => requestLog.append(fact),
      flush: () => requestLog.flush(),
      dropped: () => requestLog.dropped,
      waiting: () => requestLog.size,
      lastHour: (accountId) => lastHour(connection, clock, accountId),
      find: (requestId, accountId) => findRequest(connection, requestId, accountId),
      search: (search) => searchRequests(connection, search),
      usage: (question) => readUsage(connection, question),
      recorded: (range) => recordedByMonth(connection, range),
    },
    chain: new ChainStore(form, { connection, clock, random, ...(events === undefined ? {} : { events }) }),
    parsed: new ParsedStore(form, { connection, clock, random, ...(events === undefined ? {} : { events }) }),
    customers: new LedgerCustomerStatements(
      { driver: endpoint.driver, form, password: opened.password },
      { connection: customers, own: connection, clock, random, log },
    ),
    ...readsOf(connection, clock),
    assets: assetIndex({ connection, clock, random }),
    async [Symbol.asyncDispose]() {
      await readiness[Symbol.asyncDispose]();
      await measuring[Symbol.asyncDispose]();
      await requestLog[Symbol.asyncDispose]();
      for (const each of [customers, connection]) await each[Symbol.asyncDispose]();
      await endpoint[Symbol.asyncDispose]();
    },
  };
}
