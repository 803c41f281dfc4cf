/** The block engine's vocabulary and bounds: the code enforces these tables and the documents are made from them. */

export const mevTypes = ["sandwich", "arbitrage", "liquidation", "jit", "unknown"] as const;
export type MevType = (typeof mevTypes)[number];

/** Where a bundle stands. `included` may still be lost with its fork; the last three are final. */
export const bundleStates = ["accepted", "included", "finalized", "dropped", "expired"] as const;
export type BundleState = (typeof bundleStates)[number];

/** What clients are shown: a finalized bundle is still `included`. */
export const shownStates = ["accepted", "included", "dropped", "expired"] as const;
export type ShownState = (typeof shownStates)[number];
export const shownState = (state: BundleState): ShownState => (state === "finalized" ? "included" : state);

/** Bounds of bundles. Sizes in bytes, times in milliseconds, amounts in lamports. */
export const engineLimits = {
  bundleTransactions: 5,
  transactionBytes: 1_232,
  /** The writable and readable accounts that one transaction may lock. */
  accountLocks: 64,
  computeUnitsTransaction: 1_400_000,
  computeUnitsBlock: 60_000_000,
  computeUnitsAccount: 24_000_000,
  tipMinimum: 1_000n,
  /** A target slot may be this far ahead. */
  targetSlotsAhead: 432n,
  /** A validator receives a bundle at most this many slots before its own. */
  deliverySlotsAhead: 2n,
  expiryMs: 300_000,
  /** How long the last state of a bundle is kept. */
  keptMs: 30 * 24 * 3_600_000,
  restSubmissionsPerSecond: 50,
  restRequestsPerSecondPerAddress: 100,
  /** Sizes to which the plaintext of an encrypted bundle is padded. */
  sealedPaddings: [1_024, 2_048, 4_096, 8_192],
  simulatedTransactions: 20,
} as const;

/** Why a bundle was rejected or dropped: `BundleResponse.reason`, the code of a 400, the reason in a stream. */
export const bundleReasons = [
  "empty_bundle",
  "too_many_transactions",
  "transaction_too_large",
  "malformed_transaction",
  "non_canonical_transaction",
  "bad_base64",
  "signature_invalid",
  "duplicate_transaction",
  "blockhash_expired",
  "already_processed",
  "tip_below_floor",
  "tip_not_paid",
  "tip_account_via_lookup_table",
  "account_locks_exceeded",
  "compute_exceeded",
  "simulation_failed",
  "target_slot_past",
  "target_slot_too_far",
  "decryption_failed",
  "front_run_protected",
  "rate_limited",
  "no_leader",
  "maintenance",
  "fork",
  "not_landed",
] as const;
export type BundleReason = (typeof bundleReasons)[number];

export const searcherTiers = ["bronze", "silver", "gold", "platinum"] as const;
export type SearcherTier = (typeof searcherTiers)[number];

/** Bundles a second over gRPC, Jito's service among it, unary and stream together. */
export const searcherTierLimits: Readonly<
  Record<SearcherTier, { readonly bundlesPerSecond: number; readonly burst: number }>
> = {
  bronze: { bundlesPerSecond: 5, burst: 10 },
  silver: { bundlesPerSecond: 20, burst: 40 },
  gold: { bundlesPerSecond: 100, burst: 200 },
  platinum: { bundlesPerSecond: 500, burst: 1_000 },
};

/** Scores at which a tier begins, and how far a score must fall below before the tier is lost again. */
export const searcherTierScores = { silver: 40, gold: 65, platinum: 85, hysteresis: 3 } as const;
