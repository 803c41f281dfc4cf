import type { Kept } from "../cache/index.ts";
import type { NodeAnswer, UpstreamOutcome } from "../upstreams/index.ts";
import type { Plan } from "./plan.ts";

/**
 * How long an answer may be kept (decisions: Cache classes). Errors and bare nulls are not: what is missing now may be
 * there a slot later. History is final only where that is proved: asked for as finalized, or at or below the root.
 */
export function keepingOf(plan: Plan, outcome: UpstreamOutcome, rootSlot: bigint | null): Kept<NodeAnswer> | null {
  const spec = plan.spec;
  if (!outcome.ok || spec === null || spec.cache === "never") return null;
  const value = outcome.answer;
  if (value.errorCode !== null || value.isNull || value.body.kind === "large") return null;
  if (spec.cache === "slot") return { value, until: "slot" };
  // Without parameters it is about the chain as such (genesis hash, epoch schedule).
  if (spec.parameters.length === 0) return { value, until: "final" };
  const isRooted = plan.slot !== null && rootSlot !== null && plan.slot <= rootSlot;
  const isFinalized = spec.commitment !== null && plan.commitment === "finalized";
  return { value, until: isRooted || isFinalized ? "final" : "slot" };
}

const mebibyte = 1024 * 1024;

/**
 * How large an answer may be that is gathered: as large as one that would be kept or shared (the cache keeps nothing over
 * an eighth of its bound: blocks of 8 MiB, 2 MiB of what moves with the head). What is larger, or is never kept, goes on
 * to its caller while it comes.
 */
export function gatheredBytesMax(plan: Plan): number {
  if (plan.key === null) return mebibyte;
  return plan.spec?.cache === "final" ? 8 * mebibyte : 2 * mebibyte;
}
