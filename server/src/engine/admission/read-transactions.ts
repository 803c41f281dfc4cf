import { type BundleReason, engineLimits } from "@sluice/contract/engine";
import { parseTransaction, type Transaction, type TransactionFault } from "@sluice/wire/transaction";

/** Why a bundle is not taken, and what there is to say beside the reason. */
export interface Rejection {
  readonly ok: false;
  readonly reason: BundleReason;
  readonly detail: string | null;
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
 * Reads what a door took for transactions: canonical bytes each, or the base64 text of them where a door leaves open which
 * it is (`mayBeText`). Never throws.
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
