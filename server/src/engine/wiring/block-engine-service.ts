import type { BundleReason } from "@sluice/contract/engine";
import { SluiceError } from "@sluice/contract/errors";
import type { Address, Slot } from "@sluice/wire/identifiers";
import type { Admission } from "../admission/index.ts";
import type { LeaderSchedule } from "../chain/index.ts";
import type { BundleIngress, BundlePool, Searcher } from "../model/bundle.ts";
import { EngineChainError } from "../model/ports.ts";
import type {
  BlockEngineService,
  BundleSubmission,
  LossReports,
  SubmitOutcome,
  TipFloorFigures,
  Validators,
} from "../model/service.ts";
import type { SearcherLimits } from "../reputation/index.ts";
import type { SealedBundles } from "../sealed/index.ts";

export interface BlockEngineServiceDependencies {
  readonly admission: Pick<Admission, "submit">;
  readonly sealed: Pick<SealedBundles, "submit">;
  readonly pool: Pick<BundlePool, "get" | "liveOf" | "liveCountOf" | "follow">;
  readonly limits: Pick<SearcherLimits, "take">;
  readonly losses: LossReports;
  readonly schedule: Pick<LeaderSchedule, "nextOf" | "slotsOf">;
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
      const outcome = refusedUnseen(searcher, dependencies) ?? (await admit(submission, searcher, dependencies));
      dependencies.submitted(searcher, submission.ingress, outcome, nowMs() - startedMs);
      return presentOutcome(outcome);
    },
    get: async (id) => (bundleIdForm.test(id) ? await pool.get(id) : null),
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
function refusedUnseen(
  { id }: Searcher,
  { pool, tipFloor, isInMaintenance }: BlockEngineServiceDependencies,
): SubmitOutcome | null {
  const refuse = (reason: BundleReason, detail: string | null): SubmitOutcome => {
    return { accepted: false, id: "", reason, detail, tipFloor: tipFloor().floor };
  };
  if (isInMaintenance()) return refuse("maintenance", null);
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
  if (!outcome.accepted) return outcome;
  const { id, state, reason, detail } = outcome.record;
  if ((state !== "dropped" && state !== "expired") || reason === null) return outcome;
  return { accepted: false, id, reason, detail, tipFloor: outcome.tipFloor };
}
