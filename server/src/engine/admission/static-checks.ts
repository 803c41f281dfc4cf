import { engineLimits } from "@sluice/contract/engine";
import { tipPrograms } from "@sluice/wire/accounts/tips";
import type { Address, Signature } from "@sluice/wire/identifiers";
import type { Transaction } from "@sluice/wire/transaction";
import { type Rejection, rejection } from "./read-transactions.ts";

/** What a read-only account begins with whose transaction wants nothing of its bundle before it. Source: Jito's rules. */
const dontFront = "jitodontfront";

export interface StaticRules {
  readonly tipAccounts: ReadonlySet<Address>;
}

/** What can be said about a bundle from its bytes alone: null, or the first rule that it breaks. */
export function checkStatically(transactions: readonly Transaction[], rules: StaticRules): Rejection | null {
  return (
    checkDuplicates(transactions) ??
    checkLocks(transactions) ??
    checkFronting(transactions) ??
    checkTipProgram(transactions) ??
    checkTipAccount(transactions, rules)
  );
}

function checkDuplicates(transactions: readonly Transaction[]): Rejection | null {
  const seen = new Set<string>();
  for (const [index, { message }] of transactions.entries()) {
    const bytes = Buffer.from(message.bytes.buffer, message.bytes.byteOffset, message.bytes.length).toString("latin1");
    if (seen.has(bytes)) return rejection("duplicate_transaction", `transaction ${index}`);
    seen.add(bytes);
  }
  return null;
}

function checkLocks(transactions: readonly Transaction[]): Rejection | null {
  for (const [index, { message }] of transactions.entries()) {
    if (message.totalKeyCount > engineLimits.accountLocks) {
      return rejection("account_locks_exceeded", `transaction ${index} locks ${message.totalKeyCount} accounts`);
    }
  }
  return null;
}

/** A transaction that names such an account may only be the first, so that nothing is put before it. */
function checkFronting(transactions: readonly Transaction[]): Rejection | null {
  for (const [index, { message }] of transactions.entries()) {
    if (index === 0) continue;
    const names = message.staticAddresses.some(
      (address, key) => address.startsWith(dontFront) && !message.isWritable(key),
    );
    if (names) return rejection("front_run_protected", `transaction ${index} has to be the first`);
  }
  return null;
}

/** Validators drop a bundle that names the tip payment program: it could take the slot's tips. */
function checkTipProgram(transactions: readonly Transaction[]): Rejection | null {
  for (const [index, { message }] of transactions.entries()) {
    if (message.staticAddresses.includes(tipPrograms.payment)) {
      return rejection("malformed_transaction", `transaction ${index} names the tip payment program`);
    }
  }
  return null;
}

/**
 * Some transaction has to write a tip account that it names itself. Whether one that comes from a lookup table stands in
 * its place is only known with the table, so the run tells that from a bundle that names none.
 */
function checkTipAccount(transactions: readonly Transaction[], { tipAccounts }: StaticRules): Rejection | null {
  const mayWriteOne = transactions.some(
    ({ message }) =>
      message.lookups.some((each) => each.writableIndexes.length > 0) ||
      message.staticAddresses.some((address, key) => tipAccounts.has(address) && message.isWritable(key)),
  );
  return mayWriteOne ? null : rejection("tip_not_paid", "no transaction writes a tip account");
}

/** The id by Jito's rule: SHA-256 of the first signatures as text, with commas between them, in hexadecimal. */
export function bundleId(signatures: readonly Signature[]): string {
  return new Bun.CryptoHasher("sha256").update(signatures.join(",")).digest("hex");
}
