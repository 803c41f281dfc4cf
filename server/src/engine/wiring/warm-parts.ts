import type { Clock, Log, Random } from "@sluice/lib";
import type { Slot } from "@sluice/wire/identifiers";
import { ChainState, LeaderSchedule, ValidBlockhashes } from "../chain/index.ts";
import type { EngineChain } from "../model/chain-port.ts";
import type { EngineEvents } from "../model/events.ts";
import { tipAccounts } from "../model/tip-accounts.ts";
import { chainAccounts, createSimulator, type Simulator } from "../simulation/index.ts";

/**
 * What an engine needs and a process that stands by may have too, since it writes nothing: the view of the chain, the
 * leaders, and the processes that simulate. They stay while engines of this process come and go, so that one that takes
 * over waits for none of them.
 */
export interface WarmParts extends AsyncDisposable {
  readonly state: ChainState;
  readonly schedule: LeaderSchedule;
  readonly blockhashes: ValidBlockhashes;
  readonly simulator: Simulator;
}

export interface WarmPartsDependencies {
  readonly chain: EngineChain;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Pick<Log, "info" | "warn">;
  readonly events: Pick<EngineEvents, "retryableError" | "machineEnded">;
}

/** Rejects, having closed everything, when the processes that simulate do not start. */
export async function openWarmParts(
  { simulators }: { readonly simulators: number },
  dependencies: WarmPartsDependencies,
): Promise<WarmParts> {
  const { chain, clock, random, log, events } = dependencies;
  const { retryableError } = events;
  await using opening = new AsyncDisposableStack();
  const state = opening.use(
    new ChainState({ chain, clock, events: { blockhashFailed: (error) => retryableError("newest blockhash", error) } }),
  );
  const schedule = opening.use(
    new LeaderSchedule({ chain, events: { scheduleFailed: (error) => retryableError("leader schedule", error) } }),
  );
  const blockhashes = new ValidBlockhashes({ clock, lifetimeOf: (blockhash) => state.blockhash(blockhash) });
  const simulator = opening.use(
    await createSimulator(
      { processes: simulators, tipAccounts: tipAccounts() },
      {
        source: chainAccounts(chain),
        clock,
        random,
        log,
        isRecentBlockhash: (blockhash) => blockhashes.has(blockhash),
        machineEnded: (reason) => events.machineEnded(reason),
      },
    ),
  );
  opening.use(onProcessed(chain, (slot) => simulator.onSlot(slot)));
  const resources = opening.move();
  return { state, schedule, blockhashes, simulator, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

/** Calls back with each processed slot. */
export const onProcessed = (chain: EngineChain, listener: (slot: Slot) => void): Disposable =>
  chain.onSlot((commitment, slot) => {
    if (commitment === "processed") listener(slot);
  });
