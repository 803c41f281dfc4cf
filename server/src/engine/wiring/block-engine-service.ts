import type { BundleReason } from "@sluice/contract/engine";
import { SluiceError } from "@sluice/contract/errors";
import type { Address, Slot } from "@sluice/wire/identifiers";
import type { LimitDecision } from "../../limits/index.ts";
import type { Admission } from "../admission/index.ts";
import type { LeaderSchedule } from "../chain/index.ts";
import type { BundleIngress, BundlePool, BundleRecord, Searcher } from "../model/bundle.ts";
import { EngineChainError } from "../model/ports.ts";
import type {
  BlockEngineService,
  BundleSubmission,
  LossReports,
  ReputationFigures,
  SubmitOutcome,
  TipFloorFigures,
  UpcomingLeader,
  Validators,
} from "../model/service.ts";
import type { SearcherLimits } from "../reputation/searcher-limits.ts";
import type { SealedBundles } from "../sealed/index.ts";

export interface BundleServiceDependencies {
  readonly admission: Pick<Admission, "submit">;
  readonly sealed: Pick<SealedBundles, "submit">;
  readonly pool: Pick<BundlePool, "get" | "liveOf" | "liveCountOf" | "onChange">;
  readonly limits: Pick<SearcherLimits, "take">;
  readonly losses: LossReports;
  readonly schedule: Pick<LeaderSchedule, "nextOf" | "slotsOf">;
  readonly validators: Validators;
  readonly tipAccounts: readonly Address[];
  readonly slot: () => Slot | null;
  readonly tipFloor: () => TipFloorFigures;
  readonly reputation: (searcherId: string) => Promise<ReputationFigures>;
  readonly isInMaintenance: () => boolean;
  readonly nowMs: () => number;
  /** A bundle came in and was answered. */
  readonly submitted: (searcher: Searcher, door: BundleIngress, outcome: SubmitOutcome, latencyMs: number) => void;
}

/** Slots of a connected leader that are told. */
const slotsTold = 16;
/** Bundles that one searcher may have in flight: a fifth of all that there can be, so that no one fills the pool. */
const inFlightMax = 10_000;
const bundleIdForm = /^[0-9a-f]{64}$/;

/** What all doors ask, whatever they speak. */
export class BundleService implements BlockEngineService, Disposable {
  readonly #dependencies: BundleServiceDependencies;
  readonly #followers = new Map<string, Set<(record: BundleRecord) => void>>();
  readonly #following: Disposable;

  constructor(dependencies: BundleServiceDependencies) {
    this.#dependencies = dependencies;
    this.#following = dependencies.pool.onChange((record) => {
      for (const listener of this.#followers.get(record.searcherId) ?? []) listener(record);
    });
  }

  get tipAccounts(): readonly Address[] {
    return this.#dependencies.tipAccounts;
  }

  get losses(): LossReports {
    return this.#dependencies.losses;
  }

  get isInMaintenance(): boolean {
    return this.#dependencies.isInMaintenance();
  }

  async submit(submission: BundleSubmission, searcher: Searcher): Promise<SubmitOutcome> {
    const { submitted, nowMs } = this.#dependencies;
    const startedMs = nowMs();
    const outcome = this.#refused(searcher) ?? (await this.#judged(submission, searcher));
    submitted(searcher, submission.ingress, outcome, nowMs() - startedMs);
    return asItStands(outcome);
  }

  /** What can be said without a look at the bundle; null where it has to be looked at. */
  #refused({ id }: Searcher): SubmitOutcome | null {
    const refuse = (reason: BundleReason, detail: string | null): SubmitOutcome => {
      return { accepted: false, id: "", reason, detail, tipFloor: this.tipFloor().floor };
    };
    if (this.isInMaintenance) return refuse("maintenance", null);
    if (this.#dependencies.pool.liveCountOf(id) < inFlightMax) return null;
    return refuse("rate_limited", `${inFlightMax} bundles are in flight`);
  }

  /** Throws OVERLOADED where nothing can be said of the bundle now. */
  async #judged(submission: BundleSubmission, searcher: Searcher): Promise<SubmitOutcome> {
    const { admission, sealed } = this.#dependencies;
    try {
      if (submission.sealed === null) return await admission.submit(submission, searcher);
      return await sealed.submit(submission.sealed, submission, searcher);
    } catch (error) {
      if (!(error instanceof EngineChainError)) throw error;
      const message = "The chain cannot be asked now; try again shortly.";
      throw new SluiceError("OVERLOADED", { message, cause: error });
    }
  }

  async get(id: string): Promise<BundleRecord | null> {
    return bundleIdForm.test(id) ? await this.#dependencies.pool.get(id) : null;
  }

  follow(searcherId: string, listener: (record: BundleRecord) => void): Disposable {
    const listeners = this.#followers.get(searcherId) ?? new Set();
    this.#followers.set(searcherId, listeners.add(listener));
    return {
      [Symbol.dispose]: () => {
        listeners.delete(listener);
        if (listeners.size === 0 && this.#followers.get(searcherId) === listeners) this.#followers.delete(searcherId);
      },
    };
  }

  inFlight(searcherId: string): readonly BundleRecord[] {
    return this.#dependencies.pool.liveOf(searcherId);
  }

  takeRate(searcher: Searcher): LimitDecision | Promise<LimitDecision> {
    return this.#dependencies.limits.take(searcher);
  }

  tipFloor(): TipFloorFigures {
    return this.#dependencies.tipFloor();
  }

  reputation(searcherId: string): Promise<ReputationFigures> {
    return this.#dependencies.reputation(searcherId);
  }

  currentSlot(): Slot | null {
    return this.#dependencies.slot();
  }

  nextLeader(): UpcomingLeader | null {
    const slot = this.#dependencies.slot();
    return slot === null ? null : this.#dependencies.schedule.nextOf(this.#dependencies.validators.connected(), slot);
  }

  connectedLeaders(): ReadonlyMap<Address, readonly Slot[]> {
    const slot = this.#dependencies.slot() ?? 0n;
    const { schedule, validators } = this.#dependencies;
    return new Map(validators.connected().map((identity) => [identity, schedule.slotsOf(identity, slot, slotsTold)]));
  }

  [Symbol.dispose](): void {
    this.#following[Symbol.dispose]();
    this.#followers.clear();
  }
}

/** One that was taken before and has failed since is refused for that reason: it does not compete a second time. */
function asItStands(outcome: SubmitOutcome): SubmitOutcome {
  if (!outcome.accepted) return outcome;
  const { id, state, reason, detail } = outcome.record;
  if ((state !== "dropped" && state !== "expired") || reason === null) return outcome;
  return { accepted: false, id, reason, detail, tipFloor: outcome.tipFloor };
}
