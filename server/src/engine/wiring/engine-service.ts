import type { EngineStatus } from "@sluice/contract/schemas";
import { closeCodes, RefusedSession, type SocketMount } from "../../net/index.ts";
import type { EngineState } from "../../state/index.ts";
import type { GrpcService } from "../calls/index.ts";
import { createStandbyHttp, standbyText, tipStreamPath } from "../http/index.ts";
import type { EngineEvents } from "../model/events.ts";
import { type EngineRole, LeaseHolder, relayedServices, renewMs, Succession } from "../succession/index.ts";
import { type Engine, type EngineDependencies, type EngineOptions, openEngine } from "./engine.ts";

export interface EngineServiceDependencies extends Omit<EngineDependencies, "stores" | "isHolder" | "events"> {
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

/** Renewals that are skipped after an opening failed: about five seconds. */
const retryRenewals = 10;

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
  const { retryableError, internalError } = events;
  const id = Buffer.from(random.bytes(16)).toString("hex");
  const holder = new LeaseHolder({ store: stores.leases, clock, holder: id, retryableError });
  const succession = new Succession<Engine>(
    { renewMs, retryRenewals },
    {
      clock,
      lease: holder,
      open: (lease) =>
        openEngine(options, { ...dependencies, stores: stores.under(lease), isHolder: () => holder.isHeld }),
      roleChanged: (role) => events.roleChanged(role),
      internalError,
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
    isServing: () => succession.term?.service.isInMaintenance === false,
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
