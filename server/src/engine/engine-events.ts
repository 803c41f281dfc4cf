import type { Address } from "@sluice/wire/identifiers";
import type { AuctioneerEvents } from "./auctioneer/index.ts";
import type { Degradation } from "./soundness.ts";

/** What the engine tells of itself; compose wires it to logs, metrics and the ledger. */
export interface EngineEvents {
  /** A bundle was answered: `accepted`, `known`, or the reason of its refusal. */
  submitted(door: string, outcome: string, latencyMs: number): void;
  bundleEnded(state: string, reason: string): void;
  observed(now: { readonly live: number; readonly floor: bigint; readonly utilization: number }): void;
  ticked: AuctioneerEvents["ticked"];
  delivered: AuctioneerEvents["delivered"];
  winnerFailed: AuctioneerEvents["winnerFailed"];
  validatorConnected(identity: Address): void;
  validatorGone(identity: Address, why: string): void;
  callEnded(method: string, status: string): void;
  streamOpened(method: string): void;
  streamClosed(method: string): void;
  machineEnded(reason: string): void;
  /** What keeps the engine from what it is there for, whenever that changes; none where all is well again. */
  degraded(reasons: readonly Degradation[]): void;
  /** Something that is asked of the chain or of the stores did not come; it is asked for again. */
  heldUp(what: string, fault: unknown): void;
  /** A request of the REST door was answered. */
  answered(route: string, status: number): void;
  internalError(where: string, fault: unknown): void;
}
