import type { BundleReason, BundleState } from "@sluice/contract/engine";
import type { BundleChange, BundleRecord } from "./bundle.ts";

/**
 * The states that can follow each state. A finalized block is never lost, so nothing leaves `finalized`; a
 * bundle that its fork loses does not compete again, since its searcher priced it for the block it was in. The branch
 * that won may hold it all the same: then it is included in another block.
 */
const nextStates: Readonly<Record<BundleState, readonly BundleState[]>> = {
  accepted: ["included", "dropped", "expired"],
  included: ["included", "finalized", "dropped"],
  finalized: [],
  dropped: [],
  expired: [],
};

/** Whether no state follows. */
export function isTerminal(state: BundleState): boolean {
  return nextStates[state].length === 0;
}

/** Whether a bundle can reach one state from the other by any number of steps, zero included. */
export function canBecome(from: BundleState, to: BundleState): boolean {
  return from === to || nextStates[from].some((next) => next !== from && canBecome(next, to));
}

/** Reasons for which a bundle that was included is dropped. */
const lost: ReadonlySet<BundleReason> = new Set(["fork", "chain_changed"]);

/**
 * What was included is dropped by its fork or with its chain and by nothing else, and what was not has no fork to lose.
 * To be included in the block that it is in already is no step.
 */
function isPossible({ state, landed }: BundleRecord, change: BundleChange): boolean {
  if (!nextStates[state].includes(change.to)) return false;
  if (change.to === "included") return landed?.slot !== change.slot || landed.blockhash !== change.blockhash;
  if (change.to !== "dropped") return true;
  return state === "included" ? lost.has(change.reason) : change.reason !== "fork";
}

/**
 * The record after a step, or null where the lifecycle has no such step. `now` in Unix milliseconds; a clock that was
 * set back does not set `changedAt` back. Source: the specification's "States and transitions".
 */
export function stepped(record: BundleRecord, change: BundleChange, now: number): BundleRecord | null {
  if (!isPossible(record, change)) return null;
  const changedAt = Math.max(now, record.changedAt);
  switch (change.to) {
    case "included": {
      const landed = { slot: change.slot, blockhash: change.blockhash, index: change.index };
      return { ...record, state: "included", landed, tipSeen: change.tip, changedAt };
    }
    case "finalized":
      return { ...record, state: "finalized", landed: change.landed ?? record.landed, changedAt };
    default:
      return {
        ...record,
        state: change.to,
        reason: change.reason,
        detail: change.detail ?? null,
        landed: null,
        changedAt,
      };
  }
}
