/**
 * The accounts that a bundle locks, as numbers assigned by `AccountIds`. No list holds an account twice, and a written
 * account is not among the reads.
 */
export interface BundleLocks {
  readonly writes: readonly number[];
  readonly reads: readonly number[];
  /**
   * For each account of `writes`: the compute units of the bundle's transactions that write it. Without the list the
   * units of the whole bundle count against each account, which refuses too much rather than too little.
   */
  readonly writeComputeUnits?: readonly number[];
}

export interface AuctionBundle {
  /** Hex SHA-256, unique within a tick. */
  readonly id: string;
  /** Lamports that the tip accounts gained in simulation; at least 0. */
  readonly tip: bigint;
  /** Compute units measured in simulation; a whole number of at least 0. */
  readonly computeUnits: number;
  readonly locks: BundleLocks;
}

/** Free capacity of the block that the tick fills. */
export interface AuctionCaps {
  /** Compute units of the block that are free (60M in all). */
  readonly computeUnits: number;
  /** Compute units that one account may be written with in a block (24M). */
  readonly accountComputeUnits: number;
  /** Compute units of earlier winners of this block that write the account; 0 when the function is absent. */
  usedBy?(account: number): number;
  /** Accounts whose locks cause no conflict, since every bundle writes one of them. Their compute still counts. */
  readonly tipAccounts: ReadonlySet<number>;
}

export interface AuctionOptions {
  /**
   * Search steps of this call, about two nanoseconds each; see `defaultSearchSteps`. Groups of up to 28 bundles are
   * solved exactly beyond this limit where no cap binds.
   */
  readonly searchSteps?: number;
  /**
   * Ids of winners of an earlier auction. The revenue is at least the sum of those that compete here, taken in rank
   * order as far as they fit, so that one more bundle never lowers the revenue of a search that is cut short. They are
   * part of the input: a replay of the tick needs the same ids.
   */
  readonly incumbent?: readonly string[];
}

/**
 * Why a bundle lost: `state_auction` to winners that it conflicts with, `winning_batch` to the capacity of the block.
 */
export interface AuctionLoss<B extends AuctionBundle = AuctionBundle> {
  readonly bundle: B;
  readonly lost: "state_auction" | "winning_batch";
}

export interface AuctionOutcome<B extends AuctionBundle = AuctionBundle> {
  /** By tip per compute unit, highest first, then by id. No two conflict, and together they respect the caps. */
  readonly winners: readonly B[];
  readonly losers: readonly AuctionLoss<B>[];
  /** Sum of the winners' tips in lamports. */
  readonly revenue: bigint;
  /** Lamports that no valid set of winners exceeds. */
  readonly upperBound: bigint;
  /** `upperBound - revenue`; 0 proves that the winners are an optimum. */
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
  /** Steps taken: at most about ten thousand beyond `searchSteps`, plus those of small groups. */
  readonly steps: number;
}
