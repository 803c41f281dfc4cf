/**
 * The header of an answer that reaches back before the moment from which its records are kept: what lies before that
 * moment may have been deleted, and is not counted or listed. The rule of every list and report from the ledger.
 */
const dataSinceHeader = "X-Data-Since";

/** For an answer that begins at `fromMs`; none where all of it is kept (`keptSinceMs` null is for ever). */
export function dataSinceHeaders(fromMs: number, keptSinceMs: number | null): Record<string, string> {
  if (keptSinceMs === null || fromMs >= keptSinceMs) return {};
  return { [dataSinceHeader]: new Date(keptSinceMs).toISOString() };
}
