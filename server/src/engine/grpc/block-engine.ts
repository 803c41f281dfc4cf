import { type BundleReason, engineLimits, type MevType, mevTypes, shownState } from "@sluice/contract/engine";
import { errorTable } from "@sluice/contract/errors";
import type {
  BundleConfirmationMessage,
  BundleRequestMessage,
  BundleResponseMessage,
  ReputationMessage,
  TipFloorMessage,
} from "@sluice/contract/proto";
import type { Access } from "../../access/index.ts";
import type { RateLimiter } from "../../limits/index.ts";
import { type CallContext, GrpcStatusError } from "../../net/index.ts";
import type { BundleIngress, BundleRecord, Searcher } from "../model/bundle.ts";
import type { BlockEngineService, BundleSubmission, SubmitOutcome } from "../model/service.ts";
import { admitKey } from "./key-admission.ts";
import type { Refusals } from "./refusals.ts";

/** A bundle out of its message. Throws INVALID_ARGUMENT where the message has no meaning, whatever the bundle holds. */
export function submissionOf(message: BundleRequestMessage, ingress: BundleIngress): BundleSubmission {
  const sealed = sealedOf(message);
  if (sealed !== null && message.transactions.length > 0) {
    throw new GrpcStatusError("INVALID_ARGUMENT", "encrypted_payload stands in place of transactions, not beside them");
  }
  return {
    transactions: message.transactions,
    tip: BigInt(message.tip),
    mevType: mevTypeOf(message.mev_type),
    targetSlot: message.target_slot === undefined ? null : BigInt(message.target_slot),
    sealed,
    ingress,
  };
}

/** Clients that set each field of a message set this one to nothing where they have no envelope. */
const sealedOf = ({ encrypted_payload: sealed }: BundleRequestMessage): Uint8Array | null =>
  sealed === undefined || sealed.length === 0 ? null : sealed;

/** In any letter case. A field that was not set is an empty text in this protocol, and stands for `unknown`. */
function mevTypeOf(text: string): MevType {
  const found = text === "" ? "unknown" : mevTypes.find((each) => each === text.toLowerCase());
  if (found !== undefined) return found;
  throw new GrpcStatusError("INVALID_ARGUMENT", `mev_type is one of ${mevTypes.join(", ")}`);
}

/** How a reason is written: a failed simulation reports what the program said. */
export function reasonText(reason: BundleReason, detail: string | null): string {
  return reason === "simulation_failed" && detail !== null ? `${reason}: ${detail}` : reason;
}

type Rejected = Extract<SubmitOutcome, { readonly ok: false }>;

/**
 * A bundle as the stream reports it: slot and signatures while it is in a block, the reason when it is in none any
 * more.
 */
export function confirmationOf(bundle: BundleRecord | Rejected): BundleConfirmationMessage {
  if (!("state" in bundle)) {
    return {
      bundle_id: bundle.id,
      status: "dropped",
      signatures: [],
      reason: reasonText(bundle.reason, bundle.detail),
    };
  }
  const { id, reason, detail, landed } = bundle;
  const status = shownState(bundle.state);
  if (status === "included" && landed !== null) {
    return { bundle_id: id, status, slot: String(landed.slot), signatures: bundle.signatures };
  }
  const why = reason === null ? {} : { reason: reasonText(reason, detail) };
  return { bundle_id: id, status, signatures: [], ...why };
}

/** A bundle that was not read; it has no id. */
export function droppedAtOnce(
  engine: BlockEngineService,
  reason: Extract<BundleReason, "maintenance" | "rate_limited">,
): Rejected {
  return { ok: false, id: "", reason, detail: null, tipFloor: engine.tipFloor().floor };
}

export interface BlockEngineDependencies {
  readonly engine: BlockEngineService;
  /** Access to the engine's network. */
  readonly access: Pick<Access, "admit">;
  readonly limits: RateLimiter;
  readonly refusals: Refusals;
}

/** After maintenance has been reported, a client tries again no sooner. */
export const maintenanceRetrySeconds = 5;

/** The methods of `blockengine.v1.BlockEngine` that have one answer. */
export class BlockEngine {
  readonly #dependencies: BlockEngineDependencies;

  constructor(dependencies: BlockEngineDependencies) {
    this.#dependencies = dependencies;
  }

  async submitBundle(message: BundleRequestMessage, context: CallContext): Promise<BundleResponseMessage> {
    const { engine, access } = this.#dependencies;
    const { searcher } = await admitKey(access, context, "bundles:write");
    await checkOpen(this.#dependencies, searcher);
    return answerOf(await engine.submit(submissionOf(message, "grpc"), searcher));
  }

  async tipFloor(context: CallContext): Promise<TipFloorMessage> {
    await this.#admitReader(context);
    const { floor, average24h, utilization } = this.#dependencies.engine.tipFloor();
    return { tip_floor: String(floor), tip_floor_24h_avg: String(average24h), utilization };
  }

  async reputation(context: CallContext): Promise<ReputationMessage> {
    const searcher = await this.#admitReader(context);
    const figures = await this.#dependencies.engine.reputation(searcher.id);
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
 * Throws UNAVAILABLE in maintenance, and RESOURCE_EXHAUSTED where the searcher's bucket is empty, the latter no faster
 * than refusals are reported; else takes a token of it.
 */
export async function checkOpen(
  { engine, refusals }: Pick<BlockEngineDependencies, "engine" | "refusals">,
  searcher: Searcher,
): Promise<void> {
  if (engine.isInMaintenance) throw inMaintenance();
  const { allowed, retryAfterSeconds } = await engine.takeRate(searcher);
  if (allowed) return;
  await refusals.pace(searcher.id);
  throw rateLimited(retryAfterSeconds);
}

export const inMaintenance = (): GrpcStatusError =>
  new GrpcStatusError("UNAVAILABLE", "The block engine is in maintenance", {
    retryAfterSeconds: maintenanceRetrySeconds,
  });
export const rateLimited = (retryAfterSeconds: number): GrpcStatusError =>
  new GrpcStatusError("RESOURCE_EXHAUSTED", errorTable.RATE_LIMIT_EXCEEDED.text, { retryAfterSeconds });

/**
 * A bundle's fault is an answer, not a status. One that was taken before and has failed since is reported as rejected
 * for the reason it failed: `accepted` would promise what cannot come any more.
 */
function answerOf(outcome: SubmitOutcome): BundleResponseMessage {
  const tip_floor = String(outcome.tipFloor);
  if (outcome.ok) {
    const { id, state, reason, detail } = outcome.record;
    const hasFailed = (state === "dropped" || state === "expired") && reason !== null;
    if (hasFailed) return { bundle_id: id, status: "rejected", reason: reasonText(reason, detail), tip_floor };
    return { bundle_id: id, status: "accepted", tip_floor };
  }
  if (outcome.reason === "maintenance") throw inMaintenance();
  if (outcome.reason === "rate_limited") throw rateLimited(1);
  return { bundle_id: outcome.id, status: "rejected", reason: reasonText(outcome.reason, outcome.detail), tip_floor };
}
