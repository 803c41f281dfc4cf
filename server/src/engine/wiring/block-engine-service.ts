import type { BundleReason } from "@sluice/contract/engine";
import { SluiceError } from "@sluice/contract/errors";
import type { Address, Slot } from "@sluice/wire/identifiers";
import type { Admission } from "../admission/index.ts";
import type { LeaderSchedule } from "../chain/index.ts";
import type { BundleIngress, BundlePool, BundleRecord, Searcher } from "../model/bundle.ts";
import { EngineChainError, type EngineLimitDecision } from "../model/ports.ts";
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

export interface FrontDeskDependencies {
  readonly admission: Pick<Admission, "submit">;
  readonly sealed: Pick<SealedBundles, "submit">;
  readonly book: Pick<BundlePool, "get" | "liveOf" | "liveCountOf" | "onChange">;
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
/** Bundles that one searcher may have in flight: a fifth of all that there can be, so that no one fills the book. */
const inFlightMax = 10_000;
const bundleIdForm = /^[0-9a-f]{64}$/;

/** What all doors ask, whatever they speak. */
export class FrontDesk implements BlockEngineService, Disposable {
  readonly #deps: FrontDeskDependencies;
  readonly #followers = new Map<string, Set<(record: BundleRecord) => void>>();
  readonly #following: Disposable;

  constructor(dependencies: FrontDeskDependencies) {
    this.#deps = dependencies;
    this.#following = dependencies.book.onChange((record) => {
      for (const listener of this.#followers.get(record.searcherId) ?? []) listener(record);
    });
  }

  get tipAccounts(): readonly Address[] {
    return this.#deps.tipAccounts;
  }

  get losses(): LossReports {
    return this.#deps.losses;
  }

  get isInMaintenance(): boolean {
    return this.#deps.isInMaintenance();
  }

  async submit(submission: BundleSubmission, searcher: Searcher): Promise<SubmitOutcome> {
    const { submitted, nowMs } = this.#deps;
    const startedMs = nowMs();
    const outcome = this.#refused(searcher) ?? (await this.#judged(submission, searcher));
    submitted(searcher, submission.door, outcome, nowMs() - startedMs);
    return asItStands(outcome);
  }

  /** What can be said without a look at the bundle; null where it has to be looked at. */
  #refused({ id }: Searcher): SubmitOutcome | null {
    const refuse = (reason: BundleReason, detail: string | null): SubmitOutcome => {
      return { accepted: false, id: "", reason, detail, tipFloor: this.tipFloor().floor };
    };
    if (this.isInMaintenance) return refuse("maintenance", null);
    if (this.#deps.book.liveCountOf(id) < inFlightMax) return null;
    return refuse("rate_limited", `${inFlightMax} bundles are in flight`);
  }

  /** Throws OVERLOADED where nothing can be said of the bundle now. */
  async #judged(submission: BundleSubmission, searcher: Searcher): Promise<SubmitOutcome> {
    const { admission, sealed } = this.#deps;
    try {
      if (submission.sealed === null) return await admission.submit(submission, searcher);
      return await sealed.submit(submission.sealed, submission, searcher);
    } catch (caught) {
      if (!(caught instanceof EngineChainError)) throw caught;
      const message = "The chain cannot be asked now; try again shortly.";
      throw new SluiceError("OVERLOADED", { message, cause: caught });
    }
  }

  async get(id: string): Promise<BundleRecord | null> {
    return bundleIdForm.test(id) ? await this.#deps.book.get(id) : null;
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
    return this.#deps.book.liveOf(searcherId);
  }

  takeRate(searcher: Searcher): EngineLimitDecision | Promise<EngineLimitDecision> {
    return this.#deps.limits.take(searcher);
  }

  tipFloor(): TipFloorFigures {
    return this.#deps.tipFloor();
  }

  reputation(searcherId: string): Promise<ReputationFigures> {
    return this.#deps.reputation(searcherId);
  }

  currentSlot(): Slot | null {
    return this.#deps.slot();
  }

  nextLeader(): UpcomingLeader | null {
    const slot = this.#deps.slot();
    return slot === null ? null : this.#deps.schedule.nextOf(this.#deps.validators.connected(), slot);
  }

  connectedLeaders(): ReadonlyMap<Address, readonly Slot[]> {
    const slot = this.#deps.slot() ?? 0n;
    const { schedule, validators } = this.#deps;
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
