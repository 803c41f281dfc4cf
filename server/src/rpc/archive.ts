import type { ErrorCode } from "@sluice/contract/errors";
import type { CommitmentName } from "@sluice/contract/rpc";
import type { Network, PlatformTier } from "@sluice/contract/tiers";
import type { NodeAnswer, UpstreamOutcome } from "../upstreams/index.ts";

/** A call as it was planned, for what is kept of the chain beside its nodes. */
export interface ArchiveCall {
  readonly network: Network;
  readonly method: string;
  /** JSON text of the parameters, checked against the method's row; null without any. */
  readonly params: string | null;
  readonly commitment: CommitmentName;
}

/** The answer to a method that nodes do not have, or why there is none. */
export type IndexedAnswer =
  | { readonly ok: true; readonly answer: NodeAnswer }
  | { readonly ok: false; readonly code: ErrorCode; readonly message: string };

/** What is kept of the chain when its nodes have pruned it. Neither function rejects. */
export interface Archive {
  /**
   * The answer in place of what the nodes have answered: whole where they hold nothing, or theirs with what they do not
   * hold any more. Null, at once or later, to pass the nodes' outcome on.
   */
  complete(call: ArchiveCall, outcome: UpstreamOutcome): Promise<NodeAnswer | null> | null;
  /** The answer to a method that an index alone can give, as a tier sees it; null to ask the nodes. */
  indexed(call: ArchiveCall, tier: PlatformTier): Promise<IndexedAnswer | null> | null;
}
