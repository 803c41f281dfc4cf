import { type Clock, invariant } from "@sluice/lib";
import {
  enhancedRecord,
  type IdlPrograms,
  type Names,
  type ParsedTransaction,
  parseTransaction,
  recordText,
} from "@sluice/parser";
import type { EnhancedEvents } from "../events.ts";
import type { LedgerQuestion, LedgerTransaction } from "./ledger-pages.ts";

/** What a transaction was, or null where it is of another type or source than those that are asked for. */
export function parsedOf(
  { row, view }: LedgerTransaction,
  { type, source }: LedgerQuestion["filter"],
  { clock, events }: { readonly clock: Pick<Clock, "monotonic">; readonly events: EnhancedEvents },
): ParsedTransaction | null {
  invariant(row.signature === view.transaction.signature, "a row of the ledger has the body of its signature");
  const startedMs = clock.monotonic();
  const parsed = parseTransaction(view);
  if ((type !== null && parsed.type !== type) || (source !== null && parsed.source !== source)) return null;
  events.transactionParsed(parsed.type, clock.monotonic() - startedMs);
  return parsed;
}

/** The text of a transaction's record. */
export function recordTextOf(
  { row, view }: LedgerTransaction,
  parsed: ParsedTransaction,
  { names, programs }: { readonly names: Names; readonly programs: IdlPrograms },
): string {
  const place = { slot: row.slot, blockTime: row.blockTime };
  return recordText(enhancedRecord(view, parsed, { place, names, programs }));
}
