import { programs } from "@sluice/wire/programs";
import type { Message } from "@sluice/wire/transaction";

/** The memo programs of all versions. */
export const memoPrograms: ReadonlySet<string> = new Set([programs.memoV1, programs.memo]);

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function memoText(data: Uint8Array): string {
  try {
    return decoder.decode(data);
  } catch {
    return "(unparseable)";
  }
}

/**
 * The memos of a transaction as getSignaturesForAddress shows them: those of its outer instructions, each with its
 * length in bytes; null when there is none. Source: Solana's transaction-status, extract_memos.
 */
export function transactionMemo(message: Message): string | null {
  const memos: string[] = [];
  for (const { programIndex, data } of message.instructions) {
    if (!memoPrograms.has(message.staticAddresses[programIndex] ?? "")) continue;
    memos.push(`[${data.length}] ${memoText(data)}`);
  }
  return memos.length === 0 ? null : memos.join("; ");
}
