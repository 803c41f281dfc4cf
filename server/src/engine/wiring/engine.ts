import type { EncryptionKeys, EngineStatus } from "@sluice/contract/schemas";
import type { Address } from "@sluice/wire/identifiers";
import { Admit } from "../http/admit.ts";
import { createEngineHttp } from "../http/http.ts";
import { TipStream } from "../http/tip-stream.ts";
import type { SubmitOutcome } from "../model/service.ts";
import { tipAccounts } from "../model/tip-accounts.ts";
import { HealthMonitor } from "../operations/health-monitor.ts";
import { SearcherLimits } from "../reputation/searcher-limits.ts";
import { LinkedAccounts } from "../sign-in/linked-accounts.ts";
import { tokenSeed } from "../sign-in/tokens.ts";
import { BundleService } from "./block-engine-service.ts";
import { type Floor, openFloor } from "./bundle-pipeline.ts";
import type { Engine, EngineDependencies, EngineOptions } from "./engine-parts.ts";
import { KeyWatch } from "./key-watch.ts";
import { type Memory, openMemory } from "./memory.ts";
import { openServices } from "./services.ts";

/** How often the engine tells how it stands. */
const observeMs = 2_000;
const suite = "DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, ChaCha20Poly1305";

/**
 * Opens the engine of the process that keeps the pool: what was in flight is in flight again. Rejects, having closed
 * everything, when a part does not open.
 */
export async function openEngine(options: EngineOptions, dependencies: EngineDependencies): Promise<Engine> {
  const { clock, random, chain, stores, events, log, limits, requestId } = dependencies;
  const access = dependencies.access.on(options.network);
  await using opening = new AsyncDisposableStack();
  const startedAt = clock.monotonic();
  const accounts = tipAccounts();
  const memory = await openMemory(opening, dependencies);
  const floor = await openFloor(opening, options, { ...dependencies, memory, tipAccounts: accounts });
  const desk = opening.use(openDesk(dependencies, { memory, floor, accounts }));
  const seed = await tokenSeed(options.masterKey, { values: stores.cursors, random });
  const { trustedProxies } = options;
  const { validatorDesk } = floor;
  const linked = openLinked(dependencies);
  const { services, recheck } = openServices(seed, {
    clock,
    random,
    access,
    limits,
    trustedProxies,
    requestId,
    desk,
    validatorDesk,
    events,
    region: options.region,
    linked,
  });
  const soundness = opening.use(openSoundness(dependencies, floor));
  const status = (): EngineStatus =>
    statusOf({ desk, soundness }, { version: options.version, sinceMs: clock.monotonic() - startedAt });
  const app = createEngineHttp({
    desk,
    access,
    trustedProxies,
    requestId,
    log,
    status,
    encryptionKeys: () => encryptionKeys(options, floor),
    send: (transaction) => chain.send(transaction),
    simulate: (params) => chain.read("simulateBundle", params),
    nowMs: () => clock.now(),
    answered: events.answered,
  });
  const admit = new Admit({ access });
  const tipStream = opening.use(new TipStream({ desk, admit, trustedProxies, requestId, events }));
  opening.use(observe(dependencies, memory, soundness));
  const recheckAll = async (): Promise<void> => void (await Promise.all([recheck(), tipStream.recheck()]));
  const { retryableError } = events;
  opening.use(new KeyWatch({ recheck: recheckAll, retryableError }));
  const resources = opening.move();
  return {
    pool: memory.pool,
    desk,
    validators: validatorDesk.validators,
    switches: memory.switches,
    fetch: (request, bindings) => app.fetch(request, bindings),
    services,
    status,
    sockets: [tipStream],
    recheck: async () => {
      linked.forget();
      await recheckAll();
    },
    [Symbol.asyncDispose]: async () => {
      // Clients of an engine that ends while its doors stay open go to its successor.
      for (const { drain } of services) drain?.();
      await resources.disposeAsync();
    },
  };
}

function openDesk(
  { clock, stores, limits, events, isKeeper }: EngineDependencies,
  given: { readonly memory: Memory; readonly floor: Floor; readonly accounts: ReturnType<typeof tipAccounts> },
): BundleService {
  const { memory, floor, accounts } = given;
  const { pool, tips, standing, switches } = memory;
  const outcomeName = (outcome: SubmitOutcome): string =>
    outcome.accepted ? (outcome.fresh ? "accepted" : "known") : outcome.reason;
  return new BundleService({
    admission: floor.admission,
    sealed: floor.sealed,
    pool,
    losses: memory.losses,
    schedule: floor.view.schedule,
    validators: floor.validatorDesk.validators,
    tipAccounts: accounts,
    limits: new SearcherLimits({
      clock,
      store: stores.searchers,
      limits,
      tierOf: (searcherId) => standing.reputations.tierNow(searcherId),
      retryableError: (what, error) => events.retryableError(what, error),
    }),
    slot: () => floor.view.state.slot(),
    tipFloor: () => tips.figures(),
    reputation: (searcherId) => standing.reputations.figures(searcherId),
    isInMaintenance: () => switches.isInMaintenance || !isKeeper(),
    nowMs: () => clock.monotonic(),
    submitted: (searcher, door, outcome, latencyMs) => {
      standing.submitted(searcher, outcome);
      events.submitted(door, outcomeName(outcome), latencyMs);
    },
  });
}

function statusOf(
  { desk, soundness }: { readonly desk: BundleService; readonly soundness: HealthMonitor },
  { version, sinceMs }: { readonly version: string; readonly sinceMs: number },
): EngineStatus {
  return {
    service: "sluice-block-engine",
    version,
    status: desk.isInMaintenance ? "maintenance" : soundness.degraded().length === 0 ? "ok" : "degraded",
    uptime: Math.floor(sinceMs / 1_000),
  };
}

function openLinked({ clock, stores }: EngineDependencies): LinkedAccounts {
  const find = async (pubkey: Address): Promise<string | null> =>
    (await stores.searchers.find(pubkey))?.accountId ?? null;
  return new LinkedAccounts({ clock, find });
}

function openSoundness({ clock, chain, events }: EngineDependencies, floor: Floor): HealthMonitor {
  const { view, validatorDesk, simulator } = floor;
  return new HealthMonitor({
    clock,
    chain,
    confirmedSlot: () => view.state.confirmedSlot(),
    settledThrough: () => view.settledThrough(),
    leaders: () => validatorDesk.validators.connected().length,
    simulators: () => simulator.facts.pids.length,
    changed: (degraded) => events.degraded(degraded),
  });
}

function encryptionKeys({ network }: EngineOptions, { ring, view }: Floor): EncryptionKeys {
  const slot = view.state.slot() ?? 0n;
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

function observe({ events }: EngineDependencies, { pool, tips }: Memory, soundness: HealthMonitor): Disposable {
  const timer = setInterval(() => {
    soundness.check();
    const { floor, utilization } = tips.figures();
    events.observed({ live: pool.liveCount, floor, utilization });
  }, observeMs);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
