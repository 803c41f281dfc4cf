import type { BundleReason } from "@sluice/contract/engine";
import { SluiceError } from "@sluice/contract/errors";
import type { EncryptionKeys, EngineStatus } from "@sluice/contract/schemas";
import { BackgroundTask } from "@sluice/lib";
import type { Address, Slot } from "@sluice/wire/identifiers";
import type { Access } from "../../access/index.ts";
import type { RequestFact } from "../../ledger/index.ts";
import type { RateLimiter } from "../../limits/index.ts";
import type { GrpcContext, GrpcService, SocketMount } from "../../net/index.ts";
import { type Admission, submissionId } from "../admission/index.ts";
import type { LeaderSchedule } from "../chain/index.ts";
import { createSearcherServices } from "../grpc/index.ts";
import { Admit, createEngineHttp, TipStream } from "../http/index.ts";
import { type BundleIngress, type BundlePool, isSubmitter, type Searcher } from "../model/bundle.ts";
import { EngineChainError } from "../model/chain-port.ts";
import type {
  BlockEngineService,
  BundleSubmission,
  LossReports,
  SubmitOutcome,
  TipFloorFigures,
  Validators,
} from "../model/service.ts";
import { tipAccounts } from "../model/tip-accounts.ts";
import { HealthMonitor, type Switches } from "../operations/index.ts";
import { SearcherLimits } from "../reputation/index.ts";
import type { SealedBundles } from "../sealed/index.ts";
import { createSignIn, LinkedAccounts, seedOf, tokenKeysOf, tokenSeed } from "../sign-in/index.ts";
import {
  type BundlePipeline,
  type EngineOptions,
  openBundlePipeline,
  type PipelineDependencies,
} from "./bundle-pipeline.ts";

export type { EngineOptions };

export interface EngineDependencies extends Omit<PipelineDependencies, "tipAccounts"> {
  readonly access: Access;
  readonly limits: RateLimiter;
  readonly requestId: () => string;
  /** Receives the fact of every call that costs credits; must not block or throw. */
  readonly served: (fact: RequestFact) => void;
}

/** A running block engine, behind endpoints that its caller opens. */
export interface Engine extends AsyncDisposable {
  readonly pool: BundlePool;
  readonly service: BlockEngineService;
  readonly validators: Validators;
  readonly switches: Pick<Switches, "isInMaintenance" | "isHalted" | "refresh">;
  fetch(request: Request, bindings?: object): Response | Promise<Response>;
  /** WebSockets of the REST endpoint. */
  readonly sockets: readonly SocketMount[];
  readonly services: readonly GrpcService[];
  status(): EngineStatus;
  /** Keys or accounts have changed: ends the streams of those that lost their right. */
  recheck(): Promise<void>;
  /** Ends the streams of validators, since this process leads no longer, or does not know whether it does. */
  standDown(): void;
}

/** How often the health is checked and the gauges are set. */
const observeMs = 2_000;
/** How long a stream may outlive its key, whose expiry no notice reports. */
const recheckMs = 10_000;
const suite = "DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, ChaCha20Poly1305";

/**
 * Opens the engine of the process that holds the lease of the pool: bundles that were in flight are in flight again.
 * Rejects, having closed everything, when a part does not open.
 */
export async function openEngine(options: EngineOptions, dependencies: EngineDependencies): Promise<Engine> {
  const { clock, random, chain, stores, events, log, requestId } = dependencies;
  const { trustedProxies } = options;
  const access = dependencies.access.on(options.network);
  await using opening = new AsyncDisposableStack();
  const startedAt = clock.monotonic();
  const parts = { ...dependencies, tipAccounts: tipAccounts() };
  const pipeline = await openBundlePipeline(opening, options, parts);
  const engine = createService(parts, pipeline);
  const seed = await tokenSeed(options.masterKey, { values: stores.cursors, random });
  const linked = new LinkedAccounts({
    clock,
    find: async (pubkey) => (await stores.searchers.find(pubkey))?.accountId ?? null,
  });
  const grpc = createGrpcServices(options, { ...dependencies, access, engine, pipeline, linked, seed });
  const health = opening.use(createHealthMonitor(dependencies, pipeline));
  const status = (): EngineStatus => ({
    service: "sluice-block-engine",
    version: options.version,
    status: engine.isInMaintenance ? "maintenance" : health.degraded().length === 0 ? "ok" : "degraded",
    uptime: Math.floor((clock.monotonic() - startedAt) / 1_000),
  });
  const app = createEngineHttp({
    engine,
    network: options.network,
    access,
    clock,
    served: dependencies.served,
    trustedProxies,
    requestId,
    log,
    status,
    encryptionKeys: () => encryptionKeys(options, pipeline),
    send: (transaction) => chain.send(transaction),
    simulate: (params) => chain.read("simulateBundle", params),
    nowMs: () => clock.now(),
    answered: events.answered,
  });
  const admit = new Admit({ access });
  const records = { network: options.network, clock, served: dependencies.served };
  const tipStream = opening.use(new TipStream({ engine, admit, trustedProxies, requestId, clock, records, events }));
  opening.use(clock.every(observeMs, () => observe(dependencies, pipeline, health)));
  const recheckAll = async (): Promise<void> => void (await Promise.all([grpc.recheck(), tipStream.recheck()]));
  const recheckFailed = (error: unknown): void => events.retryableError("keys of open streams", error);
  opening.use(new BackgroundTask({ everyMs: recheckMs }, { clock, work: recheckAll, onError: recheckFailed }));
  const resources = opening.move();
  return {
    pool: pipeline.pool,
    service: engine,
    validators: pipeline.registry.validators,
    switches: pipeline.switches,
    fetch: (request, bindings) => app.fetch(request, bindings),
    services: grpc.services,
    status,
    sockets: [tipStream],
    recheck: async () => {
      linked.forget();
      await recheckAll();
    },
    standDown: () => pipeline.registry.validators.close(),
    [Symbol.asyncDispose]: async () => {
      // Before anything that waits for the store: clients of an engine that ends while its endpoints stay open connect
      // again, to its successor.
      for (const { drain } of grpc.services) drain?.();
      await resources.disposeAsync();
    },
  };
}

function createService(
  { clock, stores, limits, events, isHolder, tipAccounts }: EngineDependencies & PipelineDependencies,
  pipeline: BundlePipeline,
): BlockEngineService {
  const { admission, sealed, pool, losses, schedule, tips, reputation, switches, state, registry } = pipeline;
  const { reputations } = reputation;
  const searcherLimits = new SearcherLimits({
    clock,
    store: stores.searchers,
    limits,
    tierOf: (searcherId) => reputations.tierNow(searcherId),
    retryableError: events.retryableError,
  });
  return createBlockEngineService({
    admission,
    sealed,
    pool,
    losses,
    schedule,
    validators: registry.validators,
    tipAccounts,
    limits: searcherLimits,
    slot: () => state.slot(),
    tipFloor: () => tips.figures(),
    reputation: (searcherId) => reputations.figures(searcherId),
    isInMaintenance: () => switches.isInMaintenance || !isHolder(),
    nowMs: () => clock.monotonic(),
    submitted: (searcher, ingress, outcome, latencyMs) => {
      reputation.submitted(searcher, outcome);
      events.submitted(ingress, outcomeName(outcome), latencyMs);
    },
  });
}

const outcomeName = (outcome: SubmitOutcome): string =>
  outcome.ok ? (outcome.fresh ? "accepted" : "known") : outcome.reason;

interface GrpcDependencies extends Omit<EngineDependencies, "stores"> {
  readonly engine: BlockEngineService;
  readonly pipeline: BundlePipeline;
  readonly linked: LinkedAccounts;
  /** Seed of the key that signs tokens. */
  readonly seed: Uint8Array;
}

/** The services of the gRPC endpoints: searchers', the sign-in, and the validators'. */
function createGrpcServices(options: EngineOptions, dependencies: GrpcDependencies) {
  const { network, region, trustedProxies, grpcPeers, masterKeysPrevious } = options;
  const { clock, random, access, limits, requestId, served, events, engine, pipeline, linked, seed } = dependencies;
  const { registry } = pipeline;
  const { mayValidate } = registry;
  const host: GrpcContext = { requestId, trustedProxies, events, peers: grpcPeers };
  const { service, bearers } = createSignIn(tokenKeysOf(seed), {
    clock,
    random,
    limits,
    host,
    mayValidate,
    previous: masterKeysPrevious.map((key) => tokenKeysOf(seedOf(key))),
  });
  const searchers = createSearcherServices({
    network,
    clock,
    served,
    host,
    engine,
    access,
    limits,
    bearers,
    linked,
    region,
  });
  return {
    services: [...searchers.services, service, ...registry.services(host, bearers)],
    recheck: () => searchers.recheck(),
  };
}

function createHealthMonitor({ clock, chain, events }: EngineDependencies, pipeline: BundlePipeline): HealthMonitor {
  const { state, registry, simulator, settledThrough } = pipeline;
  return new HealthMonitor({
    clock,
    chain,
    confirmedSlot: () => state.confirmedSlot(),
    settledThrough,
    leaders: () => registry.validators.connected().length,
    simulators: () => simulator.facts.pids.length,
    changed: (degraded) => events.degraded(degraded),
  });
}

function observe({ clock, events }: EngineDependencies, { pool, tips }: BundlePipeline, health: HealthMonitor): void {
  health.check();
  const { liveCount, outcomesWaitMs } = pool;
  const [oldest] = pool.everyLive();
  const oldestMs = oldest === undefined ? 0 : Math.max(0, clock.now() - oldest.receivedAt);
  events.observed({ live: liveCount, oldestMs, outcomesWaitMs, ...tips.figures() });
}

function encryptionKeys({ network }: EngineOptions, { ring, state }: BundlePipeline): EncryptionKeys {
  const slot = state.slot() ?? 0n;
  return {
    network,
    keys: ring.valid(slot).map(({ id, publicKey, validFrom, validUntil }) => ({
      id,
      publicKey: Buffer.from(publicKey).toString("base64"),
      suite,
      validFromSlot: Number(validFrom),
      validUntilSlot: Number(validUntil),
    })),
  };
}

export interface BlockEngineServiceDependencies {
  readonly admission: Pick<Admission, "submit">;
  readonly sealed: Pick<SealedBundles, "submit">;
  readonly pool: Pick<BundlePool, "get" | "liveOf" | "liveCountOf" | "follow">;
  readonly limits: Pick<SearcherLimits, "take" | "isStopped">;
  readonly losses: LossReports;
  readonly schedule: Pick<LeaderSchedule, "leaderAt" | "nextOf" | "slotsOf">;
  readonly validators: Validators;
  readonly tipAccounts: readonly Address[];
  readonly slot: () => Slot | null;
  readonly tipFloor: () => TipFloorFigures;
  readonly reputation: BlockEngineService["reputation"];
  readonly isInMaintenance: () => boolean;
  /** Monotonic. */
  readonly nowMs: () => number;
  /** A submission was answered. */
  readonly submitted: (searcher: Searcher, ingress: BundleIngress, outcome: SubmitOutcome, latencyMs: number) => void;
}

/** Coming slots of a connected leader that are listed. */
const slotsListed = 16;
/** Bundles that one searcher may have in flight: a fifth of all, so that no searcher fills the pool. */
const inFlightMax = 10_000;
const bundleIdForm = /^[0-9a-f]{64}$/;

/** The interface of the endpoints over the engine's parts. */
export function createBlockEngineService(dependencies: BlockEngineServiceDependencies): BlockEngineService {
  const { pool, limits, schedule, validators, slot, tipFloor, nowMs } = dependencies;
  return {
    tipAccounts: dependencies.tipAccounts,
    losses: dependencies.losses,
    get isInMaintenance() {
      return dependencies.isInMaintenance();
    },
    submit: async (submission, searcher) => {
      const startedMs = nowMs();
      const refused = await refusedUnseen(submission, searcher, dependencies);
      const outcome = refused ?? (await admit(submission, searcher, dependencies));
      dependencies.submitted(searcher, submission.ingress, outcome, nowMs() - startedMs);
      return presentOutcome(outcome);
    },
    idOf: submissionId,
    get: async (id, reader) => {
      const record = bundleIdForm.test(id) ? await pool.get(id) : null;
      // What is in the chain is everybody's to see.
      return record !== null && (record.landed !== null || isSubmitter(record, reader.id)) ? record : null;
    },
    leaderOf: (at) => schedule.leaderAt(at),
    follow: (searcherId, listener) => pool.follow(searcherId, listener),
    inFlight: (searcherId) => pool.liveOf(searcherId),
    takeRate: (searcher) => limits.take(searcher),
    tipFloor,
    reputation: (searcherId) => dependencies.reputation(searcherId),
    currentSlot: slot,
    nextLeader: () => {
      const now = slot();
      return now === null ? null : schedule.nextOf(validators.connected(), now);
    },
    connectedLeaders: () => {
      const now = slot() ?? 0n;
      return new Map(
        validators.connected().map((identity) => [identity, schedule.slotsOf(identity, now, slotsListed)]),
      );
    },
  };
}

/** A refusal that needs no look at the bundle; null where the bundle has to be checked. */
async function refusedUnseen(
  submission: BundleSubmission,
  { id }: Searcher,
  { pool, limits, tipFloor, isInMaintenance }: BlockEngineServiceDependencies,
): Promise<SubmitOutcome | null> {
  const refuse = (reason: BundleReason, detail: string | null): SubmitOutcome => {
    return { ok: false, id: submissionId(submission), reason, detail, tipFloor: tipFloor().floor };
  };
  if (isInMaintenance()) return refuse("maintenance", null);
  if (await limits.isStopped({ id })) return refuse("rate_limited", "an operator has stopped this searcher");
  if (pool.liveCountOf(id) < inFlightMax) return null;
  return refuse("rate_limited", `${inFlightMax} bundles are in flight`);
}

/** @throws {SluiceError} OVERLOADED when the chain or the simulation cannot be asked now. */
async function admit(
  submission: BundleSubmission,
  searcher: Searcher,
  { admission, sealed }: BlockEngineServiceDependencies,
): Promise<SubmitOutcome> {
  try {
    if (submission.sealed === null) return await admission.submit(submission, searcher);
    return await sealed.submit(submission.sealed, submission, searcher);
  } catch (error) {
    if (!(error instanceof EngineChainError)) throw error;
    const message = "The chain cannot be asked now; try again shortly.";
    throw new SluiceError("OVERLOADED", { message, cause: error });
  }
}

/** A known bundle that has failed since is refused for that reason: it does not compete a second time. */
function presentOutcome(outcome: SubmitOutcome): SubmitOutcome {
  if (!outcome.ok) return outcome;
  const { id, state, reason, detail } = outcome.record;
  if ((state !== "dropped" && state !== "expired") || reason === null) return outcome;
  return { ok: false, id, reason, detail, tipFloor: outcome.tipFloor };
}
