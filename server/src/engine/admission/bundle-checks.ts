import { type BundleReason, engineLimits } from "@sluice/contract/engine";
import { tipPrograms } from "@sluice/wire/accounts/tips";
import type { Address, Signature, Slot } from "@sluice/wire/identifiers";
import { programs } from "@sluice/wire/programs";
import { parseTransaction, type Transaction, type TransactionFault } from "@sluice/wire/transaction";

/** What admission asks of the chain. */
export interface AdmissionChain {
  slot(): Slot | null;
  /** The height of the newest block that is known. */
  height(): bigint | null;
  /** Whether a transaction with this recent blockhash may still land, and until which block height. */
  blockhash(
    blockhash: Address,
  ): Promise<{ readonly valid: true; readonly lastValidBlockHeight: bigint } | { readonly valid: false }>;
  /** The first of the signatures that is in a block that was read; known without asking. */
  seen(signatures: readonly Signature[]): Signature | null;
  /** Those of the signatures that are in the chain already. */
  processed(signatures: readonly Signature[]): Promise<readonly Signature[]>;
}

/** Why a bundle is not taken, and what there is to say beside the reason. */
export interface Rejection {
  readonly ok: false;
  readonly reason: BundleReason;
  readonly detail: string | null;
  /** The last lines that a transaction logged which failed in simulation. */
  readonly logs?: readonly string[];
}

export const rejection = (reason: BundleReason, detail: string | null = null): Rejection => ({
  ok: false,
  reason,
  detail,
});

export type ReadTransactions = { readonly ok: true; readonly transactions: readonly Transaction[] } | Rejection;

/**
 * The first byte of a transaction is its number of signatures, of which 19 fill all its bytes, or 0x81; that of base64
 * text is `+` (0x2b) or higher and below 0x80. So bytes say by themselves which of the two they are.
 */
const firstOfText = 0x2b;
const firstBeyondText = 0x80;

/** The longest base64 text of a transaction. */
const textBytesMax = Math.ceil(engineLimits.transactionBytes / 3) * 4;

const notCanonical: ReadonlySet<TransactionFault> = new Set(["NON_CANONICAL_LENGTH", "TRAILING_BYTES"]);

function isText(bytes: Uint8Array): boolean {
  const first = bytes[0] ?? 0;
  return first >= firstOfText && first < firstBeyondText;
}

/** The bytes that strict base64 with its padding stands for, or null. */
export function decodeBase64(text: string): Uint8Array | null {
  if (text.length % 4 !== 0) return null;
  const bytes = Buffer.from(text, "base64");
  // Buffer passes over what it does not know; what is canonical comes out again as it went in.
  return bytes.toString("base64") === text ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length) : null;
}

/**
 * Reads what an endpoint took for transactions: canonical bytes each, or the base64 text of them where an endpoint
 * leaves open which it is (`mayBeText`). Never throws.
 */
export function readTransactions(sent: readonly Uint8Array[], mayBeText: boolean): ReadTransactions {
  if (sent.length === 0) return rejection("empty_bundle");
  if (sent.length > engineLimits.bundleTransactions) {
    return rejection("too_many_transactions", `at most ${engineLimits.bundleTransactions}`);
  }
  const transactions: Transaction[] = [];
  for (const [index, bytes] of sent.entries()) {
    const read = readTransaction(bytes, index, mayBeText);
    if (!read.ok) return read;
    transactions.push(read.transaction);
  }
  return { ok: true, transactions };
}

function readTransaction(
  sent: Uint8Array,
  index: number,
  mayBeText: boolean,
): { ok: true; transaction: Transaction } | Rejection {
  let bytes = sent;
  if (mayBeText && isText(sent)) {
    if (sent.length > textBytesMax) return rejection("transaction_too_large", `transaction ${index}`);
    const decoded = decodeBase64(Buffer.from(sent).toString("latin1"));
    if (decoded === null) return rejection("bad_base64", `transaction ${index}`);
    bytes = decoded;
  }
  if (bytes.length > engineLimits.transactionBytes) {
    return rejection("transaction_too_large", `transaction ${index} has ${bytes.length} bytes`);
  }
  const parsed = parseTransaction(bytes);
  if (parsed.ok) return parsed;
  const reason = notCanonical.has(parsed.fault) ? "non_canonical_transaction" : "malformed_transaction";
  return rejection(reason, `transaction ${index}: ${parsed.fault} at byte ${parsed.offset}`);
}

/**
 * What a read-only account begins with whose transaction wants nothing of its bundle before it. Source: Jito's rules.
 */
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
 * Some transaction has to write a tip account that it names itself. Whether one that comes from a lookup table stands
 * in its place is only known with the table, so the run distinguishes that from a bundle that names none.
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

/** The id of an encrypted bundle: the hexadecimal SHA-256 of its envelope. */
export function envelopeId(envelope: Uint8Array): string {
  return new Bun.CryptoHasher("sha256").update(envelope).digest("hex");
}

const advanceNonce = 4;

/** Whether a transaction begins as a durable one does. Whether its nonce is the present one is seen when it is run. */
function advancesNonce({ message }: Transaction): boolean {
  const [first] = message.instructions;
  if (first === undefined || first.data.length < 4) return false;
  if (new DataView(first.data.buffer, first.data.byteOffset).getUint32(0, true) !== advanceNonce) return false;
  return message.address(first.programIndex) === programs.system;
}

/**
 * Whether every transaction may land at this moment. The block height is the least of those at which one of them stops
 * being valid, null where all are durable.
 */
export async function checkLifetimes(
  transactions: readonly Transaction[],
  chain: Pick<AdmissionChain, "blockhash">,
): Promise<{ readonly ok: true; readonly lastValidBlockHeight: bigint | null } | Rejection> {
  const lifetimes = await Promise.all(transactions.map(({ message }) => chain.blockhash(message.blockhash)));
  let least: bigint | null = null;
  for (const [index, transaction] of transactions.entries()) {
    const lifetime = lifetimes[index];
    if (lifetime?.valid === true) {
      const height = lifetime.lastValidBlockHeight;
      if (least === null || height < least) least = height;
    } else if (!advancesNonce(transaction)) {
      return rejection("blockhash_expired", `transaction ${index}`);
    }
  }
  return { ok: true, lastValidBlockHeight: least };
}
