/**
 * What a bundle locks, as small numbers that an `AccountIds` gave; no account twice in a list, and one that is written is
 * not among the reads.
 */
export interface BundleLocks {
  readonly writes: readonly number[];
  readonly reads: readonly number[];
  /**
   * The compute units of those of the bundle's transactions that write the account, beside `writes`. Without it the whole
   * bundle counts against each, which refuses too much rather than too little.
   */
  readonly writeComputeUnits?: readonly number[];
}

export interface AuctionBundle {
  /** Hex SHA-256, unique within a tick. */
  readonly id: string;
  /** Lamports that the tip accounts gain by it in simulation. */
  readonly tip: bigint;
  /** As simulation measured, a whole number. */
  readonly computeUnits: number;
  readonly locks: BundleLocks;
}

/** What is left of the block that the tick fills. */
export interface AuctionCaps {
  /** Compute units of the block that are free (60M in all). */
  readonly computeUnits: number;
  /** Compute units that one account may be written with in a block (24M). */
  readonly accountComputeUnits: number;
  /** Compute units that earlier winners of this block have spent writing an account; none when absent. */
  usedBy?(account: number): number;
  /** Locks on these say nothing about a conflict, or every bundle would meet every other; their compute still counts. */
  readonly tipAccounts: ReadonlySet<number>;
}

export interface AuctionOptions {
  /**
   * Steps that searching may take in all, about two nanoseconds each; see `defaultSearchSteps`. Groups of up to 28 are solved whatever it takes where
   * no cap binds.
   */
  readonly searchSteps?: number;
  /**
   * Ids of winners of an earlier auction. The revenue is never below what those of them that stand here pay together, as far
   * as they fit in rank, so that a search that is cut short earns no less for a bundle more. Part of what decides: to replay
   * a tick takes the same ones.
   */
  readonly incumbent?: readonly string[];
}

/** How a bundle lost: to winners that it conflicts with, or to the caps of the block. */
export interface AuctionLoss<B extends AuctionBundle = AuctionBundle> {
  readonly bundle: B;
  readonly lost: "state_auction" | "winning_batch";
  /** The id of its conflict group: that of the group's first bundle in rank. */
  readonly auctionId: string;
}

export interface AuctionOutcome<B extends AuctionBundle = AuctionBundle> {
  /** The highest tip for each compute unit first, then by id. No two conflict, and together they respect the caps. */
  readonly winners: readonly B[];
  readonly losers: readonly AuctionLoss<B>[];
  /** Lamports of the winners' tips. */
  readonly revenue: bigint;
  /** Lamports that no choice of winners can exceed. */
  readonly upperBound: bigint;
  /** `upperBound - revenue`: 0 says that the winners are an optimum. */
  readonly gap: bigint;
  readonly facts: AuctionFacts;
}

export interface AuctionFacts {
  readonly groups: number;
  readonly largestGroup: number;
  /** Whether the caps, not conflicts alone, decided. */
  readonly capsBound: boolean;
  /** Nodes of the search trees, over all groups and prices. */
  readonly nodes: number;
  /** Steps taken: at most some ten thousand beyond `searchSteps`, and what small groups took. */
  readonly steps: number;
}
