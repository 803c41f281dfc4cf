import { join } from "node:path";
import type { ServerStatus } from "@sluice/contract/schemas";
import { type Clock, type Random, systemClock, systemRandom } from "@sluice/lib";
import {
  type Config,
  type ConfigOutcome,
  managementSocketPath,
  readEnvironment,
  roles,
  version,
} from "../config/index.ts";
import { createRequestIds, type ProbeSource } from "../http/index.ts";
import { listening, PlainListener } from "../net/index.ts";
import { createLineWriter, createLog, createMetrics, createServerEvents, type Metrics } from "../observe/index.ts";
import {
  Commands,
  Crew,
  createWorkersEvents,
  HostPlaces,
  hostHealth,
  MetricSums,
  startWorker,
  type Worker,
} from "../workers/index.ts";
import { newProcessId } from "./dependencies.ts";
import { addressesOf, endpointsOf, openedRoles } from "./endpoints.ts";
import { Drain } from "./health.ts";
import { openMetricsListener } from "./metrics-listener.ts";
import { mergeReloads, rolesOf } from "./seats.ts";

export interface WorkersOptions {
  /** What starts a worker: a program and its arguments. */
  readonly command: readonly string[];
  /** Reads the configuration again. */
  readonly readConfig: () => ConfigOutcome;
}

/** The parent of a host's workers. Disposal drains and ends all of them. */
export interface WorkersHost extends AsyncDisposable {
  /** Begins to restart them one at a time; false where that runs already, or the configuration is not valid now. */
  restart(): boolean;
}

/** From its start until a worker listens: migrations of a large database are waited for. */
const openMsMax = 120_000;
/** From then until its roles serve. */
const servingMsMax = 60_000;
/** Beside the drain: closing stores and children. */
const closingMsMax = 15_000;

interface HostParts {
  readonly config: Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly crew: Crew<Worker>;
  readonly metrics: Metrics;
  readonly sums: MetricSums;
  readonly drain: Drain;
  readonly startedAtMs: number;
}

/**
 * Starts the workers of this host, and what is one for all of them: the socket for commands and the port for metrics.
 *
 * @throws {WorkerStartError} when a worker does not come to listen; all are ended then
 * @throws {ListenError} when a port is in use
 */
export async function composeWorkers(config: Config, options: WorkersOptions): Promise<WorkersHost> {
  const [clock, random] = [systemClock, systemRandom];
  const startedAtMs = clock.monotonic();
  const writer = createLineWriter("stdout");
  const log = createLog({ level: config.logLevel, destination: writer });
  await using resources = new AsyncDisposableStack();
  const metrics = resources.use(createMetrics({}, { clock }));
  const events = createServerEvents({ log, metrics });
  const workersEvents = createWorkersEvents({ log, metrics });
  requireFreePorts(config, { clock, events });
  const drain = new Drain({ delayMs: 0 }, { clock, events });
  const [places, sums] = [new HostPlaces(), new MetricSums()];
  const reloadAll = async (): Promise<unknown> => {
    const outcome = options.readConfig();
    if (outcome.ok) log.setLevel(outcome.config.logLevel);
    return mergeReloads(await Promise.all(crew.workers.map((worker) => worker.ask("reload"))));
  };
  const crew = new Crew<Worker>(
    { ...numbersOf(config), servingMsMax },
    {
      clock,
      events: workersEvents,
      launch: (number, turn) =>
        startWorker(
          {
            number,
            turn,
            directory: join(config.stores.directory, "workers", String(number)),
            command: options.command,
            env: definedOf(readEnvironment()),
            openMsMax,
            endMsMax: config.drain.delayMs + config.drain.deadlineMs + closingMsMax,
          },
          {
            clock,
            random,
            log,
            events: workersEvents,
            places,
            sums,
            newProcessId: () => newProcessId(random),
            reloadAll,
            onLine: (line) => writer.write(`${line}\n`),
          },
        ),
    },
  );
  await crew.start();
  resources.use(crew);
  workersEvents.workersOpened({
    wanted: crew.workers.length,
    serving: () => crew.workers.filter(({ isServing }) => isServing).length,
    places: () => places.total,
  });
  workersEvents.workerLogDropped(() => writer.dropped());
  await openListeners({ config, clock, random, crew, metrics, sums, drain, startedAtMs }, { events, resources });
  const startMs = Math.round(clock.monotonic() - startedAtMs);
  events.serverStarted({ version, mode: config.mode, startMs, endpoints: addressesOf(endpointsOf(config)) });
  const opened = resources.move();
  return {
    restart: () => options.readConfig().ok && crew.restart(),
    [Symbol.asyncDispose]: () => drain.end(opened),
  };
}

/** Numbers of the workers: one for each process of the gateway, and one for the other roles, if any opens a port. */
function numbersOf(config: Config): { gateways: number[]; others: number[] } {
  const gateways = Array.from({ length: config.workers }, (_, index) => index + 1);
  const hasOthers = openedRoles({ ...config, roles: rolesOf(config.roles, 0) }).length > 0;
  return { gateways, others: hasOthers ? [0] : [] };
}

function definedOf(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** The workers share ports, so none of them would notice another server there: both would split the calls. */
function requireFreePorts(
  config: Config,
  dependencies: Pick<ListenerParts, "events"> & { readonly clock: Clock },
): void {
  for (const endpoint of ["gateway", "pubsub"] as const) {
    const port = config.ports[endpoint];
    const fetch = () => new Response(null, { status: 503 });
    const listen = () =>
      new PlainListener({ hostname: config.bind, port }, { ...dependencies, fetch, requestId: () => "" });
    const probe = listening(endpoint, port, listen);
    void probe.stop(0);
  }
}

interface ListenerParts {
  readonly events: ReturnType<typeof createServerEvents>;
  readonly resources: AsyncDisposableStack;
}

async function openListeners(parts: HostParts, { events, resources }: ListenerParts): Promise<void> {
  const { config, clock, random, crew, drain, startedAtMs } = parts;
  const uptimeSeconds = (): number => Math.floor((clock.monotonic() - startedAtMs) / 1_000);
  const health = async (): Promise<ProbeSource> => {
    const answers = crew.workers.map((worker) => worker.readiness());
    return hostHealth(await Promise.all(answers), {
      version,
      uptimeSeconds: uptimeSeconds(),
      isEnding: drain.hasBegun,
      knownRoles: roles,
    });
  };
  const commands = new Commands({
    crew,
    workers: () => crew.workers,
    nowMs: () => clock.monotonic(),
    health,
    host: (): Pick<ServerStatus, "pid" | "uptime_seconds" | "roles"> => ({
      pid: process.pid,
      uptime_seconds: uptimeSeconds(),
      roles: [...config.roles],
    }),
  });
  const fetch = (request: Request, { requestId }: { readonly requestId: string }) =>
    commands.answer(request, requestId);
  const socket = { fetch, requestId: createRequestIds({ random }), clock, events };
  resources.use(new PlainListener({ unixPath: managementSocketPath(config) }, socket));
  await openMetricsListener(config, { clock, random, events, resources, metrics: sumsOf(parts), health });
}

/** The life of the parent itself, among the process ids of its workers. */
const parentLife = 0;

/** The metrics of the host: those of its workers, and of the parent, which counts to them. */
function sumsOf({ crew, metrics, sums }: HostParts): Pick<Metrics, "render" | "contentType"> {
  return {
    contentType: metrics.contentType,
    render: async () => {
      const own = { life: parentLife, label: "parent", text: await metrics.render() };
      const read = crew.all.map(async (worker) => {
        const { pid } = worker;
        const text = await worker.ask("metrics").catch(() => null);
        // One that ended meanwhile is counted by what it said last.
        if (pid === null || worker.pid !== pid || typeof text !== "string") return [];
        return [{ life: pid, label: String(worker.number), text }];
      });
      return sums.render([own, ...(await Promise.all(read)).flat()]);
    },
  };
}
