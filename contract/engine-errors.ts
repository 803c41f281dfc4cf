import { type BundleReason, bundleReasons } from "./engine.ts";

/**
 * The codes of the block engine's REST errors beside the reasons of a bundle, whose statuses differ from the gateway's: a
 * key that is not valid is 403 here (spec: block engine, Authentication 3). Append-only.
 */
export const engineErrorTable = {
  INVALID_INPUT: { status: 400, text: "The request has invalid fields" },
  MISSING_API_KEY: { status: 401, text: "An API key is required" },
  INVALID_API_KEY: { status: 403, text: "The API key is invalid or not active" },
  PERMISSION_DENIED: { status: 403, text: "The API key may not be used for this" },
  NOT_FOUND: { status: 404, text: "Not found" },
  BUNDLE_NOT_FOUND: { status: 404, text: "No bundle has this id, or it ended over 30 days ago" },
  METHOD_NOT_ALLOWED: { status: 405, text: "The path does not take this method" },
  BODY_TOO_LARGE: { status: 413, text: "The request body is too large" },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, text: "Content-Type must be application/json" },
  UPGRADE_REQUIRED: { status: 426, text: "This path speaks WebSocket" },
  RATE_LIMIT_EXCEEDED: { status: 429, text: "Rate limit exceeded" },
  INTERNAL_ERROR: { status: 500, text: "Internal error" },
  UNAVAILABLE: { status: 503, text: "The block engine cannot answer now" },
} as const satisfies Record<string, { readonly status: number; readonly text: string }>;

export type EngineErrorCode = keyof typeof engineErrorTable;

/** What each reason says to a person. The runtime's own words come beside it where there are any. */
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
  target_slot_too_far: "The target slot is too far ahead",
  decryption_failed: "The encrypted bundle cannot be opened",
  front_run_protected: "A transaction has to be the first of its bundle",
  rate_limited: "Too many bundles a second",
  no_leader: "No leader that takes bundles is near",
  maintenance: "The block engine is in maintenance",
  fork: "The block that held it was abandoned",
  not_landed: "It did not land as a whole",
};

/** The HTTP status of a refusal for this reason. */
export function bundleReasonStatus(reason: BundleReason): number {
  if (reason === "rate_limited") return 429;
  return reason === "no_leader" || reason === "maintenance" ? 503 : 400;
}

export const isBundleReason = (text: string): text is BundleReason => bundleReasons.some((reason) => reason === text);
