import { type BundleReason, engineLimits, type MevType, mevTypes, shownState } from "@sluice/contract/engine";
import { errorTable } from "@sluice/contract/errors";
import type {
  BundleConfirmationMessage,
  BundleRequestMessage,
  BundleResponseMessage,
  ReputationMessage,
  TipFloorMessage,
} from "@sluice/contract/proto";
import type { RateLimiter } from "../../limits/index.ts";
import { type CallContext, GrpcStatusError } from "../../net/index.ts";
import type { BundleIngress, BundleRecord, Searcher } from "../model/bundle.ts";
import { reasonText } from "../model/reason-text.ts";
import type { BlockEngineService, BundleContent, BundleSubmission, SubmitOutcome } from "../model/service.ts";
import { admitKey, type KeyAdmissionDependencies } from "./key-admission.ts";
import type { Refusals } from "./refusals.ts";

/** A bundle out of its message, or the fault of a field that has no meaning, whatever the bundle holds. */
export type ReadSubmission =
  | { readonly ok: true; readonly submission: BundleSubmission }
  | { readonly ok: false; readonly content: BundleContent; readonly fault: string };

export function readSubmission(message: BundleRequestMessage, ingress: BundleIngress): ReadSubmission {
  const { transactions, tip, target_slot: targetSlot } = message;
  const content = { transactions, sealed: sealedOf(message), ingress };
  const refuse = (fault: string): ReadSubmission => ({ ok: false, content, fault });
  if (content.sealed !== null && transactions.length > 0)
    return refuse("encrypted_payload stands in place of transactions, not beside them");
  const mevType = mevTypeOf(message.mev_type);
  if (mevType === null) return refuse(`mev_type is one of ${mevTypes.join(", ")}`);
  const claim = { tip: BigInt(tip), mevType, targetSlot: targetSlot === undefined ? null : BigInt(targetSlot) };
  return { ok: true, submission: { ...content, ...claim } };
}

/** Clients that set each field of a message set this one to nothing where they have no envelope. */
const sealedOf = ({ encrypted_payload: sealed }: BundleRequestMessage): Uint8Array | null =>
  sealed === undefined || sealed.length === 0 ? null : sealed;

/** In any letter case. A field that was not set is an empty text in this protocol, and stands for `unknown`. */
function mevTypeOf(text: string): MevType | null {
  return text === "" ? "unknown" : (mevTypes.find((each) => each === text.toLowerCase()) ?? null);
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
      logs: bundle.logs ?? [],
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

/** A bundle that was not checked. */
export function droppedAtOnce(
  engine: BlockEngineService,
  content: BundleContent,
  {
    reason,
    detail,
  }: {
    readonly reason: Extract<BundleReason, "maintenance" | "rate_limited" | "invalid_field" | "engine_overloaded">;
    readonly detail?: string;
  },
): Rejected {
  return { ok: false, id: engine.idOf(content), reason, detail: detail ?? null, tipFloor: engine.tipFloor().floor };
}

export interface BlockEngineDependencies extends KeyAdmissionDependencies {
  readonly engine: BlockEngineService;
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
    const { engine, records } = this.#dependencies;
    const { searcher } = await admitKey(this.#dependencies, context, "bundles:write");
    await checkOpen(this.#dependencies, searcher);
    const read = readSubmission(message, "grpc");
    if (!read.ok) throw new GrpcStatusError("INVALID_ARGUMENT", read.fault);
    const outcome = await engine.submit(read.submission, searcher);
    const answer = answerOf(outcome);
    if (!outcome.ok) records.rejected(context, outcome.reason);
    return answer;
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
    const { limits } = this.#dependencies;
    const { grant, searcher } = await admitKey(this.#dependencies, context, "read");
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
  const { id, reason, detail, logs = [] } = outcome;
  return { bundle_id: id, status: "rejected", reason: reasonText(reason, detail), tip_floor, logs };
}
