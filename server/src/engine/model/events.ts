import type { Address } from "@sluice/wire/identifiers";

/**
 * Why an engine is degraded: blocks are not read, so nothing is known of what became of bundles; the chain's head stands
 * still, so nothing lands; no leader takes bundles, so only single transactions travel; no simulation runs, so nothing is
 * accepted and no winner is known to run.
 */
export const degradations = ["chain_unread", "chain_still", "no_leader", "no_simulation"] as const;
export type Degradation = (typeof degradations)[number];

export interface AuctioneerEvents {
  /** A tick had candidates and came to an end. Amounts in lamports. */
  ticked(facts: {
    readonly candidates: number;
    readonly winners: number;
    readonly revenue: bigint;
    /** How much more the best auction may have brought at most. */
    readonly gap: bigint;
    readonly durationMs: number;
  }): void;
  /** Bundles were handed to a leader, or the leader did not take them. */
  delivered(bundles: number, taken: boolean): void;
  /** A winner failed on the state that earlier winners left, or on a newer one. */
  winnerFailed(reason: string): void;
  internalError(where: string, error: unknown): void;
}

/** What the engine tells of itself; compose wires it to logs, metrics and the ledger. */
export interface EngineEvents extends AuctioneerEvents {
  /** A bundle was answered: `accepted`, `known`, or the reason of its refusal. */
  submitted(door: string, outcome: string, latencyMs: number): void;
  bundleEnded(state: string, reason: string): void;
  observed(now: { readonly live: number; readonly floor: bigint; readonly utilization: number }): void;
  validatorConnected(identity: Address): void;
  validatorGone(identity: Address, why: string): void;
  callEnded(method: string, status: string): void;
  streamOpened(method: string): void;
  streamClosed(method: string): void;
  machineEnded(reason: string): void;
  /** What keeps the engine from what it is there for, whenever that changes; none where all is well again. */
  degraded(reasons: readonly Degradation[]): void;
  /** Something that is asked of the chain or of the stores did not come; it is asked for again. */
  retryableError(what: string, error: unknown): void;
  /** A request of the REST door was answered. */
  answered(route: string, status: number): void;
  internalError(where: string, error: unknown): void;
}
