import { createHash } from "node:crypto";
import { tipPrograms } from "@sluice/wire/accounts/tips";
import { parseTransaction, type Transaction } from "@sluice/wire/transaction";
import { type LookupBank, resolveTransaction, signaturesValid } from "../resolve.ts";

/** Transactions of one bundle. Source: jito-solana, MAX_PACKETS_PER_BUNDLE. */
export const bundleTransactionsMax = 5;

/** A transaction as it came over the wire. */
export interface BundlePacket {
  readonly data: Uint8Array;
  /** Whether what brought it found it wrong. */
  readonly isDiscarded: boolean;
}

/** Why a bundle never gets to run. Source: jito-solana, the bundle stage's insertion checks. */
export type InsertionFault =
  | "EmptyBatch"
  | "BundleTooLarge"
  | "PacketMarkedDiscard"
  | "SignatureFailure"
  | "ContainerFull"
  | "PacketFilterError"
  | "DuplicateTransaction";

export type Insertion =
  | { readonly ok: true; readonly transactions: readonly Transaction[] }
  | { readonly ok: false; readonly fault: InsertionFault; readonly index: number | null };

export interface InsertionDependencies {
  /** Whether the container takes one more. */
  readonly hasRoom: () => boolean;
  /** The finalized bank, by which lookup tables are resolved. */
  readonly bank: () => LookupBank;
}

function refused(fault: InsertionFault, index: number | null = null): Insertion {
  return { ok: false, fault, index };
}

/** A bundle pays into tip accounts and never names the program that they belong to: it could take them away. */
function isAllowed(transaction: Transaction, bank: LookupBank): boolean {
  const resolution = resolveTransaction(transaction, transaction.id, bank);
  return resolution.ok && !resolution.resolved.keys.includes(tipPrograms.payment);
}

/**
 * Checks a bundle before it waits for its leader, in the order of the validator that this chain follows: the signatures,
 * then number and form, room, what each transaction names, and transactions that come twice.
 */
export function insertBundle(packets: readonly BundlePacket[], dependencies: InsertionDependencies): Insertion {
  const parsed = packets.map(({ data, isDiscarded }) => (isDiscarded ? null : parseTransaction(data)));
  const unsigned = parsed.findIndex((each) => each?.ok === true && !signaturesValid(each.transaction));
  if (unsigned >= 0) return refused("SignatureFailure", unsigned);
  if (packets.length === 0) return refused("EmptyBatch");
  if (packets.length > bundleTransactionsMax) return refused("BundleTooLarge");
  const discarded = parsed.indexOf(null);
  if (discarded >= 0) return refused("PacketMarkedDiscard", discarded);
  if (!dependencies.hasRoom()) return refused("ContainerFull");
  const bank = dependencies.bank();
  const transactions: Transaction[] = [];
  for (const [index, each] of parsed.entries()) {
    if (each?.ok !== true || !isAllowed(each.transaction, bank)) return refused("PacketFilterError", index);
    transactions.push(each.transaction);
  }
  const hashes = transactions.map(({ message }) => createHash("sha256").update(message.bytes).digest("hex"));
  const again = hashes.findIndex((hash, index) => hashes.indexOf(hash) < index);
  return again < 0 ? { ok: true, transactions } : refused("DuplicateTransaction", again);
}

/** What searchers and the block engine call a bundle. Source: jito-solana, derive_bundle_id. */
export function bundleId(transactions: readonly Transaction[]): string {
  return createHash("sha256")
    .update(transactions.map(({ id }) => id).join(","))
    .digest("hex");
}
