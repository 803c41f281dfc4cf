import { BackgroundTask, type Clock, type Log, masterKeyId, sleep, within } from "@sluice/lib";
import { type Config, version } from "../config/index.ts";
import type { Hot } from "../hot/index.ts";
import type { Ledger } from "../ledger/index.ts";
import type { NewProcess, ProcessRecord, ProcessStore } from "../state/index.ts";
import type { Dependencies } from "./dependencies.ts";
import { opensEngine, opensGateway, opensOracle, opensStreams } from "./endpoints.ts";
import { StartRefusedError } from "./start-refused.ts";
import type { Stores } from "./stores.ts";

/** A process that does not beat is forgotten after this time; how often it beats. */
const registeredMs = 6_000;
const beatMs = 2_000;
/** How long a store may take to tell its id. */
const askMsMax = 1_000;

/** This process as it registers. */
const processOf = (config: Config, known: Omit<NewProcess, keyof ReturnType<typeof ofConfig>>): NewProcess => ({
  ...known,
  ...ofConfig(config),
});

const ofConfig = (config: Config) => ({
  roles: config.roles,
  masterKeys: [...(config.masterKey === null ? [] : [config.masterKey]), ...config.masterKeysPrevious].map(masterKeyId),
  meters: opensGateway(config) || opensStreams(config) || opensOracle(config) || opensEngine(config),
  sharesLedger: config.stores.clickhouseUrl !== null,
  sharesHot: config.stores.redisUrl !== null,
});

/** What two processes that count calls do not share, as keys of the configuration. */
const unshared = ({ sharesLedger, sharesHot }: Pick<ProcessRecord, "sharesLedger" | "sharesHot">): string =>
  [...(sharesHot ? [] : ["REDIS_URL"]), ...(sharesLedger ? [] : ["CLICKHOUSE_URL"])].join(" and ");

/**
 * The stores of two processes that are not the same, each with both ids. What is compared is what the stores hold: one
 * server has many addresses, and one address may lead to another server tomorrow. A store that has not been reached,
 * and one of a version that did not tell, is not compared.
 */
function differing(own: StoreIds, other: StoreIds): readonly string[] {
  const stores = [
    { key: "REDIS_URL", here: own.hotId, there: other.hotId },
    { key: "CLICKHOUSE_URL", here: own.ledgerId, there: other.ledgerId },
  ];
  return stores.flatMap(({ key, here, there }) =>
    here === null || there === null || here === there
      ? []
      : [`${key} leads to a store with the id ${here} here and with the id ${there} there`],
  );
}

/** Whether a process of these roles writes the log of its chains in files of its own. */
interface LogPlace {
  readonly keepsOwnLog: boolean;
}

/**
 * The first of these processes that counts calls apart from this one, or reads blocks into another log than it does;
 * null when each one shares what it counts and what it reads.
 */
export function rivalOf<Other extends NewProcess>(
  own: NewProcess & Partial<LogPlace>,
  others: readonly Other[],
): Other | null {
  const ingests = ({ roles }: NewProcess): boolean => roles.includes("ingest");
  // Whether the other one has LOG_URL is not known here: two that are to share a log both have it.
  const apart = own.keepsOwnLog === true && ingests(own) ? others.find(ingests) : undefined;
  if (apart !== undefined) return apart;
  if (!own.meters) return null;
  const isApart = (other: Other): boolean =>
    unshared(own) !== "" || unshared(other) !== "" || differing(own, other).length > 0;
  return others.find((other) => other.meters && isApart(other)) ?? null;
}

function describeRival(own: NewProcess & Partial<LogPlace>, rival: ProcessRecord): string {
  const since = new Date(rival.startedAt).toISOString();
  if (own.keepsOwnLog === true && rival.roles.includes("ingest") && own.roles.includes("ingest")) {
    return (
      `another process of this database reads blocks too (roles ${rival.roles.join(", ")}, since ${since}), and this ` +
      "one has no LOG_URL: each would write a log of its own. Give both the same LOG_URL, or stop the other one"
    );
  }
  const lacks = [
    ...(unshared(own) === "" ? [] : [`this process has no ${unshared(own)}`]),
    ...(unshared(rival) === "" ? [] : [`that one has no ${unshared(rival)}`]),
    ...differing(own, rival),
  ];
  return (
    `another process counts calls on this database (roles ${rival.roles.join(", ")}, since ${since}), and ` +
    `${lacks.join("; ")}: each of them would give out every rate, and a usage report would hold the calls of one alone. ` +
    "Give both the same stores, or stop the other one"
  );
}

/**
 * How often a rival has to renew its registration before it counts. A store that lost its data gets an id again, and
 * each process learns it with its own beat: until a beat that began after that, its registration has the id before.
 */
const beatsUntilRival = (own: NewProcess, rival: ProcessRecord): number =>
  unshared(own) === "" && unshared(rival) === "" ? 2 : 0;

type StoreIds = Pick<NewProcess, "ledgerId" | "hotId">;

/** The part of the store that registers. */
export type Registrations = Omit<ProcessStore, "leftBehind">;

interface RegistrationDependencies {
  readonly clock: Clock;
  readonly store: Registrations;
  /** The ids that the stores of this process hold; those of a store that does not answer as they were known. */
  readonly readIds: (known: StoreIds) => Promise<StoreIds>;
  readonly log: Pick<Log, "info" | "warn">;
}

/**
 * This process among those on one database. A second one that counts calls needs a ledger and a hot store that all of
 * them share: without them rates are given twice, and each usage report is a part.
 */
export class Registration implements AsyncDisposable {
  #process: NewProcess & LogPlace;
  readonly #dependencies: RegistrationDependencies;
  readonly #beats: BackgroundTask;
  #rival: ProcessRecord | null = null;
  /** The rival that was seen last, and its beats when it was seen first; whether it counts is another question. */
  #seen: Pick<ProcessRecord, "id" | "beats" | "hotId" | "ledgerId"> | null = null;

  private constructor(process: NewProcess & LogPlace, dependencies: RegistrationDependencies) {
    const { clock, log } = dependencies;
    this.#process = process;
    this.#dependencies = dependencies;
    const onError = (error: unknown): void => log.warn({ error }, "this process could not renew its registration");
    this.#beats = new BackgroundTask({ everyMs: beatMs }, { clock, work: () => this.#beat(), onError });
  }

  /**
   * Registers, where necessary after a process that was killed is forgotten.
   * @throws {StartRefusedError} NOT_SHARED when another process counts calls, or reads blocks, and the two do not share
   *   what they count or read
   */
  static async open(
    { keepsOwnLog = false, ...process }: NewProcess & Partial<LogPlace>,
    dependencies: RegistrationDependencies,
  ): Promise<Registration> {
    const registration = new Registration({ ...process, keepsOwnLog }, dependencies);
    try {
      await registration.#joinAlone();
      return registration;
    } catch (error) {
      await registration[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Why this process must not count calls now; null while it may. */
  get conflict(): string | null {
    return this.#rival === null ? null : describeRival(this.#process, this.#rival);
  }

  /** All that are registered, this process included. */
  registered(): Promise<readonly ProcessRecord[]> {
    return this.#dependencies.store.list();
  }

  /** Joins, and watches a rival for as long as a registration lasts: one that beats lives, one that does not ends. */
  async #joinAlone(): Promise<void> {
    const { clock, store, log } = this.#dependencies;
    await this.#identify();
    const first = rivalOf(this.#process, await store.join(this.#process, registeredMs));
    if (first === null) return;
    log.info({ rival: first.id }, "another process is registered: this one waits to see whether it lives");
    this.#beatsSince(first);
    for (let waitedMs = 0; waitedMs <= registeredMs; waitedMs += beatMs) {
      await sleep(clock, beatMs);
      const others = (await store.list()).filter(({ id }) => id !== this.#process.id);
      const rival = rivalOf(this.#process, others);
      if (rival === null) {
        this.#seen = null;
        return;
      }
      if (this.#beatsSince(rival) >= Math.max(1, beatsUntilRival(this.#process, rival))) break;
    }
    throw new StartRefusedError("NOT_SHARED", describeRival(this.#process, first));
  }

  /** How often a rival was seen to renew its registration with the ids that it has now. */
  #beatsSince({ id, beats, hotId, ledgerId }: ProcessRecord): number {
    const seen = this.#seen;
    const isSeen = seen?.id === id && seen.hotId === hotId && seen.ledgerId === ledgerId;
    if (!isSeen) this.#seen = { id, beats, hotId, ledgerId };
    return isSeen ? beats - seen.beats : 0;
  }

  /** Looks which stores this process uses; whether that is others than before, or is known only now. */
  async #identify(): Promise<boolean> {
    const { ledgerId, hotId } = this.#process;
    const now = await this.#dependencies.readIds({ ledgerId, hotId });
    this.#process = { ...this.#process, ...now };
    return now.ledgerId !== ledgerId || now.hotId !== hotId;
  }

  async #beat(): Promise<void> {
    const { store, log } = this.#dependencies;
    const isChanged = await this.#identify();
    const isRegistered = await store.beat(this.#process.id, registeredMs);
    if (isRegistered && isChanged) await store.identify(this.#process.id, this.#process);
    if (isRegistered && !isChanged && this.#seen === null) return;
    if (isChanged) this.#seen = null;
    // The database was away, or this process was stopped, for longer than a registration lasts.
    const others = isRegistered ? await store.list() : await store.join(this.#process, registeredMs);
    const known = this.#rival;
    const rival = rivalOf(
      this.#process,
      others.filter(({ id }) => id !== this.#process.id),
    );
    if (rival === null) this.#seen = null;
    const counts = rival !== null && this.#beatsSince(rival) >= beatsUntilRival(this.#process, rival);
    this.#rival = counts ? rival : null;
    if (this.#rival !== null && this.#rival.id !== known?.id)
      log.warn({}, `this process is not ready: ${this.conflict}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#beats[Symbol.asyncDispose]();
    const { store, log } = this.#dependencies;
    await store.leave(this.#process.id).catch((error: unknown) => {
      log.info({ error }, "this process could not take its registration back; it ends by itself");
    });
  }
}

/**
 * Registers this process on a database that others can use; null on SQLite, which is one process's, and under `dev`.
 * @throws {StartRefusedError} as `Registration.open`
 */
export async function register(
  config: Config,
  { processId: id, stores, resources, ...dependencies }: Dependencies & { readonly stores: Stores },
): Promise<Registration | null> {
  const { state } = stores;
  if (state.driver === "sqlite" || config.mode === "dev") return null;
  const keepsOwnLog = config.stores.log.url === null;
  const process = { ...processOf(config, { id, version, ledgerId: null, hotId: null }), keepsOwnLog };
  const readIds = (known: StoreIds): Promise<StoreIds> => readStoreIds(stores, known, dependencies.clock);
  return resources.use(await Registration.open(process, { ...dependencies, store: state.processes, readIds }));
}

/**
 * The hot store is asked each time: it may lose its id, and is given the one that is known again. A ledger keeps its
 * own, so it is asked until it has answered. Neither is waited for longer than a beat allows.
 */
async function readStoreIds(
  { ledger, hot }: { readonly ledger: Pick<Ledger, "driver" | "id">; readonly hot: Pick<Hot, "identify"> },
  known: StoreIds,
  clock: Clock,
): Promise<StoreIds> {
  const asked = async (id: () => Promise<string | null>, otherwise: string | null): Promise<string | null> => {
    const answer = await within(clock, askMsMax, id()).catch(() => ({ ok: false }) as const);
    return answer.ok ? answer.value : otherwise;
  };
  const isOwn = ledger.driver === "chdb";
  const ledgerId = isOwn || known.ledgerId !== null ? known.ledgerId : await asked(() => ledger.id(), null);
  return { ledgerId, hotId: await asked(() => hot.identify(known.hotId), known.hotId) };
}
