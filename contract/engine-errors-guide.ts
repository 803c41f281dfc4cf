import type { BundleReason } from "./engine.ts";
import { type EngineErrorCode, engineErrorTable } from "./engine.ts";
import { type ErrorCode, errorDocsPage, errorTable } from "./errors.ts";
import type { ErrorGuide } from "./errors-guide.ts";

/** A code that only the block engine has; the others mean what they mean at the gateway. */
export type EngineOwnCode = Exclude<EngineErrorCode, ErrorCode>;

/** All codes of the block engine, in the order of the table. */
export const engineErrorCodes = Object.keys(engineErrorTable).filter(
  (code): code is EngineErrorCode => code in engineErrorTable,
);

/** The codes that only the block engine has, in the order of the table. */
export const engineOwnCodes = engineErrorCodes.filter((code): code is EngineOwnCode => !(code in errorTable));

/** What each code of `engineOwnCodes` means, and what a client does about it. */
export const engineErrorGuide: Readonly<Record<EngineOwnCode, ErrorGuide>> = {
  MISSING_API_KEY: {
    meaning: "The request to the block engine or the oracle carries no API key.",
    remedy:
      "Send the key in `X-API-Key`, `Authorization: Bearer` or the query `api-key`; at the block engine `x-jito-auth` and the query `uuid` do as well.",
  },
  BUNDLE_NOT_FOUND: {
    meaning:
      "No bundle with this id was accepted, it ended more than 30 days ago, or no block holds it and another account submitted it.",
    remedy:
      "Check the id, and ask with a key of the account that submitted it. A bundle that was rejected is not kept: its reason came with the answer.",
  },
  UPGRADE_REQUIRED: {
    meaning: "The path is a stream that speaks WebSocket.",
    remedy: "Open it with a WebSocket client; the present value has a path of its own beside it.",
  },
  UNAVAILABLE: {
    meaning: "A store, a node or a machine that the block engine needs did not answer. Nothing was accepted.",
    remedy: "Try again after `Retry-After`. The same bundle again is never a second bid.",
  },
};

const resign = "Sign the transactions again with a recent blockhash and submit the bundle as a new one.";

/** What each reason of a refused or dropped bundle means, and what a searcher does about it. */
export const bundleReasonGuide: Readonly<Record<BundleReason, ErrorGuide>> = {
  empty_bundle: {
    meaning: "The bundle has no transaction.",
    remedy: "Put 1 to 5 transactions into it.",
  },
  too_many_transactions: {
    meaning: "The bundle has more than 5 transactions.",
    remedy: "Submit several bundles, or do more in each transaction.",
  },
  transaction_too_large: {
    meaning: "A transaction has more than 1,232 bytes, which no leader takes.",
    remedy: "Use address lookup tables or fewer instructions.",
  },
  malformed_transaction: {
    meaning:
      "A transaction cannot be read at the byte that the detail names, or it names the tip payment program, for which validators drop a bundle.",
    remedy: "Serialize the signed transaction with the chain's own client; pay tips by a plain transfer.",
  },
  non_canonical_transaction: {
    meaning: "A transaction has a length in a longer form than needed, or bytes after its end.",
    remedy: "Serialize it with the chain's own client.",
  },
  bad_base64: {
    meaning: "The text of a transaction is not base64 with its padding.",
    remedy: "Encode with the standard alphabet and padding, or send raw bytes over gRPC.",
  },
  signature_invalid: {
    meaning: "A signature does not belong to its transaction's bytes.",
    remedy: "Sign after the last change to the message.",
  },
  duplicate_transaction: {
    meaning: "Two transactions of the bundle have the same message.",
    remedy: "Send each once; where the same is wanted twice, make the messages differ.",
  },
  blockhash_expired: {
    meaning: "A blockhash is unknown or too old, or a durable nonce is not the present one.",
    remedy: resign,
  },
  already_processed: {
    meaning:
      "A transaction of the bundle is in the chain already, or came into a block otherwise than with the whole bundle, by whatever way it came there.",
    remedy: "Look up its signature. What is missing of the bundle has to be signed anew.",
  },
  tip_below_floor: {
    meaning: "The claimed tip is below the present floor, which the detail and `tip_floor` tell.",
    remedy: "Read the floor before bidding; it is 1,000 lamports while blocks have room.",
  },
  tip_not_paid: {
    meaning: "When it is run, the bundle pays its tip accounts less than it claims, or nothing.",
    remedy: "Transfer at least the claimed lamports to one of the eight tip accounts.",
  },
  tip_account_via_lookup_table: {
    meaning: "No transaction writes a tip account that is among its own keys; one from a lookup table does not count.",
    remedy: "Name the tip account in the transaction itself.",
  },
  account_locks_exceeded: {
    meaning: "A transaction names more than 64 accounts, its lookup tables' included.",
    remedy: "Split it.",
  },
  compute_exceeded: {
    meaning: "A transaction uses up its compute units.",
    remedy: "Ask for more by a compute budget instruction, up to 1,400,000, or do less.",
  },
  simulation_failed: {
    meaning:
      "A transaction fails when the bundle is run on the present state; the detail is the runtime's own error, and `logs` are the last lines that it logged.",
    remedy: "Read the detail and the logs. Where the opportunity is gone, so is the bundle.",
  },
  target_slot_past: {
    meaning: "The target slot, or the rest of its leader's slots, is over.",
    remedy: "Leave the target out, or name a slot that is to come.",
  },
  target_slot_too_far: {
    meaning: "The target slot is more than 432 slots ahead, or so far that the bundle's blockhash expires before it.",
    remedy: "Submit nearer to the slot, sign with a newer blockhash, or use a durable nonce.",
  },
  decryption_failed: {
    meaning:
      "The envelope is of no known form, its key is not valid now, it was used before, or its claims are not those it was sealed with.",
    remedy: "Seal again, with a key from `GET /api/v1/encryption-keys` and the very claims that are sent beside it.",
  },
  front_run_protected: {
    meaning: "A transaction that names an account beginning with `jitodontfront` is not the first of its bundle.",
    remedy: "Put it first.",
  },
  rate_limited: {
    meaning:
      "The searcher has used up its bundles of this second, has too many bundles in flight, or was stopped by an operator (a limit of 0). In streams this is a bundle's reason.",
    remedy: "Wait, as `Retry-After` says; tiers and what they allow are in the guide to the block engine.",
  },
  no_leader: {
    meaning:
      "No leader that takes bundles has a slot within the bundle's reach. Where none takes any, only bundles of one transaction travel.",
    remedy: "Try again shortly, or send a single transaction.",
  },
  maintenance: {
    meaning: "An operator has closed the block engine for submissions. What was accepted before goes on.",
    remedy: "Try again after `Retry-After`; `GET /api/v1/status` shows when it is over.",
  },
  invalid_field: {
    meaning:
      "In a stream: a field of the bundle has no meaning, such as an unknown `mev_type`, or an envelope stands beside transactions. The stream goes on. Unary calls answer INVALID_ARGUMENT, REST answers INVALID_INPUT.",
    remedy: "Read the detail, and submit the bundle again without the fault.",
  },
  claims_differ: {
    meaning:
      "A bundle of the same transactions is known, and a claim that came with them does not hold: another target slot than the known one's, or a tip that it does not pay. The known bundle stays as it is.",
    remedy: "Leave the claim out, or claim what holds. For other claims sign other transactions.",
  },
  engine_overloaded: {
    meaning:
      "A node, a simulation or the pool had no room, so the bundle was not checked and is not accepted. In streams this is a bundle's reason; REST answers UNAVAILABLE.",
    remedy: "Send it again shortly. The same bundle again is never a second bid.",
  },
  fork: {
    meaning: "The bundle was in a block that the chain gave up, and it can land no more.",
    remedy: resign,
  },
  not_landed: {
    meaning: "No leader put it into a block within five minutes, whether it lost each auction or was not taken.",
    remedy: "Bid more, or sign anew.",
  },
  nonce_spent: {
    meaning: "The durable nonce of a transaction was used by another transaction, or its account was closed.",
    remedy: "Read the nonce account, sign with its present nonce and submit the bundle as a new one.",
  },
  chain_changed: {
    meaning:
      "The chain was begun anew, as a development chain is at each start: what the bundle was signed for is not there any more.",
    remedy: resign,
  },
};

/** Where a code or a reason of the block engine is explained, relative to the server's own base address. */
export function engineErrorDocsPath(code: EngineErrorCode | BundleReason): string {
  return `${errorDocsPage}#${code.toLowerCase().replaceAll("_", "-")}`;
}
