import type { Network } from "@sluice/contract/tiers";
import { type AddressSet, BackgroundTask, type Clock, type Log, type Random, SecretVault } from "@sluice/lib";
import type { Address, Slot } from "@sluice/wire/identifiers";
import type { FrontedPeers } from "../../net/index.ts";
import type { EngineStores } from "../../state/index.ts";
import { Admission } from "../admission/index.ts";
import {
  Auctioneer,
  AuctionLosses,
  AuctionScheduler,
  Candidates,
  RpcFallback,
  SlotTargeting,
} from "../auctioneer/index.ts";
import {
  type ChainState,
  catchUpSlotsMax,
  FlowReader,
  type LeaderSchedule,
  TipAccounts,
  Tracker,
  TrackerPace,
  type ValidBlockhashes,
} from "../chain/index.ts";
import type { BlockFlow } from "../model/block-flow.ts";
import type { BundlePool } from "../model/bundle.ts";
import type { EngineChain } from "../model/chain-port.ts";
import type { EngineEvents } from "../model/events.ts";
import type { Validators } from "../model/service.ts";
import { Switches } from "../operations/index.ts";
import { type OutcomeLedger, openBundlePool } from "../pool/index.ts";
import { ReputationTracker } from "../reputation/index.ts";
import { bundleRequestReader, KeyRing, type OpeningTick, SealedBundles, sweepReplays } from "../sealed/index.ts";
import type { Simulator } from "../simulation/index.ts";
import { TipFloorStore } from "../tips/index.ts";
import { createValidators, EpochChange, type ValidatorRegistry } from "../validators/index.ts";
import { onProcessed, type WarmParts } from "./warm-parts.ts";

export interface EngineOptions {
  readonly network: Network;
  readonly version: string;
  readonly tickMs: number;
  readonly simulators: number;
  /** Who is paid the block builder's share of tips, and its percentage. */
  readonly fee: { readonly pubkey: Address; readonly commission: number };
  /** Identities to which an operator narrows the leader schedule; null is all of it. */
  readonly validators: readonly Address[] | null;
  /** The address of the gRPC endpoint that validators are reported. */
  readonly url: string;
  readonly region: string;
  /** 64 hexadecimal digits; null only under `dev`. */
  readonly masterKey: string | null;
  /** Further keys that open what they sealed, and verify the tokens that they signed. */
  readonly masterKeysPrevious: readonly string[];
  readonly trustedProxies: AddressSet;
  /** Of the fronts that the gRPC servers are behind, if they are. */
  readonly grpcPeers?: FrontedPeers | undefined;
  /** Milliseconds without a beat after which another process takes over; the same in all of them. */
  readonly leaseMs: number;
}

export interface PipelineDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Pick<Log, "info" | "warn" | "error">;
  readonly chain: EngineChain;
  /** Opens the blocks that this process has, for as long as the engine runs here. */
  readonly openFlow: () => Promise<BlockFlow>;
  /** Under the lease of the pool. */
  readonly stores: EngineStores;
  /** Whether this process holds the lease of the pool at this moment: asked before anything is delivered or sent. */
  readonly isHolder: () => boolean;
  readonly ledger: OutcomeLedger;
  readonly events: EngineEvents;
  readonly tipAccounts: readonly Address[];
  /** Opened before, and left open. */
  readonly warm: WarmParts;
}

/** The engine's parts from the admission of a bundle to its leader and its end. */
export interface BundlePipeline {
  readonly switches: Switches;
  readonly tips: TipFloorStore;
  readonly pool: BundlePool;
  readonly losses: AuctionLosses;
  readonly reputation: ReputationTracker;
  readonly state: ChainState;
  readonly schedule: LeaderSchedule;
  readonly registry: ValidatorRegistry;
  readonly simulator: Pick<Simulator, "facts">;
  readonly admission: Admission;
  readonly sealed: SealedBundles;
  readonly ring: KeyRing;
  /** The slot up to which every confirmed block was read. */
  readonly settledThrough: () => Slot | null;
}

/** A bundle expires after so many blocks, so a leader further ahead is out of its reach. */
const reachSlots = 150n;
/** Steps that fail in a row before an error is reported; one or two are common. */
const failuresReported = 5;
/** How often expired replays of envelopes are deleted. */
const replaySweepMs = 60_000;
const placeName = "engine-tracker";

/** Opens the parts on a stack, each after those that it needs. Rejects as a part's opening does. */
export async function openBundlePipeline(
  opening: AsyncDisposableStack,
  options: EngineOptions,
  dependencies: PipelineDependencies,
): Promise<BundlePipeline> {
  const persistent = await openPersistentParts(opening, options.network, dependencies);
  const flow = opening.use(await dependencies.openFlow());
  const chainParts = openChainParts(opening, options, { ...dependencies, ...persistent, flow });
  const { pool, tips, reputation } = persistent;
  const { state, schedule, registry, blockhashes } = chainParts;
  const { clock, tipAccounts } = dependencies;
  const { simulator } = dependencies.warm;
  const candidates = opening.use(new Candidates({ pool }));
  const admission = new Admission({
    clock,
    pool,
    simulator,
    tipAccounts: new Set(tipAccounts),
    tipFloor: () => tips.floor,
    chain: {
      slot: () => state.slot(),
      height: () => state.blockHeight(),
      blockhash: (blockhash) => blockhashes.ask(blockhash),
      seen: (signatures) => state.seen(signatures),
      processed: (signatures) => state.processed(signatures),
    },
    leaders: {
      reachable: (target, count) => isReachable(chainParts, registry.validators, { target, transactionCount: count }),
    },
    simulated: (searcherId, ok) => reputation.simulated(searcherId, ok),
    seen: (record, effects) => candidates.seen(record, effects),
  });
  const { ring, sealed } = openSealed(opening, options, { ...dependencies, pool, tips, state, schedule, admission });
  openAuction(opening, options, { ...dependencies, ...persistent, ...chainParts, simulator, candidates, sealed });
  const { settledThrough } = chainParts;
  return { ...persistent, state, schedule, registry, simulator, admission, sealed, ring, settledThrough };
}

/** Opens the parts whose state outlives a restart: bundles that were in flight are in flight again. */
async function openPersistentParts(
  opening: AsyncDisposableStack,
  network: Network,
  dependencies: PipelineDependencies,
) {
  const { clock, random, chain, stores, ledger, log, events } = dependencies;
  const { retryableError, internalError } = events;
  const switches = opening.use(new Switches({ store: stores.switches, clock, retryableError }));
  await switches.refresh();
  const tips = opening.use(await TipFloorStore.open({ values: stores.cursors, clock, retryableError }));
  const pool = opening.use(
    await openBundlePool(
      {},
      {
        store: stores.bundles,
        network,
        genesis: () => chain.genesis(),
        ledger,
        clock,
        events: {
          bundlesLoaded: (count) => log.info({ count }, "bundles in flight were loaded"),
          outcomesWritten: () => {},
          outcomesWait: (reason) => retryableError("outcomes", reason),
          outcomeRefused: (id, reason) => retryableError(`outcome of ${id}`, reason),
          bundlesForgotten: () => {},
          internalError,
        },
      },
    ),
  );
  opening.use(
    pool.onChange(({ state, reason }, before) => {
      if (before !== null && state !== "accepted" && state !== "included") events.bundleEnded(state, reason ?? "");
    }),
  );
  const losses = opening.use(new AuctionLosses({ pool, random, internalError }));
  const medianTip = (): bigint => tips.figures().landed.p50;
  const reputation = opening.use(
    new ReputationTracker({ store: stores.reputations, pool, clock, medianTip, retryableError }),
  );
  return { switches, tips, pool, losses, reputation };
}

/**
 * Opens the parts that follow the chain: its state, its leaders, the validators among them, and the blocks of bundles.
 */
function openChainParts(
  opening: AsyncDisposableStack,
  options: EngineOptions,
  dependencies: PipelineDependencies & {
    readonly pool: BundlePool;
    readonly tips: TipFloorStore;
    readonly flow: BlockFlow;
  },
) {
  const { chain, clock, warm } = dependencies;
  const { state, schedule, blockhashes } = warm;
  // What its tracker said of blocks is not followed once it ends; the next one says it anew.
  opening.defer(() => state.forget());
  const registry = openValidators(opening, options, { ...dependencies, schedule });
  const targeting = new SlotTargeting({
    clock,
    leaderAt: (slot) => schedule.leaderAt(slot),
    isConnected: (identity) => registry.validators.connected().includes(identity),
  });
  opening.use(onProcessed(chain, (slot) => targeting.slotOpened(slot)));
  const tracker = openTracker(opening, { ...dependencies, state });
  return { state, schedule, registry, targeting, blockhashes, settledThrough: () => tracker.settledThrough() };
}

/** Opens what reads the blocks of bundles, and runs it. */
function openTracker(
  opening: AsyncDisposableStack,
  dependencies: PipelineDependencies & {
    readonly pool: BundlePool;
    readonly tips: TipFloorStore;
    readonly state: ChainState;
    readonly flow: BlockFlow;
  },
): Tracker {
  const { chain, clock, random, stores, pool, state, events } = dependencies;
  const { retryableError } = events;
  const tips = new TipAccounts(dependencies.tipAccounts);
  const flow = opening.use(
    new FlowReader({
      flow: dependencies.flow,
      tips,
      events: { flowFailed: (error) => retryableError("the flow of blocks", error) },
    }),
  );
  const tracker = new Tracker(
    { catchUpSlotsMax },
    {
      chain,
      tips,
      flow,
      pool,
      state,
      clock,
      place: {
        load: () => stores.cursors.get(placeName),
        save: (place) => stores.cursors.set(placeName, place),
      },
      events: {
        blockSeen: (block) => dependencies.tips.observe(block),
        blockLost: () => {},
        blockRead: events.blockRead,
        placeLeft: (why, from) => {
          if (why !== "none")
            retryableError("the chain since the last block seen", new Error(`${why}, at slot ${from}`));
        },
      },
    },
  );
  const stepFailed = (error: unknown, failures: number): void => {
    if (failures === failuresReported) retryableError("blocks", error);
  };
  opening.use(new TrackerPace(tracker, { chain, flow, clock, random, events: { stepFailed } }));
  return tracker;
}

function openValidators(
  opening: AsyncDisposableStack,
  { fee, url, validators: allowed }: EngineOptions,
  { clock, chain, events, schedule }: PipelineDependencies & { readonly schedule: LeaderSchedule },
): ValidatorRegistry {
  const registry = createValidators(
    {
      fee,
      blockEngineUrl: url,
      allowed: allowed === null ? null : new Set(allowed),
    },
    {
      clock,
      schedule,
      events: {
        validatorConnected: (identity) => events.validatorConnected(identity),
        validatorGone: (identity, why) => events.validatorGone(identity, why),
      },
    },
  );
  const epochs = new EpochChange({
    epochOf: (slot) => schedule.epochOf(slot),
    changed: () => registry.validators.recheck(),
  });
  opening.use(onProcessed(chain, (slot) => epochs.reached(slot)));
  return registry;
}

function openSealed(
  opening: AsyncDisposableStack,
  { network, masterKey, masterKeysPrevious }: EngineOptions,
  dependencies: PipelineDependencies & Pick<BundlePipeline, "pool" | "tips" | "state" | "schedule" | "admission">,
): Pick<BundlePipeline, "ring" | "sealed"> {
  const { clock, random, chain, stores, events, pool, tips, state, schedule, admission } = dependencies;
  const ring = new KeyRing({
    store: stores.encryptionKeys,
    vault: new SecretVault(masterKey, random, masterKeysPrevious),
    random,
    clock,
    epochOf: (slot) => schedule.epochOf(slot),
  });
  opening.use(
    onProcessed(chain, (slot) => {
      ring.turn(slot).catch((error: unknown) => events.retryableError("encryption keys", error));
    }),
  );
  const { replays } = stores;
  opening.use(
    new BackgroundTask(
      { everyMs: replaySweepMs },
      { clock, work: () => sweepReplays(replays), onError: (error) => events.retryableError("replays", error) },
    ),
  );
  const sealed = new SealedBundles({
    network,
    clock,
    ring,
    admission,
    pool,
    replays,
    slot: () => state.slot(),
    tipFloor: () => tips.floor,
    decodeRequest: bundleRequestReader(),
    internalError: (error) => events.internalError("sealed bundle", error),
  });
  return { ring, sealed };
}

/** Opens the auction and its fallback, and starts their ticks. */
function openAuction(
  opening: AsyncDisposableStack,
  { tickMs }: EngineOptions,
  dependencies: PipelineDependencies &
    Pick<
      BundlePipeline,
      "pool" | "switches" | "losses" | "sealed" | "state" | "schedule" | "registry" | "settledThrough"
    > & {
      readonly simulator: Simulator;
      readonly candidates: Candidates;
      readonly targeting: SlotTargeting;
      readonly blockhashes: ValidBlockhashes;
    },
): void {
  const { clock, chain, events, isHolder, pool, candidates, registry, targeting, settledThrough } = dependencies;
  const { validators } = registry;
  const openSealedDue = async (at: OpeningTick): Promise<void> => {
    for (const { record, seen } of await dependencies.sealed.open(at)) candidates.seen(record, seen);
  };
  const auctioneer = opening.use(
    new Auctioneer({
      pool,
      candidates,
      simulator: dependencies.simulator,
      // A process that was suspended and resumes in the middle of a tick delivers nothing beside its successor.
      validators: { deliver: (identity, bundles) => isHolder() && validators.deliver(identity, bundles) },
      events,
      tipAccounts: dependencies.tipAccounts,
      settledThrough,
      target: () => targeting.target(),
      isOver: (slot) => targeting.isOver(slot),
      openSealed: openSealedDue,
      losses: dependencies.losses,
      simulatable: (bundles) => dependencies.blockhashes.simulatable(bundles),
      nowMs: () => clock.monotonic(),
    }),
  );
  const fallback = new RpcFallback({
    pool,
    chain: { send: async (transaction) => isHolder() && (await chain.send(transaction)) },
    settledThrough,
    leaderAt: (slot) => dependencies.schedule.leaderAt(slot),
    openSealed: openSealedDue,
  });
  opening.use(
    new AuctionScheduler(
      { tickMs },
      {
        clock,
        auctioneer,
        fallback,
        hasLeaders: () => validators.connected().length > 0,
        slot: () => dependencies.state.slot(),
        isHalted: () => dependencies.switches.isHalted || !isHolder(),
        internalError: events.internalError,
      },
    ),
  );
}

/**
 * Whether a connected leader has a slot for the bundle. While none is connected, a single transaction without a target
 * is reachable: it is sent to the nodes.
 */
function isReachable(
  { state, schedule }: Pick<BundlePipeline, "state" | "schedule">,
  validators: Validators,
  { target, transactionCount }: { readonly target: bigint | null; readonly transactionCount: number },
): boolean {
  const connected = validators.connected();
  const slot = state.slot();
  if (slot === null) return false;
  if (connected.length === 0) return transactionCount === 1 && target === null;
  if (target !== null) {
    const leader = schedule.leaderAt(target);
    return leader !== null && connected.includes(leader);
  }
  const next = schedule.nextOf(connected, slot);
  return next !== null && next.slot <= slot + reachSlots;
}
