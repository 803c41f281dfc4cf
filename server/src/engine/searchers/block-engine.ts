import { engineLimits } from "@sluice/contract/engine";
import { errorTable } from "@sluice/contract/errors";
import type {
  BundleRequestMessage,
  BundleResponseMessage,
  ReputationMessage,
  TipFloorMessage,
} from "@sluice/contract/proto";
import type { Access } from "../../access/index.ts";
import type { RateLimiter } from "../../limits/index.ts";
import { type CallContext, CallFault } from "../calls/index.ts";
import type { Searcher } from "../model/bundle.ts";
import type { BlockEngineService, SubmitOutcome } from "../model/service.ts";
import { admitKey } from "./key-admission.ts";
import type { Refusals } from "./refusals.ts";
import { reasonText, submissionOf } from "./request.ts";

export interface BlockEngineDependencies {
  readonly desk: BlockEngineService;
  /** Access to the engine's network. */
  readonly access: Pick<Access, "admit">;
  readonly limits: RateLimiter;
  readonly refusals: Refusals;
}

/** After maintenance has been told, a client tries again no sooner. */
export const maintenanceRetrySeconds = 5;

/** The methods of `blockengine.v1.BlockEngine` that have one answer. */
export class BlockEngine {
  readonly #dependencies: BlockEngineDependencies;

  constructor(dependencies: BlockEngineDependencies) {
    this.#dependencies = dependencies;
  }

  async submitBundle(message: BundleRequestMessage, context: CallContext): Promise<BundleResponseMessage> {
    const { desk, access } = this.#dependencies;
    const { searcher } = await admitKey(access, context, "bundles:write");
    await checkOpen(this.#dependencies, searcher);
    return answerOf(await desk.submit(submissionOf(message, "grpc"), searcher));
  }

  async tipFloor(context: CallContext): Promise<TipFloorMessage> {
    await this.#admitReader(context);
    const { floor, average24h, utilization } = this.#dependencies.desk.tipFloor();
    return { tip_floor: String(floor), tip_floor_24h_avg: String(average24h), utilization };
  }

  async reputation(context: CallContext): Promise<ReputationMessage> {
    const searcher = await this.#admitReader(context);
    const figures = await this.#dependencies.desk.reputation(searcher.id);
    return {
      score: figures.score,
      tier: figures.tier,
      landing_rate: figures.landingRate,
      sim_success: figures.simSuccess,
      bundles_submitted: String(figures.submitted),
      bundles_landed: String(figures.landed),
    };
  }

  /** Reads have the rate that REST gives one address, for each key. */
  async #admitReader(context: CallContext): Promise<Searcher> {
    const { access, limits } = this.#dependencies;
    const { grant, searcher } = await admitKey(access, context, "read");
    const rate = engineLimits.restRequestsPerSecondPerAddress;
    const { allowed, retryAfterSeconds } = await limits.take(`engine-grpc:${grant.keyId}`, rate, rate);
    if (!allowed) throw rateLimited(retryAfterSeconds);
    return searcher;
  }
}

/**
 * Throws UNAVAILABLE in maintenance, and RESOURCE_EXHAUSTED where the searcher's bucket is empty, the latter no faster than
 * refusals are told; else takes a token of it.
 */
export async function checkOpen(
  { desk, refusals }: Pick<BlockEngineDependencies, "desk" | "refusals">,
  searcher: Searcher,
): Promise<void> {
  if (desk.isInMaintenance) throw inMaintenance();
  const { allowed, retryAfterSeconds } = await desk.takeRate(searcher);
  if (allowed) return;
  await refusals.pace(searcher.id);
  throw rateLimited(retryAfterSeconds);
}

export const inMaintenance = (): CallFault =>
  new CallFault("UNAVAILABLE", "The block engine is in maintenance", { retryAfterSeconds: maintenanceRetrySeconds });
export const rateLimited = (retryAfterSeconds: number): CallFault =>
  new CallFault("RESOURCE_EXHAUSTED", errorTable.RATE_LIMIT_EXCEEDED.text, { retryAfterSeconds });

/**
 * A bundle's fault is an answer, not a status. One that was taken before and has failed since is told as rejected for the
 * reason it failed: `accepted` would promise what cannot come any more.
 */
function answerOf(outcome: SubmitOutcome): BundleResponseMessage {
  const tip_floor = String(outcome.tipFloor);
  if (outcome.accepted) {
    const { id, state, reason, detail } = outcome.record;
    const hasFailed = (state === "dropped" || state === "expired") && reason !== null;
    if (hasFailed) return { bundle_id: id, status: "rejected", reason: reasonText(reason, detail), tip_floor };
    return { bundle_id: id, status: "accepted", tip_floor };
  }
  if (outcome.reason === "maintenance") throw inMaintenance();
  if (outcome.reason === "rate_limited") throw rateLimited(1);
  return { bundle_id: outcome.id, status: "rejected", reason: reasonText(outcome.reason, outcome.detail), tip_floor };
}
