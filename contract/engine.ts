import { defineStatus, type StatusDefinition } from "./errors.ts";

/** The block engine's vocabulary and bounds: the code enforces these tables and the documents are made from them. */

/** What a searcher claims a bundle does. */
export const mevTypes = ["sandwich", "arbitrage", "liquidation", "jit", "unknown"] as const;
export type MevType = (typeof mevTypes)[number];

/** Where a bundle stands. `included` may still be lost with its fork; the last three are final. */
export const bundleStates = ["accepted", "included", "finalized", "dropped", "expired"] as const;
export type BundleState = (typeof bundleStates)[number];

/** What clients are shown: a finalized bundle is still `included`. */
export const shownStates = ["accepted", "included", "dropped", "expired"] as const;
export type ShownState = (typeof shownStates)[number];

/** The state that clients are shown. */
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
  "invalid_field",
  "claims_differ",
  "engine_overloaded",
  "fork",
  "not_landed",
  "nonce_spent",
  "chain_changed",
] as const;
export type BundleReason = (typeof bundleReasons)[number];

/** Reasons that end a bundle which had been accepted: no submission is answered with them. */
export const endingReasons: ReadonlySet<BundleReason> = new Set(["fork", "not_landed", "nonce_spent", "chain_changed"]);

/** Tiers of searchers, the lowest first. The reputation score decides. */
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

/**
 * The codes of the block engine's REST errors beside the reasons of a bundle, whose statuses differ from the gateway's:
 * a key that is not valid is 403 here (spec: block engine, Authentication 3). Append-only.
 */
export const engineErrorTable = {
  INVALID_INPUT: defineStatus(400, "The request has invalid fields"),
  MISSING_API_KEY: defineStatus(401, "An API key is required"),
  INVALID_API_KEY: defineStatus(403, "The API key is invalid or not active"),
  INSUFFICIENT_CREDITS: defineStatus(402, "The account has too few credits left this month"),
  PERMISSION_DENIED: defineStatus(403, "The API key may not be used for this"),
  METHOD_NOT_PERMITTED: defineStatus(403, "The API key may not call this method"),
  NOT_FOUND: defineStatus(404, "Not found"),
  BUNDLE_NOT_FOUND: defineStatus(404, "No bundle has this id, or it ended over 30 days ago"),
  METHOD_NOT_ALLOWED: defineStatus(405, "The path does not take this method"),
  BODY_TOO_LARGE: defineStatus(413, "The request body is too large"),
  UNSUPPORTED_MEDIA_TYPE: defineStatus(415, "Content-Type must be application/json"),
  UPGRADE_REQUIRED: defineStatus(426, "This path speaks WebSocket"),
  RATE_LIMIT_EXCEEDED: defineStatus(429, "Rate limit exceeded"),
  INTERNAL_ERROR: defineStatus(500, "Internal error"),
  UNAVAILABLE: defineStatus(503, "The block engine cannot answer now"),
} as const satisfies Record<string, StatusDefinition>;

export type EngineErrorCode = keyof typeof engineErrorTable;

/** The text of each reason. An error text of the runtime, where there is one, is shown beside it. */
export const bundleReasonTexts: Readonly<Record<BundleReason, string>> = {
  empty_bundle: "The bundle has no transaction",
  too_many_transactions: "The bundle has too many transactions",
  transaction_too_large: "A transaction has too many bytes",
  malformed_transaction: "A transaction cannot be read, or is not taken in bundles",
  non_canonical_transaction: "A transaction is not in its canonical form",
  bad_base64: "A transaction is not base64",
  signature_invalid: "A signature does not verify",
  duplicate_transaction: "The bundle holds the same transaction twice",
  blockhash_expired: "A blockhash is too old or unknown",
  already_processed: "A transaction is in the chain already",
  tip_below_floor: "The tip is below the floor",
  tip_not_paid: "The bundle does not pay the tip that it claims",
  tip_account_via_lookup_table: "The tip account has to be among a transaction's own keys",
  account_locks_exceeded: "A transaction locks too many accounts",
  compute_exceeded: "The bundle needs too many compute units",
  simulation_failed: "A transaction fails in simulation",
  target_slot_past: "The target slot is over",
  target_slot_too_far: "The target slot is too far ahead, or beyond the life of the blockhash",
  decryption_failed: "The encrypted bundle cannot be opened",
  front_run_protected: "A transaction has to be the first of its bundle",
  rate_limited: "Too many bundles a second",
  no_leader: "No leader that takes bundles is near",
  maintenance: "The block engine is in maintenance",
  invalid_field: "A field of the bundle has no meaning",
  claims_differ: "The bundle is known, and a claim that came with it does not hold",
  engine_overloaded: "The bundle could not be checked now",
  fork: "The block that held it was abandoned",
  not_landed: "No leader put it into a block",
  nonce_spent: "Another transaction has used the durable nonce",
  chain_changed: "The chain that it was meant for was begun anew",
};

/** The HTTP status of a refusal for this reason. */
export function bundleReasonStatus(reason: BundleReason): number {
  if (reason === "rate_limited") return 429;
  return reason === "no_leader" || reason === "maintenance" || reason === "engine_overloaded" ? 503 : 400;
}
