import type { HealthRecord, IngestRecord, ReadyRecord, ServerStatus } from "@sluice/contract/schemas";
import { type Network, networks } from "@sluice/contract/tiers";
import { type Clock, sleep, type Timer } from "@sluice/lib";
import { type Config, type Role, roles, version } from "../config/index.ts";
import type { EngineService } from "../engine/index.ts";
import type { ProbeSource } from "../http/index.ts";
import type { Names } from "../names/index.ts";
import type { ServerEvents } from "../observe/index.ts";
import type { Oracle, OracleHealth } from "../oracle/index.ts";
import type { Flows } from "../streams/index.ts";
import type { UpstreamHealth } from "../upstreams/index.ts";
import { endpointsOf, openedRoles } from "./endpoints.ts";
import type { IngestReport } from "./ingest.ts";
import { followsNodes } from "./nodes.ts";
import type { Registration } from "./registration.ts";
import type { StoreWatch } from "./store-watch.ts";

interface DrainDependencies {
  readonly clock: Pick<Clock, "after">;
  readonly events: Pick<ServerEvents, "serverStopping" | "serverStopped">;
}

/**
 * The end of a server. First only /ready reports it: calls are served as before until load balancers that read /ready
 * send no more. Then the listeners close, each with a deadline for calls in flight, and after them what they serve.
 */
export class Drain {
  readonly #delayMs: number;
  readonly #dependencies: DrainDependencies;
  #hasBegun = false;
  #isReplaced = false;

  constructor(options: { readonly delayMs: number }, dependencies: DrainDependencies) {
    this.#delayMs = options.delayMs;
    this.#dependencies = dependencies;
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Whether probes say that the server ends: not where another process serves on. */
  get isTold(): boolean {
    return this.#hasBegun && !this.#isReplaced;
  }

  /** Whether another process serves in the place of this one. */
  get isReplaced(): boolean {
    return this.#isReplaced;
  }

  /** Ends at once, since another process serves on the same ports: balancers need not look elsewhere. */
  async retire(resources: AsyncDisposable): Promise<void> {
    this.#isReplaced = true;
    await this.end(resources, 0);
  }

  /** Waits for balancers first, `delayMs` unless given the configured time. */
  async end(resources: AsyncDisposable, delayMs = this.#delayMs): Promise<void> {
    const { clock, events } = this.#dependencies;
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      events.serverStopping("asked to end");
      if (delayMs > 0) await sleep(clock, delayMs);
    }
    await resources[Symbol.asyncDispose]();
    events.serverStopped();
  }
}

/** What the state of the gateway is read from. */
interface HealthOfGateway {
  readonly upstreams: { pool(network: Network): { health(): readonly UpstreamHealth[] } | null };
  readonly credits: { readonly isFailing: boolean; readonly isAdvancing: boolean };
}

/** The parts of a server of which something is told; those that are not open yet are absent. */
interface ObservedParts {
  readonly gateway?: HealthOfGateway;
  readonly registration?: Pick<Registration, "conflict"> | null;
  readonly storeWatch?: Pick<StoreWatch, "conditions">;
  readonly engine?: Pick<EngineService, "status"> | null;
  readonly oracle?: Pick<Oracle, "health"> | null;
  readonly names?: Pick<Names, "isAnswering"> | null;
  readonly ingest?: Pick<IngestReport, "status"> | null;
  readonly flows?: Pick<Flows, "isOpen"> | null;
  readonly webhookDelivery?: { readonly isOpen: readonly boolean[] | null } | null;
}

type PartState = HealthRecord["parts"][string];
type Reason = ReadyRecord["reasons"][number];

/** Roles that serve nothing without credits. */
const charging: ReadonlySet<Role> = new Set(["gateway", "streams", "webhooks"]);

const observeMs = 2_000;
/** When the log sums up how the parts do after the start. */
const summaryMs = 60_000;

/**
 * The state of the server and of each role that it runs, for probes, `sluice status`, metrics and the log. Parts are
 * observed as they open.
 */
export class Health implements ProbeSource, Disposable {
  readonly roles: readonly Role[] = roles;
  readonly #config: Config;
  readonly #dependencies: HealthDependencies;
  readonly #startedAtMs: number;
  readonly #roles: readonly Role[];
  readonly #told = new Map<Role, boolean>();
  #observed: ObservedParts = {};
  #timer: Timer | null = null;
  #isSummarised = false;

  constructor(config: Config, dependencies: HealthDependencies) {
    this.#config = config;
    this.#dependencies = dependencies;
    this.#startedAtMs = dependencies.clock.monotonic();
    this.#roles = openedRoles(config);
  }

  observe(parts: ObservedParts): void {
    this.#observed = { ...this.#observed, ...parts };
  }

  /** Tells from now on which roles serve, by metrics and, when that changes, in the log. */
  start(): void {
    this.#timer ??= this.#dependencies.clock.every(observeMs, () => this.#tell());
    this.#tell();
  }

  /**
   * `down` once the end has begun, while every call of the gateway would be refused, and where no role serves;
   * `degraded` while a part is not as it should be.
   */
  health(): HealthRecord {
    const parts = this.#parts();
    const reasons = this.#roles.flatMap((role) => this.#reasonsOf(role, parts));
    // An engine that stands by does what it should.
    const failing = (role: Role): boolean => reasons.some((each) => each.role === role && !isPlanned(each.is));
    const isDown = parts["server"] === "down" || failing("gateway") || this.#roles.every(failing);
    const isOk = Object.values(parts).every((state) => state === "ok" || isPlanned(state));
    return {
      status: isDown ? "down" : isOk ? "ok" : "degraded",
      version,
      uptimeSeconds: Math.floor((this.#dependencies.clock.monotonic() - this.#startedAtMs) / 1_000),
      parts,
    };
  }

  ready(asked: string | null): ReadyRecord {
    const record = this.health();
    const roles = this.#roles.map((role) => ({ role, reasons: this.#reasonsOf(role, record.parts) }));
    const chosen = asked === null ? roles : roles.filter(({ role }) => role === asked);
    const isReady = chosen.some(({ reasons }) => reasons.length === 0);
    return {
      ...record,
      status: !isReady ? "down" : record.status === "down" ? "degraded" : record.status,
      roles: Object.fromEntries(roles.map(({ role, reasons }) => [role, reasons.length === 0])),
      reasons: chosen.length === 0 ? [absent(asked ?? "")] : chosen.flatMap(({ reasons }) => reasons),
    };
  }

  #parts(): HealthRecord["parts"] {
    const { gateway, registration, storeWatch, engine, oracle, names, ingest } = this.#observed;
    const { flows, webhookDelivery } = this.#observed;
    const stores = (storeWatch?.conditions ?? []).map(({ store, isUp }): [string, PartState] => [
      store,
      isUp ? "ok" : "down",
    ]);
    const { role, status } = engine?.status() ?? { status: null };
    const isMetering = gateway !== undefined && this.#roles.some((each) => each !== "resolver" && each !== "ingest");
    return {
      server: this.#dependencies.drain.isTold ? "down" : "ok",
      ...(gateway === undefined || !followsNodes(this.#config) ? {} : this.#nodes(gateway)),
      ...(isMetering ? { credits: creditsStatus(gateway.credits) } : {}),
      ...Object.fromEntries(stores),
      ...(registration ? { sharing: registration.conflict === null ? "ok" : "down" } : {}),
      ...(status === null ? {} : { engine: role ?? status }),
      ...(oracle ? { oracle: oracleStatus(oracle.health()) } : {}),
      ...(names ? { resolver: names.isAnswering ? "ok" : "down" } : {}),
      ...(ingest ? { ingest: ingestStatus(ingest.status()) } : {}),
      ...(flows ? { streams: flowsStatus(flows.isOpen) } : {}),
      ...(webhookDelivery?.isOpen ? { webhooks: flowsStatus(webhookDelivery.isOpen) } : {}),
    };
  }

  /** `nodes` of the default network, and each other network that has nodes under its own name. */
  #nodes({ upstreams }: HealthOfGateway): HealthRecord["parts"] {
    const { networkDefault } = this.#config;
    const others = networks.flatMap((network): [string, PartState][] => {
      const nodes = network === networkDefault ? [] : (upstreams.pool(network)?.health() ?? []);
      return nodes.length === 0 ? [] : [[`nodes.${network}`, nodesStatus(nodes)]];
    });
    return { nodes: nodesStatus(upstreams.pool(networkDefault)?.health() ?? []), ...Object.fromEntries(others) };
  }

  /** Why a role does not serve; empty while it does. */
  #reasonsOf(role: Role, parts: HealthRecord["parts"]): Reason[] {
    const { networkDefault } = this.#config;
    const texts: readonly (readonly [string, string])[] = [
      ["server", "the server is about to end"],
      ...(role === "resolver" ? [] : [["sharing", this.#observed.registration?.conflict ?? ""] as const]),
      ...(role === "gateway"
        ? [["nodes", `no node of ${networkDefault} may be called or can be reached`] as const]
        : []),
      ...(charging.has(role) ? [["credits", "the state store leases no credits"] as const] : []),
      ...(role === "oracle" ? [["oracle", "no symbol has a price"] as const] : []),
      ...(role === "resolver" ? [["resolver", "the node that names are read from does not answer"] as const] : []),
      ...(role === "ingest" ? [["ingest", "no block of some network reaches the log of its chain"] as const] : []),
      ...(role === "streams" || role === "webhooks" ? [[role, "the log of no network is open"] as const] : []),
      ...(role === "engine" ? [["engine", engineTexts[parts["engine"] ?? "down"] ?? ""] as const] : []),
    ];
    return texts.flatMap(([part, message]) => {
      const is = parts[part] ?? (part === role ? "down" : "ok");
      return is === "ok" || is === "degraded" ? [] : [{ role, part, is, message }];
    });
  }

  #tell(): void {
    const { clock, events, drain } = this.#dependencies;
    if (drain.hasBegun) return;
    const { roles, reasons, parts } = this.ready(null);
    for (const role of this.#roles) {
      const isReady = roles[role] === true;
      events.roleServes(role, isReady);
      const before = this.#told.get(role);
      this.#told.set(role, isReady);
      // What a start waits for is told by the summary; a standby is told by the engine itself.
      if (before === undefined || before === isReady) continue;
      events.roleChanged(role, { isReady, reasons: reasons.filter((each) => each.role === role) });
    }
    if (this.#isSummarised || clock.monotonic() - this.#startedAtMs < summaryMs) return;
    this.#isSummarised = true;
    const figures = this.#observed.oracle?.health();
    events.startSummarised({ parts, reasons, ...(figures === undefined ? {} : { prices: figures }) });
  }

  [Symbol.dispose](): void {
    this.#timer?.cancel();
  }
}

interface HealthDependencies {
  readonly clock: Pick<Clock, "monotonic" | "every">;
  readonly drain: Pick<Drain, "hasBegun" | "isTold">;
  readonly events: Pick<ServerEvents, "roleServes" | "roleChanged" | "startSummarised">;
}

const isPlanned = (state: string): boolean => state === "standby" || state === "maintenance";

const engineTexts: Readonly<Record<string, string>> = {
  standby: "another process runs the engine",
  maintenance: "the engine is in maintenance",
  down: "the engine is not open",
};

const absent = (role: string): Reason => ({
  role,
  part: "roles",
  is: "absent",
  message: "this process does not run that role",
});

const oracleStatus = ({ priced, sources, active }: OracleHealth): "ok" | "degraded" | "down" =>
  priced === 0 ? "down" : active === sources ? "ok" : "degraded";

/** While accounts are served from advances not every call is refused. */
function creditsStatus({ isFailing, isAdvancing }: HealthOfGateway["credits"]): "ok" | "degraded" | "down" {
  if (!isFailing) return "ok";
  return isAdvancing ? "degraded" : "down";
}

/** A log that takes nothing, or whose followers have nothing new, is down; one that is behind is degraded. */
function ingestStatus(records: readonly IngestRecord[]): "ok" | "degraded" | "down" {
  const isDown = ({ state, fault }: IngestRecord): boolean =>
    fault !== null || state === "paused" || state === "starting";
  if (records.some(isDown)) return "down";
  return records.every(({ state, unavailable_slots: slots }) => state === "live" && slots === 0) ? "ok" : "degraded";
}

/** Streams of a network whose log is not open are not served; others are. */
function flowsStatus(isOpen: readonly boolean[]): "ok" | "degraded" | "down" {
  if (isOpen.every((each) => each)) return "ok";
  return isOpen.some((each) => each) ? "degraded" : "down";
}

function nodesStatus(nodes: readonly UpstreamHealth[]): "ok" | "degraded" | "down" {
  if (nodes.some(({ healthy }) => healthy)) return "ok";
  return nodes.some(({ mayServe, speaks }) => mayServe && speaks) ? "degraded" : "down";
}

/** What `sluice status` shows: the process, its health, its endpoints and how many of each network's nodes serve. */
export function serverStatus(
  config: Config,
  dependencies: {
    readonly health: Health;
    readonly gateway: HealthOfGateway;
    readonly registration: Pick<Registration, "registered"> | null;
    readonly ingest: Pick<IngestReport, "status"> | null;
  },
): () => Promise<ServerStatus> {
  const { gateway, health, registration, ingest } = dependencies;
  return async () => {
    const { status, version: running, uptimeSeconds, parts } = health.health();
    const processes = (await registration?.registered()) ?? [];
    return {
      status,
      version: running,
      mode: config.mode,
      pid: process.pid,
      uptime_seconds: uptimeSeconds,
      roles: [...config.roles],
      parts,
      reasons: health.ready(null).reasons,
      processes: processes.map(({ id, version, roles, startedAt }) => {
        return { id, version, roles, since: new Date(startedAt).toISOString() };
      }),
      endpoints: endpointsOf(config).map(({ name, url }) => ({ name, url })),
      nodes: networks.flatMap((network) => {
        const nodes = gateway.upstreams.pool(network)?.health() ?? [];
        const serving = nodes.filter(({ healthy }) => healthy).length;
        return nodes.length === 0 ? [] : [{ network, serving, of: nodes.length }];
      }),
      ingest: ingest?.status() ?? [],
    };
  };
}
