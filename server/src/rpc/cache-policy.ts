import type { Retention } from "../cache/index.ts";
import type { NodeAnswer, UpstreamOutcome } from "../upstreams/index.ts";
import type { Plan } from "./plan.ts";

/**
 * How long an answer may be stored (decisions.md, Cache classes); null for not at all. Errors and bare nulls are never
 * stored: what is missing now may exist a slot later. History is final only where that is proved: requested as finalized,
 * or at or below the root.
 */
export function retentionOf(
  plan: Plan,
  outcome: UpstreamOutcome,
  rootSlot: bigint | null,
): Retention<NodeAnswer> | null {
  const spec = plan.spec;
  if (!outcome.ok || spec === null || spec.cache === "never") return null;
  const value = outcome.answer;
  if (value.errorCode !== null || value.isNull || value.body.kind === "large") return null;
  if (spec.cache === "slot") return { value, until: "slot" };
  // A method without parameters is about the chain as a whole (genesis hash, epoch schedule).
  if (spec.parameters.length === 0) return { value, until: "final" };
  const isRooted = plan.slot !== null && rootSlot !== null && plan.slot <= rootSlot;
  const isFinalized = spec.commitment !== null && plan.commitment === "finalized";
  return { value, until: isRooted || isFinalized ? "final" : "slot" };
}

const mebibyte = 1024 * 1024;

/**
 * Bytes up to which an answer is gathered whole: as many as one that would be stored or shared may have (the cache stores
 * nothing over an eighth of its bound: 8 MiB of history, 2 MiB of what moves with the head). A larger answer, or one that
 * is never stored, is streamed to its caller.
 */
export function gatheredBytesMax(plan: Plan): number {
  if (plan.key === null) return mebibyte;
  return plan.spec?.cache === "final" ? 8 * mebibyte : 2 * mebibyte;
}
