import { type Clock, invariant } from "@sluice/lib";
import { enhancedRecord, type IdlPrograms, parseTransaction, recordText } from "@sluice/parser";
import type { EnhancedEvents } from "../events.ts";
import type { LedgerQuestion, LedgerTransaction } from "./ledger-pages.ts";

/** The text of a transaction's record, or null where it is of another type or source than those that are asked for. */
export function recordOf(
  { row, view }: LedgerTransaction,
  { type, source }: LedgerQuestion["filter"],
  {
    clock,
    events,
    programs,
  }: { readonly clock: Pick<Clock, "monotonic">; readonly events: EnhancedEvents; readonly programs: IdlPrograms },
): string | null {
  invariant(row.signature === view.transaction.signature, "a row of the ledger has the body of its signature");
  const startedMs = clock.monotonic();
  const parsed = parseTransaction(view);
  if ((type !== null && parsed.type !== type) || (source !== null && parsed.source !== source)) return null;
  const place = { slot: row.slot, blockTime: row.blockTime };
  const text = recordText(enhancedRecord(view, parsed, { place, programs }));
  events.transactionParsed(parsed.type, clock.monotonic() - startedMs);
  return text;
}
