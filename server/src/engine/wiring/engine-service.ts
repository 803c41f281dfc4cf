import type { EngineStatus } from "@sluice/contract/schemas";
import { closeCodes, RefusedSession, type SocketMount } from "../../net/index.ts";
import type { EngineState } from "../../state/index.ts";
import type { GrpcService } from "../calls/index.ts";
import { createStandbyHttp, standbyText } from "../http/standby.ts";
import { tipStreamPath } from "../http/tip-stream.ts";
import type { EngineEvents } from "../model/events.ts";
import { type EngineRole, LeaseHolder, lookMs, relayedServices, Succession } from "../succession/index.ts";
import { openEngine } from "./engine.ts";
import type { Engine, EngineDependencies, EngineOptions } from "./engine-parts.ts";

export interface EngineServiceDependencies extends Omit<EngineDependencies, "stores" | "isKeeper" | "events"> {
  readonly stores: EngineState;
  readonly events: EngineEvents & { roleChanged(role: EngineRole): void };
}

/** The block engine of this process: running, or standing by while another process has it. Its doors stay the same. */
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

/** Looks that pass before what could not be opened is tried again: about five seconds. */
const retryLooks = 10;

/**
 * Opens the block engine, where no other process keeps the pool; else stands by. Rejects, having closed everything, when
 * a part of the first opening does not open.
 */
export async function openEngineService(
  options: EngineOptions,
  dependencies: EngineServiceDependencies,
): Promise<EngineService> {
  const { clock, random, stores, events, access, log, requestId } = dependencies;
  const startedAt = clock.monotonic();
  const holder = Buffer.from(random.bytes(16)).toString("hex");
  const retryableError = (what: string, error: unknown): void => events.retryableError(what, error);
  const keeper = new LeaseHolder({ store: stores.leases, clock, holder, retryableError });
  const succession = new Succession<Engine>(
    { lookMs, retryLooks },
    {
      keeper,
      open: (lease) =>
        openEngine(options, { ...dependencies, stores: stores.under(lease), isKeeper: () => keeper.isHeld }),
      roleChanged: (role) => events.roleChanged(role),
      internalError: (where, error) => events.internalError(where, error),
    },
  );
  const uptime = (): number => Math.floor((clock.monotonic() - startedAt) / 1_000);
  const status = (): EngineStatus => {
    const present = succession.term?.status();
    if (present !== undefined) return { ...present, uptime: uptime() };
    const { version } = options;
    return { service: "sluice-block-engine", version, status: "maintenance", uptime: uptime(), role: "standby" };
  };
  const { trustedProxies } = options;
  const { answered } = events;
  const standby = createStandbyHttp({ access, trustedProxies, requestId, log, status, answered });
  const host = { requestId, trustedProxies, events };
  try {
    await succession.begin();
  } catch (error) {
    await succession[Symbol.asyncDispose]();
    throw error;
  }
  return {
    get active() {
      return succession.term;
    },
    fetch: (request, bindings) => succession.term?.fetch(request, bindings) ?? standby.fetch(request, bindings),
    sockets: [standingSocket(() => succession.term, requestId)],
    services: relayedServices(host, () => succession.term?.services ?? null),
    status,
    isServing: () => succession.term?.desk.isInMaintenance === false,
    recheck: async () => await succession.term?.recheck(),
    [Symbol.asyncDispose]: () => succession[Symbol.asyncDispose](),
  };
}

/** The WebSockets of a door whose engine comes and goes; one that comes while there is none is told so and closed. */
function standingSocket(present: () => Engine | null, requestId: () => string): SocketMount {
  return {
    serves: (path) => path === tipStreamPath,
    begin: async (request, peer) => {
      const socket = present()?.sockets.find((each) => each.serves(tipStreamPath));
      if (socket !== undefined) return await socket.begin(request, peer);
      return new RefusedSession(requestId(), { code: closeCodes.unavailable, reason: standbyText });
    },
  };
}
