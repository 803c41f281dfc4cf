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
  if (value.errorCode !== null || value.isNull) return null;
  if (spec.cache === "slot") return { value, until: "slot" };
  // Without parameters it is about the chain as such (genesis hash, epoch schedule).
  if (spec.parameters.length === 0) return { value, until: "final" };
  const isRooted = plan.slot !== null && rootSlot !== null && plan.slot <= rootSlot;
  const isFinalized = spec.commitment !== null && plan.commitment === "finalized";
  return { value, until: isRooted || isFinalized ? "final" : "slot" };
}
