import { createHash } from "node:crypto";
import { tipPrograms } from "@sluice/wire/accounts/tips";
import { parseTransaction, type Transaction } from "@sluice/wire/transaction";
import { type LookupBank, resolveTransaction, signaturesValid } from "../resolve.ts";

/** Transactions of one bundle. Source: jito-solana, MAX_PACKETS_PER_BUNDLE. */
export const bundleTransactionsMax = 5;

/** A transaction as it was received. */
export interface BundlePacket {
  readonly data: Uint8Array;
  /** Whether the connection that received it marked it as invalid. */
  readonly isDiscarded: boolean;
}

/** Why a bundle is not accepted. Source: jito-solana, the bundle stage's insertion checks. */
export type InsertionCode =
  | "EmptyBatch"
  | "BundleTooLarge"
  | "PacketMarkedDiscard"
  | "SignatureFailure"
  | "ContainerFull"
  | "PacketFilterError"
  | "DuplicateTransaction";

export type Insertion =
  | { readonly ok: true; readonly transactions: readonly Transaction[] }
  | { readonly ok: false; readonly code: InsertionCode; readonly index: number | null };

interface InsertionDependencies {
  /** Whether the container has room for one more bundle. */
  readonly hasRoom: () => boolean;
  /** The finalized bank, which lookup tables are resolved by. */
  readonly bank: () => LookupBank;
}

function refused(code: InsertionCode, index: number | null = null): Insertion {
  return { ok: false, code, index };
}

/** A bundle pays into tip accounts and must not name the program that owns them, which could close them. */
function isAllowed(transaction: Transaction, bank: LookupBank): boolean {
  const resolution = resolveTransaction(transaction, transaction.id, bank);
  return resolution.ok && !resolution.resolved.keys.includes(tipPrograms.payment);
}

/**
 * Checks a bundle before it waits for its leader, in the order of jito-solana: the signatures, then the number and form
 * of its transactions, room, the programs that each names, and repeated transactions.
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

/** The id of a bundle at searchers and the block engine. Source: jito-solana, derive_bundle_id. */
export function bundleId(transactions: readonly Transaction[]): string {
  return createHash("sha256")
    .update(transactions.map(({ id }) => id).join(","))
    .digest("hex");
}
