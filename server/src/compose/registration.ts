import { BackgroundTask, type Clock, type Log, sleep } from "@sluice/lib";
import type { Config } from "../config/index.ts";
import type { NewProcess, ProcessRecord, ProcessStore, State } from "../state/index.ts";
import { type Dependencies, version } from "./dependencies.ts";
import { opensEngine, opensGateway, opensOracle } from "./endpoints.ts";
import { StartRefusedError } from "./start-refused.ts";

/** A process that does not beat is forgotten after this time; how often it beats. */
const registeredMs = 6_000;
const beatMs = 2_000;

/** This process as it registers. */
const processOf = (config: Config, { id, version }: Pick<NewProcess, "id" | "version">): NewProcess => ({
  id,
  version,
  roles: config.roles,
  meters: opensGateway(config) || opensOracle(config) || opensEngine(config),
  sharesLedger: config.stores.clickhouseUrl !== null,
  sharesHot: config.stores.redisUrl !== null,
});

/** What two processes that count calls do not share, as keys of the configuration. */
const unshared = ({ sharesLedger, sharesHot }: Pick<ProcessRecord, "sharesLedger" | "sharesHot">): string =>
  [...(sharesHot ? [] : ["REDIS_URL"]), ...(sharesLedger ? [] : ["CLICKHOUSE_URL"])].join(" and ");

/** The first of these processes that counts calls apart from this one; null when each one shares what it counts. */
export function rivalOf<Other extends NewProcess>(own: NewProcess, others: readonly Other[]): Other | null {
  if (!own.meters) return null;
  const isApart = ({ meters, ...other }: Other): boolean => meters && (unshared(own) !== "" || unshared(other) !== "");
  return others.find(isApart) ?? null;
}

function describeRival(own: NewProcess, rival: ProcessRecord): string {
  const since = new Date(rival.startedAt).toISOString();
  const lacks = [
    ...(unshared(own) === "" ? [] : [`this process has no ${unshared(own)}`]),
    ...(unshared(rival) === "" ? [] : [`that one has no ${unshared(rival)}`]),
  ];
  return (
    `another process counts calls on this database (roles ${rival.roles.join(", ")}, since ${since}), and ` +
    `${lacks.join("; ")}: each of them would give out every rate, and a usage report would hold the calls of one alone. ` +
    "Give both the same stores, or stop the other one"
  );
}

interface RegistrationDependencies {
  readonly clock: Clock;
  readonly store: ProcessStore;
  readonly log: Pick<Log, "info" | "warn">;
}

/**
 * This process among those on one database. A second one that counts calls needs a ledger and a hot store that all of
 * them share: without them rates are given twice, and each usage report is a part.
 */
export class Registration implements AsyncDisposable {
  readonly #process: NewProcess;
  readonly #dependencies: RegistrationDependencies;
  readonly #beats: BackgroundTask;
  #rival: ProcessRecord | null = null;

  private constructor(process: NewProcess, dependencies: RegistrationDependencies) {
    const { clock, log } = dependencies;
    this.#process = process;
    this.#dependencies = dependencies;
    const onError = (error: unknown): void => log.warn({ error }, "this process could not renew its registration");
    this.#beats = new BackgroundTask({ everyMs: beatMs }, { clock, work: () => this.#beat(), onError });
  }

  /**
   * Registers, where necessary after a process that was killed is forgotten.
   * @throws {StartRefusedError} NOT_SHARED when another process counts calls and the two do not share what they count
   */
  static async open(process: NewProcess, dependencies: RegistrationDependencies): Promise<Registration> {
    const registration = new Registration(process, dependencies);
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
    const first = rivalOf(this.#process, await store.join(this.#process, registeredMs));
    if (first === null) return;
    log.info({ rival: first.id }, "another process is registered: this one waits to see whether it lives");
    const seen = new Map([[first.id, first.beats]]);
    for (let waitedMs = 0; waitedMs <= registeredMs; waitedMs += beatMs) {
      await sleep(clock, beatMs);
      const others = (await store.list()).filter(({ id }) => id !== this.#process.id);
      const rival = rivalOf(this.#process, others);
      if (rival === null) return;
      if ((seen.get(rival.id) ?? rival.beats) !== rival.beats) break;
      seen.set(rival.id, rival.beats);
    }
    throw new StartRefusedError("NOT_SHARED", describeRival(this.#process, first));
  }

  async #beat(): Promise<void> {
    const { store, log } = this.#dependencies;
    const isRegistered = await store.beat(this.#process.id, registeredMs);
    if (isRegistered && this.#rival === null) return;
    // The database was away, or this process was stopped, for longer than a registration lasts.
    const others = isRegistered ? await store.list() : await store.join(this.#process, registeredMs);
    const known = this.#rival;
    this.#rival = rivalOf(
      this.#process,
      others.filter(({ id }) => id !== this.#process.id),
    );
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
  { processId: id, state, resources, ...dependencies }: Dependencies & { readonly state: State },
): Promise<Registration | null> {
  if (state.driver === "sqlite" || config.mode === "dev") return null;
  const store = state.processes;
  return resources.use(await Registration.open(processOf(config, { id, version }), { ...dependencies, store }));
}
