import type { BundleReason } from "@sluice/contract/engine";

/** What Jito's clients look for in the message of a refused bundle; other reasons say what ours say. */
const texts: Readonly<Partial<Record<BundleReason, string>>> = {
  empty_bundle: "bundle must contain at least one transaction",
  too_many_transactions: "exceeded maximum number of transactions (5)",
  tip_not_paid: "Bundles must write lock at least one tip account to be eligible for the auction.",
  tip_account_via_lookup_table: "Bundles must write lock at least one tip account to be eligible for the auction.",
  already_processed: "bundle contains an already processed transaction",
  blockhash_expired: "bundle contains an expired blockhash",
  no_leader: "Bundle Dropped, no connected leader up soon.",
  duplicate_transaction: "duplicate transactions",
  maintenance: "The block engine is in maintenance",
};

/** Reasons that are about one transaction, whose number the detail begins with. */
const undecodable: ReadonlySet<BundleReason> = new Set([
  "bad_base64",
  "malformed_transaction",
  "non_canonical_transaction",
  "transaction_too_large",
]);

/** The message for a reason, in the words of Jito's own server where they are known. Source: wire facts, JSON-RPC. */
export function jitoText(reason: BundleReason, detail: string | null): string {
  if (undecodable.has(reason)) {
    const index = /^transaction (\d+)/.exec(detail ?? "")?.[1] ?? "0";
    return `transaction #${index} could not be decoded`;
  }
  return texts[reason] ?? (detail === null ? reason : `${reason}: ${detail}`);
}
