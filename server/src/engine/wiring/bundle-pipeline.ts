import { SecretVault } from "@sluice/lib";
import type { Address, Slot } from "@sluice/wire/identifiers";
import { Admission } from "../admission/index.ts";
import { AuctionScheduler } from "../auctioneer/auction-scheduler.ts";
import { Auctioneer } from "../auctioneer/index.ts";
import { RpcFallback } from "../auctioneer/rpc-fallback.ts";
import type { Validators } from "../model/service.ts";
import { bundleRequestReader, KeyRing, type OpeningTick, SealedBundles } from "../sealed/index.ts";
import { ReplaySweep } from "../sealed/replay-sweep.ts";
import { chainAccounts, createSimulator, type Simulator } from "../simulation/index.ts";
import { EpochChange } from "../validators/epoch-change.ts";
import { createValidators, type ValidatorRegistry } from "../validators/index.ts";
import { type ChainView, openChainView } from "./chain-view.ts";
import type { EngineDependencies, EngineOptions } from "./engine-parts.ts";
import type { Memory } from "./memory.ts";

/** Where bundles meet: what judges them, the auction, and the leaders that it sells to. */
export interface Floor {
  readonly view: ChainView;
  readonly validatorDesk: ValidatorRegistry;
  readonly admission: Admission;
  readonly sealed: SealedBundles;
  readonly ring: KeyRing;
  readonly simulator: Pick<Simulator, "facts">;
}

/** A bundle of any age is gone after so many blocks, so a leader further ahead is none for it. */
const reachSlots = 150n;

export async function openFloor(
  opening: AsyncDisposableStack,
  options: EngineOptions,
  given: EngineDependencies & { readonly memory: Memory; readonly tipAccounts: readonly Address[] },
): Promise<Floor> {
  const { clock, random, chain, stores, events, isKeeper, memory, tipAccounts } = given;
  const { pool, tips, switches } = memory;
  const taking: { validators: Validators | null } = { validators: null };
  const isConnected = (identity: Address): boolean => taking.validators?.connected().includes(identity) === true;
  const view = opening.use(
    openChainView({ chain, clock, random, values: stores.cursors, pool, tips, tipAccounts, isConnected, events }),
  );
  const validatorDesk = openValidators(opening, options, { ...given, view });
  const { validators } = validatorDesk;
  taking.validators = validators;
  const simulator = await openSimulator(opening, options, { ...given, view });
  const slot = (): Slot | null => view.state.slot();
  const admission: Admission = new Admission({
    clock,
    pool,
    simulator,
    tipAccounts: new Set(tipAccounts),
    tipFloor: () => tips.floor,
    chain: {
      slot,
      blockhash: (blockhash) => view.blockhashes.ask(blockhash),
      seen: (signatures) => view.state.seen(signatures),
      processed: (signatures) => view.state.processed(signatures),
    },
    leaders: { reachable: (target, count) => isReachable({ view, validators }, target, count) },
    simulated: (searcherId, ok) => memory.standing.simulated(searcherId, ok),
    seen: (record, effects) => auctioneer.seen(record, effects),
  });
  const { ring, sealed } = openSealed(opening, options, { ...given, view, admission });
  const settledThrough = (): Slot | null => view.settledThrough();
  const openDue = async (at: OpeningTick): Promise<void> => {
    for (const { record, seen } of await sealed.open(at)) auctioneer.seen(record, seen);
  };
  const auctioneer: Auctioneer = opening.use(
    new Auctioneer({
      pool,
      simulator,
      // A process that was stopped and wakes up in the middle of a tick hands nothing over beside its successor.
      validators: { deliver: (identity, bundles) => isKeeper() && validators.deliver(identity, bundles) },
      events,
      tipAccounts,
      settledThrough,
      target: () => view.building.target(),
      isOver: (at) => view.building.isOver(at),
      openSealed: openDue,
      lost: (bids) => memory.losses.note(bids),
      simulatable: (bundles) => view.blockhashes.simulatable(bundles),
      nowMs: () => clock.monotonic(),
    }),
  );
  opening.use(
    new AuctionScheduler(options.tickMs, {
      auctioneer,
      fallback: new RpcFallback({
        pool,
        chain: { send: async (transaction) => isKeeper() && (await chain.send(transaction)) },
        settledThrough,
        leaderAt: (at) => view.schedule.leaderAt(at),
        openSealed: openDue,
      }),
      hasLeaders: () => validators.connected().length > 0,
      slot,
      isHalted: () => switches.isHalted || !isKeeper(),
      internalError: events.internalError,
    }),
  );
  return { view, validatorDesk, admission, sealed, ring, simulator };
}

/** Whether a leader that takes bundles has a slot for it; where none takes any, a single transaction for any slot travels alone. */
function isReachable(
  { view, validators }: { readonly view: ChainView; readonly validators: Validators },
  target: bigint | null,
  transactionCount: number,
): boolean {
  const connected = validators.connected();
  const slot = view.state.slot();
  if (slot === null) return false;
  if (connected.length === 0) return transactionCount === 1 && target === null;
  if (target !== null) {
    const leader = view.schedule.leaderAt(target);
    return leader !== null && connected.includes(leader);
  }
  const next = view.schedule.nextOf(connected, slot);
  return next !== null && next.slot <= slot + reachSlots;
}

function openValidators(
  opening: AsyncDisposableStack,
  { fee, url, validators: allowed }: EngineOptions,
  { clock, chain, events, view }: EngineDependencies & { readonly view: ChainView },
): ValidatorRegistry {
  const { schedule } = view;
  const desk = createValidators(
    {
      fee,
      endpoint: { blockEngineUrl: url, shredstreamReceiver: "" },
      allowed: allowed === null ? null : new Set(allowed),
    },
    {
      clock,
      schedule,
      events: {
        validatorConnected: (identity) => events.validatorConnected(identity),
        packetsSubscribed: () => {},
        validatorGone: (identity, why) => events.validatorGone(identity, why),
        bundlesDelivered: () => {},
        deliveryRefused: () => {},
      },
    },
  );
  const epochs = new EpochChange({
    epochOf: (slot) => schedule.epochOf(slot),
    changed: () => desk.validators.recheck(),
  });
  opening.use(
    chain.onSlot((commitment, slot) => {
      if (commitment === "processed") epochs.reached(slot);
    }),
  );
  return desk;
}

async function openSimulator(
  opening: AsyncDisposableStack,
  { simulators }: EngineOptions,
  given: EngineDependencies & { readonly tipAccounts: readonly Address[]; readonly view: ChainView },
): Promise<Simulator> {
  const { clock, random, chain, log, events, tipAccounts, view } = given;
  const simulator = opening.use(
    await createSimulator(
      { processes: simulators, tipAccounts },
      {
        source: chainAccounts(chain),
        clock,
        random,
        log,
        isRecentBlockhash: (blockhash) => view.blockhashes.has(blockhash),
        machineEnded: (reason) => events.machineEnded(reason),
      },
    ),
  );
  opening.use(
    chain.onSlot((commitment, slot) => {
      if (commitment === "processed") simulator.onSlot(slot);
    }),
  );
  return simulator;
}

function openSealed(
  opening: AsyncDisposableStack,
  { network, masterKey }: EngineOptions,
  given: EngineDependencies & { readonly memory: Memory; readonly view: ChainView; readonly admission: Admission },
): { readonly ring: KeyRing; readonly sealed: SealedBundles } {
  const { clock, random, chain, stores, events, memory, view, admission } = given;
  const ring = new KeyRing({
    store: stores.encryptionKeys,
    vault: new SecretVault(masterKey, random),
    random,
    clock,
    epochOf: (slot) => view.schedule.epochOf(slot),
  });
  opening.use(
    chain.onSlot((commitment, slot) => {
      if (commitment !== "processed") return;
      ring.turn(slot).catch((error: unknown) => events.retryableError("encryption keys", error));
    }),
  );
  const retryableError = (what: string, error: unknown): void => events.retryableError(what, error);
  opening.use(new ReplaySweep({ replays: stores.replays, retryableError }));
  const sealed = new SealedBundles({
    network,
    clock,
    ring,
    admission,
    pool: memory.pool,
    replays: stores.replays,
    slot: () => view.state.slot(),
    tipFloor: () => memory.tips.floor,
    decodeRequest: bundleRequestReader(),
    internalError: (error) => events.internalError("sealed bundle", error),
  });
  return { ring, sealed };
}
