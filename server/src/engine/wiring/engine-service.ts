import { closeCodes } from "@sluice/contract/close-codes";
import { protoFiles } from "@sluice/contract/proto";
import type { EngineStatus } from "@sluice/contract/schemas";
import type { Log } from "@sluice/lib";
import { type LeaseEvents, LeaseHolder, leaseTimesOf, Succession, type SuccessionRole } from "../../leases/index.ts";
import {
  duplex,
  type GrpcContext,
  type GrpcService,
  GrpcStatusError,
  loadService,
  RefusedSession,
  type SocketMount,
  serverStream,
  unary,
} from "../../net/index.ts";
import { type EngineState, type LeaseStore, stateErrorCodeOf } from "../../state/index.ts";
import { createStandbyHttp, standbyRetrySeconds, standbyText, tipStreamPath } from "../http/index.ts";
import type { EngineEvents } from "../model/events.ts";
import { type Engine, type EngineDependencies, type EngineOptions, openEngine } from "./engine.ts";
import { openWarmParts } from "./warm-parts.ts";

export interface EngineServiceDependencies extends Omit<EngineDependencies, "stores" | "isHolder" | "events" | "warm"> {
  readonly stores: EngineState;
  readonly leases: LeaseStore;
  /** This process, as it registers: a holder that is not registered is gone. */
  readonly processId: string;
  readonly events: EngineEvents & { roleChanged(role: SuccessionRole): void };
  readonly leaseEvents: LeaseEvents;
}

/**
 * The block engine of this process: running, or standing by while another process has it. Its endpoints stay the same.
 */
export interface EngineService extends AsyncDisposable {
  /** What runs here; null while it stands by. */
  readonly active: Engine | null;
  fetch(request: Request, bindings?: object): Response | Promise<Response>;
  readonly sockets: readonly SocketMount[];
  readonly services: readonly GrpcService[];
  status(): EngineStatus;
  /** Whether it takes bundles. */
  isServing(): boolean;
  /** Keys or accounts have changed: streams of those that lost their right end. */
  recheck(): Promise<void>;
}

/**
 * The events of a process that may stop leading at any moment, and whose store may be away. That its writes are refused
 * once it leads no longer is what the fence is for: it is told once for each time that it led, and is neither a warning
 * nor an error. A store that does not answer is no error of this program.
 */
export function withExpectedFailures<Events extends Pick<EngineEvents, "retryableError" | "internalError">>(
  events: Events,
  log: Pick<Log, "info">,
): Events & { leads(): void } {
  let isTold = false;
  const tellFenced = (): void => {
    if (!isTold) log.info({}, "writes of this process are refused: another process runs the block engine now");
    isTold = true;
  };
  return {
    ...events,
    retryableError: (what, error) => {
      if (failureOf(error) === "fenced") tellFenced();
      else events.retryableError(what, error);
    },
    internalError: (where, error, fields) => {
      const failure = failureOf(error);
      if (failure === "fenced") tellFenced();
      else if (failure === "away") events.retryableError(where, error);
      else events.internalError(where, error, fields);
    },
    leads: () => {
      isTold = false;
    },
  };
}

/** A failover may leave a server for a while that is read-only. */
const awayCodes: ReadonlySet<string | null> = new Set(["UNAVAILABLE", "OVERLOADED", "READ_ONLY", "DISK_FULL"]);

/** Closing collects the errors of several parts in one another: the worst of them counts. */
function failureOf(error: unknown): "fenced" | "away" | "fault" {
  if (error instanceof SuppressedError) {
    const failures = [failureOf(error.error), failureOf(error.suppressed)];
    return failures.find((each) => each === "fault") ?? failures.find((each) => each === "away") ?? "fenced";
  }
  const code = stateErrorCodeOf(error);
  if (code === "FENCED") return "fenced";
  return awayCodes.has(code) ? "away" : "fault";
}

/** Renewals that are skipped after an opening failed: about five seconds. */
const retryRenewals = 10;

/**
 * Opens the block engine, where no other process runs the pool; else stands by, with all that does not need the pool
 * open already. Rejects, having closed everything, when a part of the first opening does not open.
 */
export async function openEngineService(
  options: EngineOptions,
  dependencies: EngineServiceDependencies,
): Promise<EngineService> {
  const { clock, access, log, requestId } = dependencies;
  const events = withExpectedFailures(dependencies.events, log);
  const startedAt = clock.monotonic();
  const { holder, succession, resources } = await openSuccession(options, { ...dependencies, events });
  const uptime = (): number => Math.floor((clock.monotonic() - startedAt) / 1_000);
  const status = (): EngineStatus => {
    const present = succession.term?.status();
    if (present !== undefined) return { ...present, uptime: uptime() };
    const { version } = options;
    return { service: "sluice-block-engine", version, status: "maintenance", uptime: uptime(), role: "standby" };
  };
  const { trustedProxies, grpcPeers } = options;
  const { answered } = events;
  const standby = createStandbyHttp({ access, trustedProxies, requestId, log, status, answered });
  const host = { requestId, trustedProxies, events, peers: grpcPeers };
  return {
    get active() {
      return succession.term;
    },
    fetch: (request, bindings) => succession.term?.fetch(request, bindings) ?? standby.fetch(request, bindings),
    sockets: [standbySocket(() => succession.term, requestId)],
    services: relayedServices(host, (name) =>
      name === validatorService && !holder.isHeld ? null : (succession.term?.services ?? null),
    ),
    status,
    isServing: () => succession.term?.service.isInMaintenance === false,
    recheck: async () => await succession.term?.recheck(),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** What runs while the lease is held, and the warm parts that it runs on; the first term is open, or it stands by. */
async function openSuccession(
  options: EngineOptions,
  dependencies: Omit<EngineServiceDependencies, "events"> & {
    readonly events: ReturnType<typeof withExpectedFailures<EngineServiceDependencies["events"]>>;
  },
) {
  const { clock, processId, stores, leases, events, leaseEvents } = dependencies;
  const { network, leaseMs } = options;
  const { retryableError, internalError } = events;
  const times = leaseTimesOf(leaseMs);
  const holder = new LeaseHolder(
    { network, job: "engine-book", leaseMs },
    { store: leases, clock, holder: processId, retryableError, events: leaseEvents },
  );
  await using opening = new AsyncDisposableStack();
  const warm = opening.use(await openWarmParts(options, dependencies));
  // Closed before the warm parts: the lease is given up first, and a successor waits for nothing that is left to close.
  const succession = opening.use(
    new Succession<Engine>(
      { ...times, what: "the block engine", retryRenewals },
      {
        clock,
        lease: holder,
        open: (lease) => {
          const under = stores.of(network).under(lease);
          return openEngine(options, { ...dependencies, warm, stores: under, isHolder: () => holder.isHeld });
        },
        roleChanged: (role) => {
          if (role === "active") events.leads();
          events.roleChanged(role);
        },
        internalError,
      },
    ),
  );
  // A lease may lapse while the store does not answer: validators then look for the next leader without waiting for it.
  opening.use(
    clock.every(times.beatMs, () => {
      if (!holder.isHeld) succession.term?.standDown();
    }),
  );
  await succession.begin();
  return { holder, succession, resources: opening.move() };
}

/**
 * The WebSockets of an endpoint whose engine comes and goes; one that comes while there is not valid is reported so and
 * closed.
 */
function standbySocket(present: () => Engine | null, requestId: () => string): SocketMount {
  return {
    serves: (path) => path === tipStreamPath,
    begin: async (request, peer) => {
      const socket = present()?.sockets.find((each) => each.serves(tipStreamPath));
      if (socket !== undefined) return await socket.begin(request, peer);
      return new RefusedSession(requestId(), { code: closeCodes.unavailable, reason: standbyText });
    },
  };
}

/** Only who leads has validators wait for its bundles. */
const validatorService = "block_engine.BlockEngineValidator";

/** Every service of the gRPC endpoints, in the order in which they are reported. */
const served = [
  [protoFiles.blockEngine, "blockengine.v1.BlockEngine"],
  [protoFiles.searcher, "searcher.SearcherService"],
  [protoFiles.auth, "auth.AuthService"],
  [protoFiles.validator, validatorService],
] as const;

type Implementation = GrpcService["implementation"];
type Method = Implementation[string];

/**
 * The services of an endpoint that stays while the engine behind it comes and goes: each call goes to the engine that
 * runs now, and is answered UNAVAILABLE while there is not valid.
 */
export function relayedServices(
  host: GrpcContext,
  present: (service: string) => readonly GrpcService[] | null,
): readonly GrpcService[] {
  return served.map(([file, name]) => {
    const definition = loadService(file, name);
    const methods = Object.entries(definition).map(([method, { path, requestStream, responseStream }]) => {
      const refuse = refusing(host, { requestStream, responseStream });
      const relay = (...call: Parameters<Method>): void => {
        const service = present(name)?.find((each) => each.definition[method]?.path === path);
        const handler = service?.implementation[method] ?? refuse;
        Reflect.apply(handler, undefined, call);
      };
      return [method, relay as Method] as const;
    });
    return {
      definition,
      implementation: Object.fromEntries(methods),
      drain: () =>
        present(name)
          ?.find((each) => nameOf(each) === name)
          ?.drain?.(),
    };
  });
}

const nameOf = ({ definition }: GrpcService): string => Object.values(definition)[0]?.path.split("/")[1] ?? "";

const standby = (): never => {
  throw new GrpcStatusError("UNAVAILABLE", standbyText, { retryAfterSeconds: standbyRetrySeconds });
};

function refusing(
  host: GrpcContext,
  { requestStream, responseStream }: { readonly requestStream: boolean; readonly responseStream: boolean },
): Method {
  if (requestStream) return duplex(host, { waitingMax: 1 }, standby);
  return responseStream ? serverStream(host, { waitingMax: 1 }, standby) : unary(host, standby);
}
